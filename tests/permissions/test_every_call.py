"""What the functions asked of AWS in the end-to-end tests, against what AWS would let them.

The embedded cloud enforces the policies of the functions too, but knows some actions by other names, and
evaluates no condition on partition keys. `make test` runs this after the end-to-end tests, whose clouds write
the calls down.
"""

from __future__ import annotations

import json

import pytest

from tests.permissions.policies import Made, Statement, Templates, is_allowed
from tests.permissions.seen import LOCAL_ACTIONS, deployed, recorded


@pytest.fixture(scope="module")
def templates() -> Templates:
    found = deployed()
    if found is None:
        pytest.skip("no stack was deployed here: run the end-to-end tests first")
    return found


@pytest.fixture(scope="module")
def statements(templates: Templates) -> dict[str, list[Statement]]:
    return {
        name: [
            Statement(one.effect, actions, one.resources, one.conditions)
            for one in found
            if (actions := tuple(action for action in one.actions if action not in LOCAL_ACTIONS))
        ]
        for name, found in templates.statements().items()
    }


@pytest.fixture(scope="module")
def calls(templates: Templates) -> list[Made]:
    made = recorded(templates)
    if not made:
        pytest.skip("no call was written down: run the end-to-end tests first")
    return made


BROKEN_ON_PURPOSE = "table/there-is-none"
"""A table that a test of recovery names, so that a function fails: AWS would refuse it too."""


def test_every_call_is_one_that_aws_allows(calls: list[Made], statements: dict[str, list[Statement]]) -> None:
    refused = {
        (call.function, call.action, call.resource, json.dumps(dict(call.keys)))
        for call in calls
        if not is_allowed(call, statements[call.function]) and not call.resource.endswith(BROKEN_ON_PURPOSE)
    }
    assert sorted(refused) == []
