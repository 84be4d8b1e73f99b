"""The raw layer through its route, its CSV and its command, against the scrapes that were made."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sourcebook.api import observations as operations
from sourcebook.api.representations import Representation, written
from sourcebook.api.requests import Request
from sourcebook.errors import InvalidInput
from sourcebook.observations.raw_read import RawReader
from sourcebook.observations.read import Unknown
from sourcebook_cli.main import main
from tests.integration.observations.memory import MemoryTable
from tests.integration.observations.world import World

SOURCES = ("timo", "other", "third")
BANKS = ("VCB", "A#B % bank", "Bến Xuân")
DAYS = [date(2026, 1, 2) + timedelta(days=number) for number in range(4)]
Expected = tuple[str, str, str | None, str, str, float]


@pytest.fixture(scope="module")
def world() -> World:
    world = World(MemoryTable())
    for number, source_id in enumerate(SOURCES, start=1):
        world.declare(source_id, number)
    for at, day in enumerate(DAYS):
        moment = datetime(day.year, day.month, day.day, 2, tzinfo=UTC)
        for number, source_id in enumerate(SOURCES):
            world.scrape(
                source_id,
                moment,
                {
                    (bank, series, term): 4 + at + number / 4 + of / 16
                    for of, bank in enumerate(BANKS)
                    for series, term in (
                        ("deposit_online", "M0006"),
                        ("deposit_online", "M0012"),
                        ("home_loan", "-"),
                    )
                },
            )
    world.remove("third")
    return world


@pytest.fixture(scope="module")
def expected() -> list[Expected]:
    return [
        (series, bank, term, day.isoformat(), source_id, 4 + at + number / 4 + of / 16)
        for series, term in (("deposit_online", "6M"), ("deposit_online", "12M"), ("home_loan", None))
        for of, bank in enumerate(BANKS)
        for at, day in enumerate(DAYS)
        for number, source_id in enumerate(SOURCES)
    ]


def all_of(world: World, limit: int = 100, **filters: Any) -> list[dict[str, Any]]:
    reader = RawReader(world.table)
    rows: list[dict[str, Any]] = []
    cursor = None
    for _ in range(500):
        page = reader.figures(**filters, limit=limit, cursor=cursor)
        assert len(page.items) <= limit
        rows += page.items
        if (cursor := page.next_cursor) is None:
            return rows
    raise AssertionError("the list has no end")


def expected_of(rows: list[dict[str, Any]]) -> list[Expected]:
    return [
        (
            row["series_code"],
            row["bank_name"],
            row["term"],
            row["observed_day"],
            row["source_id"],
            float(row["rate_pct"]),
        )
        for row in rows
    ]


@pytest.mark.parametrize("limit", [1, 3, 7, 100])
def test_pages_of_any_size_give_every_figure_once(world: World, expected: list[Expected], limit: int) -> None:
    found = expected_of(all_of(world, limit))
    assert sorted(found, key=str) == sorted(expected, key=str)
    # Of a bank, a series and a term the oldest day is first.
    for target in {row[:3] for row in found}:
        days = [row[3:5] for row in found if row[:3] == target]
        assert days == sorted(days)


@pytest.mark.parametrize(
    ("filters", "holds"),
    [
        ({"bank_name": "A#B % bank"}, lambda r: r[1] == "A#B % bank"),
        ({"series_code": "home_loan"}, lambda r: r[0] == "home_loan"),
        ({"term_months": "12"}, lambda r: r[2] == "12M"),
        ({"source_id": "third"}, lambda r: r[4] == "third"),
        ({"source_id": "nobody"}, lambda _: False),
        ({"since": DAYS[1]}, lambda r: r[3] >= DAYS[1].isoformat()),
        ({"until": DAYS[2]}, lambda r: r[3] < DAYS[2].isoformat()),
        ({"since": date(2030, 1, 1)}, lambda _: False),
        (
            {
                "since": DAYS[1],
                "until": DAYS[3],
                "bank_name": "VCB",
                "series_code": "deposit_online",
                "term_months": "6",
                "source_id": "other",
            },
            lambda r: (
                r[:3] == ("deposit_online", "VCB", "6M") and r[4] == "other" and r[3] in map(str, DAYS[1:3])
            ),
        ),
    ],
)
@pytest.mark.parametrize("limit", [2, 100])
def test_all_filters_hold_together(
    world: World, expected: list[Expected], limit: int, filters: dict[str, Any], holds: Any
) -> None:
    found = expected_of(all_of(world, limit, **filters))
    assert sorted(found, key=str) == sorted(filter(holds, expected), key=str)


def test_a_source_that_was_removed_has_no_priority(world: World) -> None:
    rows = all_of(world)
    assert {(row["source_id"], row["source_priority"]) for row in rows} == {
        ("timo", 1),
        ("other", 2),
        ("third", None),
    }


def test_csv_has_each_sources_figure_by_day(world: World) -> None:
    operation = next(one for one in operations.OPERATIONS if one.path == "/observations")
    request = Request(operation.route, query={"bank_name": "Bến Xuân", "limit": "100"})
    answer = operation.handle(world.services, request)
    text = str(written(answer, Representation.CSV, operation, request).body)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    figures = {
        (r["series_code"], r["term"], r["observed_day"], r["source_id"]): float(r["rate_pct"]) for r in rows
    }
    assert len(rows) == len(figures) == 3 * len(DAYS) * len(SOURCES)
    assert figures["deposit_online", "6M", "2026-01-03", "other"] == 4 + 1 + 1 / 4 + 2 / 16
    assert figures["home_loan", "", "2026-01-05", "third"] == 4 + 3 + 2 / 4 + 2 / 16


@pytest.mark.parametrize(
    ("filters", "error"),
    [
        ({"series_code": "gold"}, Unknown),
        ({"bank_name": "ACB"}, Unknown),
        ({"series_code": "home_loan", "term_months": "6"}, InvalidInput),
        ({"since": DAYS[1], "until": DAYS[1]}, InvalidInput),
        ({"cursor": "x"}, InvalidInput),
        ({"term_months": "soon"}, InvalidInput),
    ],
)
def test_what_cannot_be_meant_is_refused(
    world: World, filters: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        RawReader(world.table).figures(**filters, limit=10)


def test_a_cursor_continues_only_its_own_list(world: World) -> None:
    cursor = RawReader(world.table).figures(limit=2).next_cursor
    with pytest.raises(InvalidInput, match="cursor"):
        RawReader(world.table).figures(bank_name="VCB", limit=2, cursor=cursor)


def test_many_targets_without_a_figure_end_a_page_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sourcebook.table.pages.READ_AT_MOST", 20)
    world = World(MemoryTable())
    world.declare("timo", 1)
    figures = {(f"Bank {number:04}", "home_loan", "-"): 5.0 for number in range(30)}
    world.scrape("timo", datetime(2026, 1, 2, 2, tzinfo=UTC), figures)
    reader, later = RawReader(world.table), date(2030, 1, 1)
    page = reader.figures(since=later, limit=10)
    assert page.items == []
    assert page.next_cursor is not None
    assert reader.figures(since=later, limit=10, cursor=page.next_cursor).next_cursor is None
    assert len(all_of(world, limit=7)) == 30


def test_the_command_writes_what_the_api_gives(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from sourcebook_cli import rates

    class Connected:
        table = world.table

        @classmethod
        def connect(cls, *, aws: bool) -> Connected:  # noqa: ARG003 - as Stack.connect
            return cls()

    monkeypatch.setattr(rates, "Stack", Connected)
    path = tmp_path / "figures.csv"
    result = CliRunner().invoke(main, ["rates", "observations", "--source", "other", "--export", str(path)])
    assert result.exit_code == 0, result.output
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * len(BANKS) * len(DAYS)
    assert {row["source_id"] for row in rows} == {"other"}
    shown = CliRunner().invoke(main, ["rates", "observations", "--bank", "VCB", "--until", "2026-01-03"])
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("2026-01-02") == 3 * len(SOURCES)
