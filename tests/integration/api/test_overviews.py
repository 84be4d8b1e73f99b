"""The overviews against what is in the table."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from sourcebook.api.ingestion import DeadLetters, QueueBusy
from sourcebook.articles.batch import Run, batch_key, ingestion_batch
from sourcebook.articles.overview import IngestionOverview
from sourcebook.clock import isoformat
from sourcebook.errors import InvalidInput
from sourcebook.observations.best import best_rates, moves
from sourcebook.observations.read import Unknown
from sourcebook.sources.poll import RoundReport
from sourcebook.sources.read import FeedReader
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.integration.observations.memory import MemoryTable as ObservationTable
from tests.integration.observations.world import World
from tests.unit.api.stored import article_item, key, put_article, put_source

pytestmark = pytest.mark.integration


def all_sources(table: Table, limit: int, **filters: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    cursor = None
    for _ in range(50):
        page = FeedReader(table).sources(**filters, limit=limit, cursor=cursor)
        rows += page.items
        if (cursor := page.next_cursor) is None:
            return rows
    raise AssertionError("the list has no end")


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_sources_of_every_kind_are_listed_with_what_they_brought(table: Table, limit: int) -> None:
    put_source(table, "wire", "2026-11-27T22:00:00Z", created_total=7, merged_total=3, fetch_count=2)
    put_source(table, "rates", "2026-11-28T00:01:00Z", kind="html_table", consecutive_errors=2)
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


NOW = datetime(2026, 11, 27, 22, tzinfo=UTC)


def test_sources_are_ranked_by_what_they_brought_how_old_it_was_and_how_slow_they_are(table: Table) -> None:
    put_source(table, "wire", "2026-11-27T22:00:00Z", last_success_at="2026-11-27T21:00:00Z")
    put_source(table, "slow", "2026-11-27T22:01:00Z", consecutive_errors=2)
    put_source(table, "off", "2026-11-27T22:02:00Z", kind="csv", enabled=False)
    for number, (source, hours, minutes) in enumerate(
        [("wire", 1, 10), ("wire", 2, 20), ("slow", 3, 90), ("wire", 30, 1)]
    ):
        published = NOW - timedelta(hours=hours)
        word = {
            "published_at": isoformat(published),
            "crawl_timestamp": isoformat(published + timedelta(minutes=minutes)),
        }
        item = article_item(key(number), published, status="analyzed", sentiment="neutral")
        put_article(table, item | {"source_attribution": {source: word}})
    for source, hours, took, message in (
        ("wire", 1, 200, None),
        ("wire", 2, 400, None),
        ("slow", 1, 6_000, "HTTP 503"),
        ("slow", 30, 90_000, None),
    ):
        due = isoformat(NOW - timedelta(hours=hours))
        fetch = {"verdict": "changed", "duration_ms": took, "message": message}
        table.put({**keys.source_fetch(source, due), **fetch})
    overview = IngestionOverview(table, lambda: NOW)
    found = overview.sources(24, "articles")
    assert (found["start"], found["left_out"]) == ("2026-11-26T22:00:00Z", False)
    shown = (
        "source_id",
        "health",
        "articles",
        "mean_age_seconds",
        "fetches",
        "errors",
        "mean_fetch_ms",
        "slow",
    )
    assert [tuple(row[name] for name in shown) for row in found["items"]] == [
        ("wire", "healthy", 2, 900, 2, 0, 300, False),
        ("slow", "failing", 1, 5_400, 1, 1, 6_000, True),
        ("off", "disabled", 0, None, 0, 0, None, False),
    ]
    for order, first in (("age", "slow"), ("slowest", "slow"), ("errors", "slow")):
        assert overview.sources(24, order)["items"][0]["source_id"] == first
    assert overview.sources(48, "articles")["items"][0]["articles"] == 3


def test_the_runs_of_ingestion_are_counted_with_their_collisions(table: Table) -> None:
    for hours, fetched, stored, merged in (
        (1, {"a": 8, "b": 2}, 7, 3),
        (20, {"a": 10}, 10, 0),
        (30, {"a": 9}, 9, 0),
    ):
        started = NOW - timedelta(hours=hours)
        run = Run(f"batch-{hours}", "invocation", started, started + timedelta(seconds=2))
        batch = ingestion_batch(RoundReport([], [], [], [("c", ValueError("no"))]), run)
        assert batch is not None
        item = batch.to_item(batch_key(batch))
        metrics = item["metrics"] | {
            "articles_fetched": fetched,
            "articles_stored": stored,
            "collisions_detected": merged,
        }
        table.put({**item, "metrics": metrics})
    found = IngestionOverview(table, lambda: NOW).batches(24)
    assert [row["batch_id"] for row in found["items"]] == ["batch-1", "batch-20"]
    assert (found["batches"], found["articles_fetched"], found["articles_stored"]) == (2, 20, 17)
    assert (found["collisions_detected"], found["collision_rate"], found["left_out"]) == (3, 0.15, False)
    assert found["items"][0]["errors"] == ["c: ValueError: no"]
    assert found["items"][0]["duration_ms"] == 2_000
    assert IngestionOverview(table, lambda: NOW + timedelta(days=9)).batches(1)["collision_rate"] is None


def test_dead_letters_are_counted_by_queue(aws: None) -> None:
    sqs = boto3.client("sqs")
    urls = {name: sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("group", "analyze")}
    sqs.send_message(QueueUrl=urls["analyze"], MessageBody="x")
    letters = DeadLetters.from_environment(sqs, {"DEAD_LETTER_QUEUES": json.dumps(urls)})
    assert letters.waiting() == [
        {"queue": "analyze", "messages": 1, "mend": "sourcebook redrive analyze"},
        {"queue": "group", "messages": 0, "mend": "sourcebook redrive group"},
    ]
    assert DeadLetters.from_environment(sqs, {}).waiting() == []
    with pytest.raises(InvalidInput, match="DEAD_LETTER_QUEUES"):
        DeadLetters.from_environment(sqs, {"DEAD_LETTER_QUEUES": "[1]"})
    sqs.delete_queue(QueueUrl=urls["group"])
    with pytest.raises(QueueBusy):
        letters.waiting()
