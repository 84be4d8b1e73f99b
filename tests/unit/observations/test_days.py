from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from sourcebook.observations.days import read_days
from tests.unit.observations.pages import figures, parse

OF_THE_LATEST_DAY: list[tuple[str, str, float]] = [("Fed", "M0120", 4.38)]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-11-27", "2026-11-27"),
        ("2026-11-27T10:00:00Z", "2026-11-27"),
        ("2026/11/27", "2026-11-27"),
        ("20261127", "2026-11-27"),
        ("2026-11", "2026-11-01"),
        ("2026M11", "2026-11-01"),
        ("2026-Q3", "2026-07-01"),
        ("27/11/2026", "2026-11-27"),
        ("11/27/2026", "2026-11-27"),
        ("01.02.2026", "2026-02-01"),
        ("26 Nov 2026", "2026-11-26"),
        ("26-Nov-26", "2026-11-26"),
        ("3rd March 2026", "2026-03-03"),
        ("November 26, 2026", "2026-11-26"),
        ("1. März 2026", "2026-03-01"),
        ("26 de noviembre de 2026", "2026-11-26"),
        ("2026年11月27日", "2026-11-27"),
        ("1795737600000", "2026-11-27"),
        *((text, None) for text in ("", "4.5", "450", "6 months", "01/02/2026", "27/11/26", "31 Feb 2026")),
    ],
)
def test_a_day_in_the_ways_of_the_world(text: str, day: str | None) -> None:
    assert read_days([text]) == [date.fromisoformat(day) if day else None]


def test_one_date_of_a_column_shows_what_stands_first_in_all() -> None:
    assert read_days(["01/02/2026", "13/02/2026"])[0] == date(2026, 2, 1)
    assert read_days(["01/02/2026", "02/13/2026"])[0] == date(2026, 1, 2)
    assert read_days(["01/02/2026"], "mdy") == [date(2026, 1, 2)]
    assert read_days(["14/02/2026", "02/13/2026"]) == [None, None]


@pytest.mark.parametrize("declared", [{"date": "Day"}, {}])
@pytest.mark.parametrize(
    "page",
    [
        "Day,DGS10\n2026-11-25,4.41\n2026-11-26,4.38\n2026-11-27,.\n",
        "Day,DGS10\n2026-11-27,4.38\n2026-11-26,4.41\n",
        "Day,DGS10\nUnits,Per cent\n26-Nov-2026,4.41\n27-Nov-2026,4.38\n30-Nov-2026,4.9\n",
    ],
)
def test_the_latest_day_counts_in_whatever_order_a_file_has_them(page: str, declared: dict[str, Any]) -> None:
    options = {"bank": {"const": "Fed"}, "term": {"const": "10Y"}, "value": "DGS10", **declared}
    parsed = parse("csv", page, **options)
    assert figures(parsed) == OF_THE_LATEST_DAY
    assert "earlier days" in "".join(parsed.notes)


def test_a_declared_date_that_cannot_be_read_or_is_to_come_costs_its_record() -> None:
    page = (
        "Bank,Term,Rate,From\nA,6M,4.1,2026-11-01\nA,6M,4.5,2026-12-01\nB,6M,4.2,soon\nC,6M,4.3,2026-11-28\n"
    )
    parsed = parse("csv", page, date="From")
    assert figures(parsed) == [("A", "M0006", 4.1), ("C", "M0006", 4.3)]
    assert parsed.reasons() == {"no_date": 1, "not_yet": 1}
    # Nobody said that the column is of dates that count: it decides nothing but between two figures.
    assert figures(parse("csv", page))[:2] == [("A", "M0006", 4.1), ("B", "M0006", 4.2)]


def test_records_of_json_have_dates_where_it_is_declared() -> None:
    page = '[{"t": 1795651200000, "v": 4.3}, {"t": 1795737600000, "v": 4.38}]'
    options: dict[str, Any] = {"bank": {"const": "Fed"}, "term": {"const": "10Y"}, "value": "v", "date": "t"}
    assert figures(parse("json_api", page, **options)) == OF_THE_LATEST_DAY
