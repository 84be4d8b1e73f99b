"""A person decides on articles and events on the command line, against a stack in moto."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import boto3
import pytest
from click.testing import CliRunner

from sourcebook_cli.main import main
from sourcebook_cli.stack import Stack
from tests.integration.articles.decisions.test_events import event_of, two_events
from tests.integration.articles.decisions.world import World, world

__all__ = ["world"]

pytestmark = pytest.mark.integration


@pytest.fixture
def stack(stack_starting: Callable[..., Stack], monkeypatch: pytest.MonkeyPatch) -> None:
    made = stack_starting()
    topic = boto3.client("sns").create_topic(Name="articles")["TopicArn"]
    announcing = replace(made, outputs={**made.outputs, "ArticleTopicArn": topic})
    monkeypatch.setattr(Stack, "connect", lambda **_: announcing)


def decided(*command: str) -> str:
    """Run a command that decides, and return the id of its decision."""
    result = CliRunner().invoke(main, [*command, "--reason", "I know.", "--by", "Ada", "--json"])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert (answer["decided_by"], answer["reason"]) == ("Ada", "I know.")
    return str(answer["decision_id"])


@pytest.mark.usefixtures("stack")
def test_articles_are_joined_and_split_and_each_is_taken_back(world: World) -> None:
    _, _, [one, *_], [_, other] = two_events(world)
    joined = decided("articles", "join", one, other)
    assert world.read(other).joined_into == one
    split = decided("articles", "split", one, "--source", "ledger")
    decided("decisions", "undo", split)
    decided("decisions", "undo", joined)
    assert world.read(other).joined_into is None
    listed = CliRunner().invoke(main, ["decisions", "list", "--about", other, "--json"]).stdout.splitlines()
    assert [json.loads(line)["action"] for line in listed] == ["undo", "join_articles"]


@pytest.mark.usefixtures("stack")
def test_events_are_merged_and_articles_taken_out(world: World) -> None:
    into, other, [one, *_], theirs = two_events(world)
    merged = decided("events", "merge", into, other)
    assert event_of(world, *theirs) == into
    decided("decisions", "undo", merged)
    assert event_of(world, *theirs) == other
    decided("events", "remove", one)
    assert "event_id" not in world.article(one)


@pytest.mark.usefixtures("stack")
def test_what_does_not_fit_is_refused_in_words(world: World) -> None:
    _, _, [one, *_], _ = two_events(world)
    result = CliRunner().invoke(main, ["articles", "join", one, one, "--reason", "x"])
    assert result.exit_code == 1
    assert "expected another article than the one" in result.output
