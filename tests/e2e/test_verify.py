"""`sourcebook verify` on the embedded cloud: its scans in parts, its indexes, its answers to conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sourcebook.integrity.checks import all_checks
from sourcebook.integrity.shards import has_strangers, move_to_shards
from sourcebook.integrity.verify import Mended, Report, Verifier
from sourcebook.table import keys
from sourcebook.table.client import Table, aws_config
from sourcebook.table.keys import InShard, Shards
from tests.integration.integrity.healthy import LATEST, Healthy, build
from tests.templates import table_definition

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourcebook_local.cloud import LocalCloud


@pytest.fixture(scope="module")
def world(new_cloud: Callable[[str], LocalCloud]) -> Healthy:
    """A table with something of everything, in a cloud of its own."""
    cloud = new_cloud("verify")
    cloud.start()
    session = cloud.session()
    client = session.client("dynamodb", config=aws_config())
    definition = table_definition()
    client.create_table(**definition)
    return build(Table(definition["TableName"], client), session)


def verify(world: Healthy, *, segments: int = 4, repair: bool = False) -> tuple[list[Report], int]:
    """Verify in small pages and return what was found, and how many items were looked at."""
    checks = all_checks(world.table, world.clock, world.s3)
    verifier = Verifier(world.table, checks, patience=0.1, page=5)
    return list(verifier.run(segments=segments, repair=repair)), verifier.items


def test_every_item_is_looked_at_once_and_what_is_broken_is_found_and_mended(world: Healthy) -> None:
    found, items = verify(world)
    assert found == []
    assert items == verify(world, segments=1)[1] > 90
    mention, hour = keys.article_tag(world.story, "markets"), keys.hour_rollup("MRBL", "2026-11-25T11")
    world.table.delete(mention)
    world.table.update(hour, assign={"negative_count": 3, "total_mentions": 3})
    world.table.update(
        world.spectrum("ended"), assign={"status": "ACQUIRE", "timestamp": "2026-11-27T00:00:00Z"}
    )
    world.table.update(LATEST, remove=[("sources", "official")])
    wanted = [
        ("canonical", *LATEST.values()),
        ("eligible-spectra", *world.spectrum("ended").values()),
        ("mentions", *mention.values()),
        ("rollups", *hour.values()),
    ]
    found, _ = verify(world, repair=True)
    assert sorted(report.finding.place for report in found) == wanted
    assert {report.mended for report in found} == {Mended.MENDED}
    assert verify(world)[0] == []


def test_items_move_to_their_shards_and_back(world: Healthy) -> None:
    """Here are indexes that are scanned in parts, and conditions of statements that look for any shard."""
    everything = {(one["PK"], one["SK"]): one for one in world.table.scan().items}
    for number in (8, 1):
        there = Healthy(**{**vars(world), "table": replace(world.table, shards=Shards(number))})
        assert has_strangers(there.table)
        assert move_to_shards(there.table) >= 5
        assert not has_strangers(there.table)
        assert verify(there)[0] == []
        assert {(one["PK"], one["SK"]): one for one in there.table.scan().items} == everything
    now = [value for item in world.table.scan().items for value in item.values()]
    assert not [value for value in now if isinstance(value, InShard)]
