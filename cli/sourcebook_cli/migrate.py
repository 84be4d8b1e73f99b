"""`migrate`: bring stored items to the form that this version writes."""

from __future__ import annotations

from typing import Final

import click

from sourcebook_cli.output import say
from sourcebook_cli.stack import Stack, on_aws

_TOLD_EVERY: Final = 10_000


@click.command()
@click.option("--list", "only_list", is_flag=True, help="Say which steps were applied, and run none.")
@click.option("--again", metavar="STEP", help="Run this step though it was applied; that is harmless.")
@on_aws
def migrate(only_list: bool, again: str | None, aws: bool) -> None:
    """Apply the pending steps. It may run at any time, and again after an interruption."""
    from sourcebook.integrity import shards
    from sourcebook.migrations import relist, renormalize
    from sourcebook.migrations.steps import STEPS, Migrations

    read = 0

    def watch(entries: int) -> None:
        nonlocal read
        read += entries
        if read // _TOLD_EVERY > (read - entries) // _TOLD_EVERY:
            say(f"shards: {read} entries of indexes read", err=True)

    steps = (*STEPS, renormalize.STEP, relist.STEP, shards.step(watch))
    migrations = Migrations(Stack.connect(aws=aws).table, steps=steps)
    for applied in migrations.status() if only_list else migrations.run(again=again):
        if applied.ran:
            say(f"{applied.step_id}: {applied.changed} items changed")
        else:
            never = "not applied" if applied.needed else "not needed"
            say(f"{applied.step_id}: {applied.applied_at or never}")
