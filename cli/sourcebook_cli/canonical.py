"""The canonical layer of observations: `canonical rebuild`."""

from __future__ import annotations

import json
import time
from typing import Any

import click

from sourcebook.errors import Terminal
from sourcebook.table.client import aws_config
from sourcebook_cli.output import say
from sourcebook_cli.stack import Stack, on_aws

_LOOK_EVERY = 0.5


@click.group()
def canonical() -> None:
    """The one answer among several sources' figures."""


@canonical.command()
@click.option("--source", "source_ids", multiple=True, help="Only what this source brought; may be repeated.")
@click.option("--no-wait", is_flag=True, help="Start it and do not wait for its end.")
@on_aws
def rebuild(source_ids: tuple[str, ...], no_wait: bool, aws: bool) -> None:
    """Make the newest figures anew from the raw layer and the sources' present priorities."""
    stack = Stack.connect(aws=aws)
    if no_wait:
        say(f"Started: {start_rebuild(stack, list(source_ids))}")
        return
    counts = run_rebuild(stack, list(source_ids))
    say(f"{counts['examined']} examined, {counts['changed']} changed.")


def start_rebuild(stack: Stack, source_ids: list[str]) -> str:
    """Start the state machine, for all sources if none is named; return the execution's ARN."""
    client = stack.session.client("stepfunctions", config=aws_config())
    wanted = {"source_ids": source_ids} if source_ids else {}
    started = client.start_execution(
        stateMachineArn=stack.outputs["RebuildCanonicalArn"], input=json.dumps(wanted)
    )
    return started["executionArn"]


def run_rebuild(stack: Stack, source_ids: list[str]) -> dict[str, Any]:
    """Run the state machine to its end and return its counts.

    Raises:
        Terminal: if it fails, with its cause.
    """
    arn = start_rebuild(stack, source_ids)
    client = stack.session.client("stepfunctions", config=aws_config())
    while True:
        execution = client.describe_execution(executionArn=arn)
        match execution["status"]:
            case "RUNNING":
                time.sleep(_LOOK_EVERY)
            case "SUCCEEDED":
                counts: dict[str, Any] = json.loads(execution["output"])
                return counts
            case status:
                raise Terminal(f"rebuild_canonical {status}: {execution.get('cause', arn)}")
