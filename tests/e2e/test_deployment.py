"""Deploying the application, and what a test may ask of the deployed stack."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sourcebook_local.deploy import deploy
from sourcebook_local.outputs import write_local_json
from sourcebook_local.project import HOME
from tests.e2e.stack import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.stack import Stack


def test_unchanged_sources_are_neither_synthesized_nor_deployed_again(stack: Stack) -> None:
    again = deploy(stack.cloud, assembly=HOME / "assembly")
    assert (again.synthesized, again.deployed) == (False, False)
    assert again.outputs == stack.outputs


def test_the_api_answers_at_the_address_in_local_json(stack: Stack, tmp_path: Path) -> None:
    write_local_json(tmp_path / "local.json", stack.cloud, stack.outputs)
    written = json.loads((tmp_path / "local.json").read_text())
    assert written["api_url"] == str(stack.api.base_url).rstrip("/")
    assert "refresh_sources" in written["state_machines"]
    answer = stack.api.get("/health")
    # MiniStack has a /health of its own, which lists its services.
    assert answer.status_code == 200
    assert "services" not in answer.json()


def test_a_function_can_be_called_and_its_log_read(stack: Stack) -> None:
    assert stack.invoke("dispatch_sources", {}).keys() >= {"due", "messages", "skipped"}
    assert wait_until(lambda: stack.logs("dispatch_sources"), 60, "a line in the log")


def test_the_state_machine_runs_to_its_end(stack: Stack) -> None:
    assert stack.run_state_machine("refresh_sources", {}).keys() >= {"due", "messages", "skipped"}


def test_every_function_starts_with_its_layers(stack: Stack) -> None:
    """A package missing from a layer shows when the module is imported, before any work."""
    for function in ("fetch_sources", "analyze_sentiment"):
        assert stack.invoke(function, {"Records": []}) == {"batchItemFailures": []}


@pytest.fixture(autouse=True)
def _no_dead_letters(stack: Stack) -> None:
    for url in (stack.outputs.fetch_dead_letter_queue_url, stack.outputs.analyze_dead_letter_queue_url):
        attributes = stack.session.client("sqs").get_queue_attributes(
            QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"]
        )
        assert attributes["Attributes"]["ApproximateNumberOfMessages"] == "0"
