"""Starts workflows and waits for their end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sourcebook.errors import Terminal
from sourcebook.table.client import aws_config

if TYPE_CHECKING:
    from sourcebook_cli.stack import Stack

_LOOK_EVERY = 1.0


def start(stack: Stack, output: str, given: Mapping[str, Any]) -> str:
    """Start the workflow whose ARN the stack has under this output, and return the execution's ARN."""
    started = stack.session.client("stepfunctions", config=aws_config()).start_execution(
        stateMachineArn=stack.outputs[output], input=json.dumps(given)
    )
    return started["executionArn"]


def outcome(
    stack: Stack, execution: str, note: Callable[[Mapping[str, Any]], None] | None = None
) -> dict[str, Any]:
    """Wait for the end of an execution, and return its output.

    Args:
        stack: where it runs.
        execution: its ARN.
        note: called with each new answer of a function of the execution.

    Raises:
        Terminal: if it fails, with its cause.
    """
    client = stack.session.client("stepfunctions", config=aws_config())
    noted: dict[str, Any] = {}
    while (found := client.describe_execution(executionArn=execution))["status"] == "RUNNING":
        if note is not None and (answer := _last_answer(client, execution)) not in ({}, noted):
            note(answer)
            noted = answer
        time.sleep(_LOOK_EVERY)
    if found["status"] != "SUCCEEDED":
        raise Terminal(f"{found['status']}: {found.get('cause') or found.get('error') or execution}")
    output: dict[str, Any] = json.loads(found["output"])
    return output


def _last_answer(client: Any, execution: str) -> dict[str, Any]:  # noqa: ANN401 - boto3's client
    history = client.get_execution_history(executionArn=execution, reverseOrder=True, maxResults=20)
    for event in history["events"]:
        output = json.loads(event.get("taskSucceededEventDetails", {}).get("output", "null"))
        if isinstance(output, dict) and isinstance(answer := output.get("Payload"), dict):
            return answer
    return {}
