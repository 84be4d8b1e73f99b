"""What the functions asked of AWS in the end-to-end tests, against what AWS would let them.

The embedded cloud enforces the policies of the functions too, but knows some actions by other names, and
evaluates no condition on partition keys. `make test` runs this after the end-to-end tests, whose clouds write
the calls down.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from sourcebook_local.project import HOME
from tests.e2e.calls import FOLDER
from tests.permissions.policies import Made, Statement, Templates, is_allowed, used
from tests.templates import ROOT

LOCAL_ACTIONS: Final = {"sqs:SendMessageBatch", "sns:PublishBatch", "dynamodb:BatchExecuteStatement"}
"""Which the embedded cloud alone knows; tests/infra holds that all else is the same on AWS."""

UNUSED: Final[dict[tuple[str, str], str]] = {}
"""Actions that a policy allows and no test uses, by function and action, each with its reason."""


@pytest.fixture(scope="module")
def templates() -> Templates:
    read = [
        json.loads((HOME / "assembly" / f"{name}.template.json").read_text("utf-8"))
        for name in ("SourcebookData", "SourcebookPipeline")
        if (HOME / "assembly" / f"{name}.template.json").exists()
    ]
    if len(read) < 2:
        pytest.skip("no stack was deployed here: run the end-to-end tests first")
    return Templates(*read)


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
    made = [call for file in sorted(FOLDER.glob("*.calls")) for call in _read(file, templates.functions())]
    if not made:
        pytest.skip("no call was written down: run the end-to-end tests first")
    return made


def _read(file: Path, functions: dict[str, str]) -> list[Made]:
    written = file.with_suffix(".names")
    if not written.exists():
        return []
    names = json.loads(written.read_text("utf-8"))
    made = []
    for line in file.read_text("utf-8").splitlines():
        call = json.loads(line)
        if (function := functions.get(names.get(call["role"], ""))) is not None:
            made.append(Made(function, call["action"], _named(call["resource"], names), call["keys"]))
    return made


def _named(arn: str, names: dict[str, str]) -> str:
    """Return an ARN with the name that the template has for its resource."""
    for end in range(len(arn), 0, -1):
        if (end == len(arn) or arn[end] == "/") and arn[:end] in names:
            rest = arn[end:]
            return f"<{names[arn[:end]]}>" + ("/StreamArn" if rest.startswith("/stream/") else rest)
    return arn


def test_every_call_is_one_that_aws_allows(calls: list[Made], statements: dict[str, list[Statement]]) -> None:
    refused = {
        (call.function, call.action, call.resource, json.dumps(dict(call.keys)))
        for call in calls
        if not is_allowed(call, statements[call.function])
    }
    assert sorted(refused) == []


def test_nothing_is_allowed_that_no_test_uses(
    calls: list[Made], statements: dict[str, list[Statement]]
) -> None:
    ran = {name for file in FOLDER.glob("*.modules") for name in json.loads(file.read_text("utf-8"))}
    missing = {path.name for path in (ROOT / "tests" / "e2e").glob("test_*.py")} - ran
    if missing:
        pytest.skip(f"these have not run: {', '.join(sorted(missing))}")
    unused = set(_unused(calls, statements))
    assert sorted(unused - UNUSED.keys()) == []
    assert sorted(UNUSED.keys() - unused) == [], "is used now: take it from the table"


def _unused(calls: Sequence[Made], statements: dict[str, list[Statement]]) -> list[tuple[str, str]]:
    return [
        (name, action)
        for name, found in statements.items()
        for action in sorted({action for one in found for action in one.actions})
        if not any(
            action == needed
            for one in found
            for needed, _ in used(one, [call for call in calls if call.function == name])
        )
    ]


def test_each_reason_is_a_sentence() -> None:
    for reason in UNUSED.values():
        assert len(reason.split()) >= 6
        assert reason.endswith(".")
