"""`sources fetch` and `migrate --list`, by what they exit with."""

from __future__ import annotations

from typing import Any

import boto3.session
import pytest
from click.testing import CliRunner

from sourcebook.sources.model import parse_spec
from sourcebook.table.client import Table
from sourcebook_cli.main import main
from sourcebook_cli.stack import Stack

pytestmark = pytest.mark.integration


@pytest.fixture
def sent(table: Table, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Connect the commands to a stack that notes which sources it is asked to fetch."""
    stack = Stack(boto3.session.Session(), {"TableName": table.name})
    for source_id in ("harbor-wire", "tide", "resting"):
        stack.registry.register(parse_spec({"source_id": source_id, "url": f"https://{source_id}.example/"}))
    stack.registry.change("resting", enabled=False)
    asked: list[str] = []

    def dispatch(_: Stack, source_ids: Any) -> dict[str, int]:
        asked.extend(source_ids)
        return {"due": len(asked)}

    monkeypatch.setattr(Stack, "connect", lambda **_: stack)
    monkeypatch.setattr(Stack, "dispatch", dispatch)
    return asked


def test_a_known_source_is_fetched(sent: list[str]) -> None:
    result = CliRunner().invoke(main, ["sources", "fetch", "tide"])
    assert (result.exit_code, result.stdout, sent) == (0, "1 sources sent.\n", ["tide"])


def test_an_unknown_source_is_an_error_with_what_was_meant_and_loses_no_other(sent: list[str]) -> None:
    result = CliRunner().invoke(main, ["sources", "fetch", "harbour-wire", "tide", "resting"])
    assert result.exit_code == 1
    assert sent == ["tide"]
    assert "'harbour-wire'" in result.stderr
    assert "Did you mean harbor-wire?" in result.stderr
    assert "resting is disabled" in result.stderr


def test_nothing_but_unknown_sources_asks_the_stack_for_nothing(sent: list[str]) -> None:
    assert CliRunner().invoke(main, ["sources", "fetch", "nobody"]).exit_code == 1
    assert sent == []


@pytest.mark.usefixtures("sent")
def test_a_fresh_stack_needs_no_migration() -> None:
    result = CliRunner().invoke(main, ["migrate", "--list"])
    assert result.exit_code == 0
    states = [line.partition(": ")[2] for line in result.stdout.splitlines()]
    assert len(states) >= 2
    assert set(states) == {"not needed"}
