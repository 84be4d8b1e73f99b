"""What an operator asks the deployed stack: whether it lives, how it polls, what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.feeds.settings import FeedSettings
from sourcebook.sources.model import SourceSpec
from sourcebook_cli import stack as command_line
from sourcebook_cli.redrive import dead_letter_queues, send_back
from tests.e2e.sources import register
from tests.e2e.stack import wait_until

if TYPE_CHECKING:
    from tests.e2e.stack import Stack


@pytest.fixture
def commands(stack: Stack) -> command_line.Stack:
    """The stack as the command line finds it."""
    return command_line.Stack(stack.session, command_line._outputs(stack.session))


def test_health_answers_once_the_schedule_has_run(stack: Stack) -> None:
    def checks() -> Any:
        found = stack.api.get("/health").json()["checks"]
        return found if found["scheduler"] is not None else None

    found = wait_until(checks, 150, "the schedule's first run")
    assert found["table"] == "ok"
    assert found["scheduler"] < 300
    assert found.keys() == {"table", "scheduler", "overdue", "active_feeds", "last_successful_fetch"}


def test_the_command_line_goes_by_the_settings_of_the_function_that_polls(
    stack: Stack, commands: command_line.Stack
) -> None:
    assert commands.feed_settings() == FeedSettings()
    function = stack.session.client("lambda").get_function_configuration(
        FunctionName=stack.outputs.fetch_function_name
    )
    assert FeedSettings().to_environment().items() <= function["Environment"]["Variables"].items()


def test_the_api_explains_a_feeds_schedule(stack: Stack) -> None:
    spec = SourceSpec(source_id="explained", url="http://127.0.0.1:9/feed.xml")
    register(stack, [spec])
    explained = stack.api.get("/feeds/explained/schedule")
    assert explained.status_code == 200
    assert explained.json()["reasons"][0].startswith("The next fetch is due at ")
    assert FeedSettings.from_values(explained.json()["settings"]) == FeedSettings()
    assert stack.api.get("/feeds/nobody/schedule").status_code == 404


def test_every_dead_letter_queue_can_be_redriven(commands: command_line.Stack) -> None:
    queues = dead_letter_queues(commands.outputs)
    assert queues.keys() >= {"fetch", "analyze", "new-articles", "group", "ideas"}
    assert {job: send_back(commands, job, 10) for job in queues} == dict.fromkeys(queues, 0)
