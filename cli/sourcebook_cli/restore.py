"""`restore`: makes the table equal to a restored one."""

from __future__ import annotations

import click

from sourcebook.errors import InvalidInput
from sourcebook.integrity.restore import Restored, Restorer
from sourcebook.table.client import Table
from sourcebook_cli.output import confirm, say
from sourcebook_cli.stack import Stack, on_aws


@click.command()
@click.argument("table")
@click.option("--only-missing", is_flag=True, help="Put back what is missing; leave the rest as it is.")
@click.option("--dry-run", is_flag=True, help="Change nothing; say how the tables differ.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--segments",
    default=4,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Parts of the tables that are read at the same time.",
)
@on_aws
def restore(*, table: str, only_missing: bool, dry_run: bool, yes: bool, segments: int, aws: bool) -> None:
    """Make the stack's table equal to TABLE, which a point-in-time restore has made.

    Missing items are added, changed items are set back, and new items are removed. TABLE is only read. It may
    be stopped and run again. `sourcebook pause` comes first, unless only what is missing is put back;
    docs/operations.md has the whole course.
    """
    stack = Stack.connect(aws=aws)
    if table in {stack.table.name, ""}:
        raise InvalidInput(
            "TABLE", table, "another table than the stack's own, such as one that was restored"
        )
    restorer = Restorer(stack.table, Table(table, stack.table.client), only_missing=only_missing, dry=dry_run)
    if not (yes or dry_run):
        what = "Put back into" if only_missing else "Change"
        confirm(f"{what} {stack.table.name} by what {table} has?", err=True)
    say(_summary(restorer.run(segments=segments), only_missing=only_missing, dry=dry_run))


def _summary(counts: Restored, *, only_missing: bool, dry: bool) -> str:
    missing = f"{counts.missing} items {'are missing' if dry else 'put back'}"
    differing = f"{counts.differing} {'differ' if dry else 'set back'}"
    new = f"{counts.new} {'are new' if dry else 'removed'}"
    if only_missing:
        return f"{missing}, {counts.differing} that differ left alone, {counts.same} as they were."
    return f"{missing}, {differing}, {new}, {counts.same} as they were."
