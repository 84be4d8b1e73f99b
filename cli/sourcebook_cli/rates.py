"""The figures: `rates latest` and `rates history`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table as TextTable

from sourcebook.errors import InvalidInput
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from sourcebook.observations.read import ObservationReader

_DAY = click.DateTime(formats=["%Y-%m-%d"])
_AS_JSON = click.option("--json", "as_json", is_flag=True, help="As the HTTP API answers it.")


@click.group()
def rates() -> None:
    """What the banks offer: the newest, and day by day."""


@rates.command()
@click.option("--series", "series_code", help="Code of a series; all when it is not given.")
@click.option("--term", "term_months", help="Months, or a term such as 2W; all when it is not given.")
@click.option("--bank", "bank_name", help="Only this bank.")
@click.option(
    "--max-age-days", type=click.IntRange(1, 3660), help="Older figures step back behind fresher ones."
)
@_AS_JSON
@on_aws
def latest(
    *,
    series_code: str | None,
    term_months: str | None,
    bank_name: str | None,
    max_age_days: int | None,
    as_json: bool,
    aws: bool,
) -> None:
    """Show the newest figure of each bank, series and term, and which source it is from."""
    reader = _reader(aws)

    def page(cursor: str | None) -> dict[str, Any]:
        return reader.latest(
            series_code=series_code,
            term_months=term_months,
            bank_name=bank_name,
            max_age_days=max_age_days,
            cursor=cursor,
        )

    rows = _all(page, "rows")["rows"]
    if as_json:
        click.echo(json.dumps({"rows": rows}, ensure_ascii=False, indent=2))
        return
    columns = ("bank_name", "series_code", "term", "rate_pct", "observed_day", "source_id", "source_priority")
    _show(rows, columns, extra=("decided_by",))


@rates.command()
@click.option("--bank", "bank_name", required=True, help="Name of the bank.")
@click.option("--series", "series_code", required=True, help="Code of the series.")
@click.option("--term", "term_months", help="Months, or a term such as 2W; not for a loan.")
@click.option("--from", "first", type=_DAY, help="First day.")
@click.option("--to", "last", type=_DAY, help="Last day.")
@_AS_JSON
@on_aws
def history(
    *,
    bank_name: str,
    series_code: str,
    term_months: str | None,
    first: datetime | None,
    last: datetime | None,
    as_json: bool,
    aws: bool,
) -> None:
    """Show one figure a day of a bank, a series and a term."""
    reader = _reader(aws)

    def page(cursor: str | None) -> dict[str, Any]:
        return reader.history(
            bank_name=bank_name,
            series_code=series_code,
            term_months=term_months,
            first=first.date() if first else None,
            last=last.date() if last else None,
            cursor=cursor,
        )

    answer = _all(page, "points")
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False, indent=2))
        return
    _show(answer["points"], ("observed_day", "rate_pct", "rate_min_pct", "rate_max_pct", "source_id"))


def _reader(aws: bool) -> ObservationReader:
    from sourcebook.observations.read import ObservationReader

    return ObservationReader(Stack.connect(aws=aws).table)


def _all(page: Callable[[str | None], dict[str, Any]], name: str) -> dict[str, Any]:
    """Return the answer with all of its pages in one."""
    from sourcebook.observations.read import Unknown

    try:
        answer = page(None)
        while answer["next_cursor"] is not None:
            following = page(answer["next_cursor"])
            answer = following | {name: answer[name] + following[name]}
    except Unknown as error:
        known = "series; `sourcebook rates latest` shows all"
        raise InvalidInput(error.what, error.value, f"a known {known}") from error
    return {key: value for key, value in answer.items() if key != "next_cursor"}


def _show(rows: Sequence[dict[str, Any]], columns: Sequence[str], extra: Sequence[str] = ()) -> None:
    table = TextTable(*(name.removesuffix("_pct").replace("_", " ") for name in (*columns, *extra)))
    for row in rows:
        table.add_row(*("" if row[name] is None else str(row[name]) for name in (*columns, *extra)))
    Console(highlight=False).print(table)
