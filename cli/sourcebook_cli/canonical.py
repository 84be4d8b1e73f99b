"""The canonical layer of observations: `canonical rebuild`."""

from __future__ import annotations

from typing import Any

import click

from sourcebook_cli.executions import outcome, start
from sourcebook_cli.output import say
from sourcebook_cli.stack import Stack, on_aws


@click.group()
def canonical() -> None:
    """The canonical layer: one figure chosen from those of several sources."""


@canonical.command()
@click.option("--source", "source_ids", multiple=True, help="Only what this source brought; may be repeated.")
@click.option("--no-wait", is_flag=True, help="Start it and do not wait for its end.")
@on_aws
def rebuild(source_ids: tuple[str, ...], no_wait: bool, aws: bool) -> None:
    """Rebuild the newest figures from the raw layer and the present priorities of sources."""
    stack = Stack.connect(aws=aws)
    if no_wait:
        say(f"Started: {start_rebuild(stack, list(source_ids))}")
        return
    counts = run_rebuild(stack, list(source_ids))
    say(f"{counts['examined']} examined, {counts['changed']} changed.")


def start_rebuild(stack: Stack, source_ids: list[str]) -> str:
    """Start the state machine, for all sources if none is named; return the execution's ARN."""
    return start(stack, "RebuildCanonicalArn", {"source_ids": source_ids} if source_ids else {})


def run_rebuild(stack: Stack, source_ids: list[str]) -> dict[str, Any]:
    """Run the state machine to its end and return its counts.

    Raises:
        Terminal: if it fails, with its cause.
    """
    return outcome(stack, start_rebuild(stack, source_ids))
