"""How much is read and answered: one Query for /latest, ten years of history below a megabyte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sourcebook.observations import read
from sourcebook.table import keys
from sourcebook.table.client import QueryPage
from tests.integration.observations.memory import MemoryTable
from tests.integration.observations.world import World, spec

TARGET = ("VCB", "deposit_online", "M0006")
PAGE = 1_000_000


class CountedTable(MemoryTable):
    """Counts the reads, and ends a page at a megabyte as DynamoDB does."""

    def __init__(self) -> None:
        super().__init__()
        self.queries = 0

    def query(self, condition: Any, **options: Any) -> QueryPage:
        self.queries += 1
        page = super().query(condition, **options)
        weight = 0
        for number, item in enumerate(page.items):
            weight += len(json.dumps(item))
            if weight > PAGE:
                last = page.items[number - 1]
                return QueryPage(page.items[:number], {"PK": last["PK"], "SK": last["SK"]})
        return page


def ten_years(table: MemoryTable, sources: int, days: int = 3653) -> None:
    begin = datetime(2016, 1, 6, 2, tzinfo=UTC)
    for day in range(days):
        moment = begin + timedelta(days=day)
        for number in range(sources):
            seen = (
                (moment + timedelta(hours=number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            )
            source_id = f"source-{number}"
            item: Mapping[str, object] = {
                **keys.observation(*TARGET, f"{moment:%Y-%m-%d}", source_id),
                "entity_type": "Observation",
                "schema_version": "2",
                "source_id": source_id,
                "observed_day": f"{moment:%Y-%m-%d}",
                "first_seen_at": seen,
                "last_seen_at": seen,
                "sequence": day * 10 + number,
                "rate_pct": 4.25 + number / 100,
                "rate_min_pct": 4.15 + number / 100,
                "rate_max_pct": 4.35 + number / 100,
                "raw_value": "từ 4,15 đến 4,35 %/năm",
                "snapshot": "0123456789abcdef",
            }
            # As it would come back, without the cost of writing eleven thousand items one by one.
            table.items[str(item["PK"]), str(item["SK"])] = dict(item)


def test_ten_years_of_one_bank_and_term_from_three_sources_are_one_answer_below_a_megabyte() -> None:
    table = CountedTable()
    world = World(table)
    for number in range(3):
        world.declare(f"source-{number}", 3 - number)
    world.scrape("source-0", datetime(2026, 1, 6, 2, tzinfo=UTC), {TARGET: 4.25})
    ten_years(table, 3)
    table.queries = 0

    answer = world.reader.history(bank_name="VCB", series_code="deposit_online", term_months="6")

    assert len(answer["items"]) == 3653 + 1
    assert answer["next_cursor"] is None
    assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()) < PAGE
    assert table.queries <= 6
    assert {point["source_id"] for point in answer["items"][:-1]} == {"source-2"}
    world.sql.close()


def test_a_longer_history_is_paged_without_a_day_twice_or_lost(monkeypatch: Any) -> None:
    monkeypatch.setattr(read, "MOST_POINTS", 40)
    table = CountedTable()
    world = World(table)
    for number in range(2):
        world.declare(f"source-{number}", number)
    world.scrape("source-0", datetime(2016, 1, 6, 2, tzinfo=UTC), {TARGET: 4.25})
    ten_years(table, 2, days=100)
    days: list[str] = []
    cursor: str | None = None
    while True:
        page = world.reader.history(
            bank_name="VCB", series_code="deposit_online", term_months="6", cursor=cursor
        )
        days += [point["observed_day"] for point in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert len(days) == len(set(days)) == 100
    assert days == sorted(days)
    world.sql.close()


def test_latest_of_one_series_is_one_query_and_goes_on_where_a_page_of_dynamodb_ends() -> None:
    table = CountedTable()
    world = World(table)
    world.sources.declare(spec("timo", 1))
    banks = {(f"Bank {n:04}", "deposit_online", "M0006"): 4.5 for n in range(40)}
    world.scrape("timo", datetime(2026, 1, 6, tzinfo=UTC), banks)
    table.queries = 0
    assert len(world.reader.latest(series_code="deposit_online").items) == 40
    assert table.queries == 1

    global PAGE  # noqa: PLW0603 - the tests of this module run one after the other
    before, PAGE = PAGE, 5_000
    try:
        names = [row[0] for row in world.latest()]
    finally:
        PAGE = before
    assert names == sorted(bank for bank, _, _ in banks)
    world.sql.close()
