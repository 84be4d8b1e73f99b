"""Which part answers a route, and that it alone is loaded for it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from sourcebook.api import feeds
from sourcebook.api.parts import PARTS, Services, find, operations, routes
from sourcebook.errors import InvalidInput

NOTHING: Any = None


def services(**environ: str) -> Services:
    return Services(table=NOTHING, start=NOTHING, workflows=(), objects=NOTHING, environ=environ)


@pytest.mark.parametrize("name", PARTS)
def test_the_operations_of_a_part_are_found_below_its_paths(name: str) -> None:
    declared = list(routes(name).values())
    assert declared
    assert [find(operation.route) for operation in declared] == declared


def test_every_path_of_a_part_has_operations() -> None:
    for name, paths in PARTS.items():
        declared = [operation.path for operation in routes(name).values()]
        for path in paths:
            assert any(one == path or one.startswith(f"{path}/") for one in declared), path


@pytest.mark.parametrize(
    "route",
    [
        "",
        "GET",
        "GET ",
        "GET /",
        "GET /feedsy",
        "GET /feeds.opml/x",
        "PUT /feeds",
        "GET /novae/x",
        "/feeds",
    ],
)
def test_a_route_that_nobody_declared_is_not_found(route: str) -> None:
    assert find(route) is None


def test_all_operations_are_those_of_the_parts_each_once() -> None:
    found = operations()
    assert len({operation.route for operation in found}) == len(found)
    assert sum(len(routes(name)) for name in PARTS) == len(found)


def test_a_request_loads_its_own_part() -> None:
    code = f"""
import json, sys
from sourcebook.api import routes
from sourcebook.api.parts import find
def loaded():
    return [name for name in {[*PARTS]!r} if f"sourcebook.api.{{name}}" in sys.modules]
before = loaded()
assert find("GET /api/v1/tools/{{tool_id}}/sentiment")
print(json.dumps([before, loaded(), "sourcebook.feeds" in sys.modules, "sourcebook.novae" in sys.modules]))
"""
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(finished.stdout) == [[], ["sentiment"], False, False]


def test_what_lasts_longer_than_a_request_is_made_once() -> None:
    here = services()
    assert here.once(feeds.manager) is here.once(feeds.manager)
    assert set(here.made) == {feeds.manager}


def test_a_wrong_setting_is_not_the_fault_of_who_asks() -> None:
    here = services(FEEDS_PARSER="slow")
    with pytest.raises(RuntimeError, match="FEEDS_PARSER") as raised:
        here.once(feeds.manager)
    assert isinstance(raised.value.__cause__, InvalidInput)
    assert not here.made
