"""The search index: `search rebuild` makes it from the table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click

from sourcebook_cli.output import say
from sourcebook_cli.stack import Stack, on_aws

_DAY = click.DateTime(formats=["%Y-%m-%d"])


@click.group()
def search() -> None:
    """The index that `articles search` and `GET /articles?q=` ask."""


@search.command()
@click.option("--from", "first", type=_DAY, help="First day; 31 days ago if it is not given.")
@click.option("--to", "last", type=_DAY, help="Last day; today if it is not given.")
@on_aws
def rebuild(first: datetime | None, last: datetime | None, aws: bool) -> None:
    """Rebuild the index from the table, day by day: after an upgrade, or when it is lost or damaged."""
    from sourcebook.search.days import Days
    from sourcebook.search.index import Indexer

    stack = Stack.connect(aws=aws)
    now = datetime.now(UTC)
    begin, end = (first or now - timedelta(days=31)).date(), (last or now).date()
    if begin > end:
        raise click.BadParameter("is after --to", param_hint="--from")
    run = Indexer(Days(stack.objects), stack.table).rebuild(
        begin.isoformat(), end.isoformat(), lambda day, count: say(f"{day}  {count:>7} articles")
    )
    say(f"{run.changed} articles in {run.days} days.")
    for key, reason in run.left_out.items():
        say(f"left out: {key}: {reason}", err=True)
