"""Observed rates: `rates latest`, `rates history` and `rates observations`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sourcebook.errors import InvalidInput
from sourcebook_cli.output import say, say_json, show_table
from sourcebook_cli.stack import Stack, on_aws
from sourcebook_cli.suggestions import unknown

if TYPE_CHECKING:
    from sourcebook.observations.read import ObservationReader
    from sourcebook.table.pages import Page

_DAY = click.DateTime(formats=["%Y-%m-%d"])
_AS_JSON = click.option("--json", "as_json", is_flag=True, help="As the HTTP API answers it.")


@click.group()
def rates() -> None:
    """The rates of banks: the newest, and day by day."""


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
    page = partial(
        reader.latest,
        series_code=series_code,
        term_months=term_months,
        bank_name=bank_name,
        max_age_days=max_age_days,
    )
    rows = _rows(reader, page)
    if not rows and bank_name is not None and bank_name not in {b["bank_name"] for b in reader.banks()}:
        raise _unknown(reader, "bank_name", bank_name)
    if as_json:
        say_json({"items": rows}, indent=2)
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
    page = partial(
        reader.history,
        bank_name=bank_name,
        series_code=series_code,
        term_months=term_months,
        first=first.date() if first else None,
        last=last.date() if last else None,
    )
    with _known(reader):
        answer = page()
        items = answer["items"]
        while (cursor := answer.pop("next_cursor")) is not None:
            answer = page(cursor=cursor)
            items += answer["items"]
    answer["items"] = items
    if as_json:
        say_json(answer, indent=2)
        return
    _show(answer["items"], ("observed_day", "rate_pct", "rate_min_pct", "rate_max_pct", "source_id"))


@rates.command()
@click.option("--bank", "bank_name", help="Only this bank.")
@click.option("--series", "series_code", help="Code of a series; all when it is not given.")
@click.option("--term", "term_months", help="Months, or a term such as 2W; all when it is not given.")
@click.option("--source", "source_id", help="Only what this source had.")
@click.option("--since", "first", type=_DAY, help="First day, included.")
@click.option("--until", "end", type=_DAY, help="Last day, excluded.")
@click.option(
    "--export",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write them to this file: .csv, .json or .parquet.",
)
@_AS_JSON
@on_aws
def observations(
    *,
    bank_name: str | None,
    series_code: str | None,
    term_months: str | None,
    source_id: str | None,
    first: datetime | None,
    end: datetime | None,
    path: Path | None,
    as_json: bool,
    aws: bool,
) -> None:
    """Show the figure of each source on each day."""
    from sourcebook.observations.export import writer_for
    from sourcebook.observations.raw_read import RawReader

    write = None if path is None else writer_for(path)
    reader = RawReader(Stack.connect(aws=aws).table)
    page = partial(
        reader.figures,
        bank_name=bank_name,
        series_code=series_code,
        term_months=term_months,
        source_id=source_id,
        since=first.date() if first else None,
        until=end.date() if end else None,
        limit=100,
    )
    rows = _rows(reader, page)
    if path is not None and write is not None:
        say(f"{write(path, rows):,} figures in {path}")
        return
    if as_json:
        say_json({"items": rows}, indent=2)
        return
    _show(
        rows, ("bank_name", "series_code", "term", "observed_day", "rate_pct", "source_id", "source_priority")
    )


def _reader(aws: bool) -> ObservationReader:
    from sourcebook.observations.read import ObservationReader

    return ObservationReader(Stack.connect(aws=aws).table)


def _rows(reader: ObservationReader, page: Callable[..., Page[dict[str, Any]]]) -> list[dict[str, Any]]:
    from sourcebook.table.pages import all_items

    with _known(reader):
        return list(all_items(page))


@contextmanager
def _known(reader: ObservationReader) -> Iterator[None]:
    """Say what may have been meant where a bank or series is not known."""
    from sourcebook.observations.read import Unknown

    try:
        yield
    except Unknown as error:
        raise _unknown(reader, error.what, error.value) from error


def _unknown(reader: ObservationReader, what: str, value: str) -> InvalidInput:
    if what == "bank_name":
        known = [bank["bank_name"] for bank in reader.banks()]
        return unknown("--bank", value, known, "the name of a bank; `sourcebook rates latest` shows all")
    codes = [series["series_code"] for series in reader.series()]
    return unknown("--series", value, codes, "the code of a series; `sourcebook rates latest` shows all")


def _show(rows: Sequence[dict[str, Any]], columns: Sequence[str], extra: Sequence[str] = ()) -> None:
    names = (*columns, *extra)
    headings = {name: name.removesuffix("_pct").replace("_", " ") for name in names}
    show_table(
        list(headings.values()),
        [["" if row[name] is None else str(row[name]) for name in names] for row in rows],
        whole=[heading for name, heading in headings.items() if name not in {"bank_name", "decided_by"}],
    )
