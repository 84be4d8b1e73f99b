from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sourcebook.table.client import Table
from tests.integration.observations.memory import MemoryTable
from tests.integration.observations.world import World

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.integration)


@pytest.fixture
def world() -> Iterator[World]:
    """A world on a table in memory."""
    world = World(MemoryTable())
    yield world
    world.sql.close()


@pytest.fixture
def moto_world(table: Table) -> Iterator[World]:
    """A world on moto."""
    world = World(table)
    yield world
    world.sql.close()
