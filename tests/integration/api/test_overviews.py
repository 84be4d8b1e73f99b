"""The overviews against what is in the table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.observations.best import best_rates, moves
from sourcebook.observations.read import Unknown
from sourcebook.sources.read import FeedReader
from sourcebook.table.client import Table
from tests.integration.observations.memory import MemoryTable as ObservationTable
from tests.integration.observations.world import World
from tests.unit.api.stored import put_source

pytestmark = pytest.mark.integration


def all_sources(table: Table, limit: int, **filters: Any) -> list[dict[str, Any]]:
    rows, cursor = [], None
    for _ in range(50):
        page = FeedReader(table).sources(**filters, limit=limit, cursor=cursor)
        rows += page.items
        if (cursor := page.next_cursor) is None:
            return rows
    raise AssertionError("the list has no end")


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_sources_of_every_kind_are_listed_with_what_they_brought(table: Table, limit: int) -> None:
    put_source(table, "wire", "2026-11-27T22:00:00Z", created_total=7, merged_total=3, fetch_count=2)
    put_source(table, "rates", "2026-11-27T22:01:00Z", kind="html_table", consecutive_errors=2)
    put_source(table, "off", "2026-11-27T22:02:00Z", kind="csv", enabled=False)
    found = all_sources(table, limit)
    assert [(s["source_id"], s["kind"], s["articles"], s["health"]) for s in found] == [
        ("wire", "feed", 10, "new"),
        ("rates", "html_table", 0, "failing"),
        ("off", "csv", 0, "disabled"),
    ]
    assert [s["source_id"] for s in all_sources(table, limit, kind="html_table")] == ["rates"]
    assert [s["source_id"] for s in all_sources(table, limit, health="disabled")] == ["off"]
    assert all_sources(table, limit, kind="feed", health="failing") == []
    assert [f["feed_id"] for f in FeedReader(table).page(limit=10).items] == ["wire"]
    cursor = FeedReader(table).sources(limit=1).next_cursor
    with pytest.raises(InvalidInput, match="cursor"):
        FeedReader(table).page(limit=1, cursor=cursor)


def test_best_rates_are_the_highest_of_deposits_and_the_lowest_of_loans() -> None:
    world = World(ObservationTable())
    world.declare("timo", 1)
    world.scrape(
        "timo",
        datetime(2026, 1, 9, 2, tzinfo=UTC),
        {
            ("A", "deposit_online", "M0006"): 4.5,
            ("B", "deposit_online", "M0006"): 4.75,
            ("C", "deposit_online", "M0006"): 4.75,
            ("A", "deposit_online", "M0012"): 5.0,
            ("A", "home_loan", "-"): 8.0,
            ("B", "home_loan", "-"): 7.5,
        },
    )
    found = best_rates(world.reader)
    assert [(row["series_code"], row["term"], row["rate_pct"], row["banks"]) for row in found] == [
        ("deposit_online", "6M", 4.75, ["B", "C"]),
        ("deposit_online", "12M", 5.0, ["A"]),
        ("home_loan", None, 7.5, ["B"]),
    ]
    assert [row["kind"] for row in best_rates(world.reader, series_code="home_loan")] == ["loan"]
    with pytest.raises(Unknown):
        best_rates(world.reader, series_code="gold")


def test_moves_compare_the_first_and_the_last_figure_of_the_period() -> None:
    world = World(ObservationTable())
    world.declare("timo", 1)
    targets = [
        ("A", "deposit_online", "M0006"),
        ("B", "deposit_online", "M0006"),
        ("C", "deposit_online", "M0012"),
    ]
    for day, figures in (
        (1, (9.0, 9.0, 9.0)),
        (6, (4.5, 4.0, 5.0)),
        (8, (4.75, 4.1, 5.0)),
        (9, (4.25, 4.1, 5.0)),
    ):
        moment = datetime(2026, 1, day, 2, tzinfo=UTC)
        world.scrape("timo", moment, dict(zip(targets, figures, strict=True)))
    # The world's clock says 10 January.
    found = moves(world.reader, series_code="deposit_online", days=5)
    assert [(row["bank_name"], row["term"], row["change_pct"]) for row in found["items"]] == [
        ("A", "6M", -0.25),
        ("B", "6M", 0.1),
    ]
    assert (found["items"][0]["day_before"], found["items"][0]["observed_day"]) == (
        "2026-01-06",
        "2026-01-09",
    )
    longer = moves(world.reader, series_code="deposit_online", days=20)["items"]
    assert [row["change_pct"] for row in longer] == [-4.9, -4.75, -4.0]
    world.scrape("timo", datetime(2026, 1, 9, 2, tzinfo=UTC), {("A", "home_loan", "-"): 8.0})
    assert moves(world.reader, series_code="home_loan", days=5)["items"] == []
    with pytest.raises(Unknown):
        moves(world.reader, series_code="gold", days=5)
