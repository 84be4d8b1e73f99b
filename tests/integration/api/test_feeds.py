"""Feeds: one, the list, the history."""

from __future__ import annotations

from typing import Any

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.sources.read import FeedReader
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.keys import Shards
from tests.moto_table import MotoTable
from tests.unit.api.stored import put_source

pytestmark = pytest.mark.integration


@pytest.fixture(params=[Shards(), Shards(8)], ids=["one shard", "eight shards"])
def table(table: Table, request: pytest.FixtureRequest) -> Table:
    return MotoTable(table.name, table.client, shards=request.param)


@pytest.fixture
def reader(table: Table) -> FeedReader:
    return FeedReader(table)


def read_all(reader: FeedReader, limit: int, health: str | None = None) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = reader.page(health=health, limit=limit, cursor=cursor)
        assert len(page.items) <= limit
        found += [feed["feed_id"] for feed in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return found


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_feeds_come_by_the_day_on_which_they_are_due_then_by_id_and_the_disabled_ones_last(
    table: Table, reader: FeedReader, limit: int
) -> None:
    put_source(table, "another-day", "2026-11-28T00:10:00Z")
    put_source(table, "late", "2026-11-27T21:30:00Z")
    put_source(table, "early", "2026-11-27T21:10:00Z")
    put_source(table, "same-day", "2026-11-27T21:20:00Z")
    put_source(table, "rates", "2026-11-27T21:00:00Z", kind="page")
    put_source(table, "gone", "2026-11-27T20:00:00Z", enabled=False)
    put_source(table, "dead", "2026-11-27T20:30:00Z", enabled=False)

    assert read_all(reader, limit) == ["early", "late", "same-day", "another-day", "gone", "dead"]


def test_a_feed_that_is_polled_between_pages_keeps_its_place(table: Table, reader: FeedReader) -> None:
    for name in ("a", "b", "c", "d"):
        put_source(table, name, "2026-11-27T21:00:00Z")
    page = reader.page(limit=2)
    for name in ("a", "b", "d"):
        put_source(table, name, "2026-11-27T21:15:00Z")

    rest = reader.page(limit=10, cursor=page.next_cursor)

    assert [feed["feed_id"] for feed in (*page.items, *rest.items)] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("limit", [1, 2, 100])
@pytest.mark.parametrize(
    ("health", "expected"),
    [("new", ["a", "d"]), ("healthy", ["b"]), ("failing", ["c"]), ("disabled", ["e", "f"])],
)
def test_feeds_are_filtered_by_health(
    table: Table, reader: FeedReader, limit: int, health: str, expected: list[str]
) -> None:
    put_source(table, "a", "2026-11-27T21:01:00Z")
    put_source(table, "b", "2026-11-27T21:02:00Z", last_success_at="2026-11-27T21:00:00Z")
    put_source(
        table, "c", "2026-11-27T21:03:00Z", last_success_at="2026-11-27T21:00:00Z", consecutive_errors=2
    )
    put_source(table, "d", "2026-11-27T21:04:00Z")
    put_source(table, "e", "2026-12-04T21:00:00Z", enabled=False, consecutive_errors=10)
    put_source(table, "f", "2026-12-04T21:01:00Z", enabled=False)

    assert read_all(reader, limit, health) == expected


def test_a_feed_that_leaves_between_pages_costs_no_other_its_place(table: Table, reader: FeedReader) -> None:
    for minute in range(6):
        put_source(table, f"feed-{minute}", f"2026-11-27T21:0{minute}:00Z")
    page = reader.page(limit=2)
    table.delete(keys.source("feed-1"))
    table.delete(keys.source("feed-2"))

    rest = reader.page(limit=10, cursor=page.next_cursor)

    assert [feed["feed_id"] for feed in rest.items] == ["feed-3", "feed-4", "feed-5"]
    assert rest.next_cursor is None


def test_a_cursor_of_another_list_of_feeds_is_refused(table: Table, reader: FeedReader) -> None:
    for name in ("a", "b"):
        put_source(table, name, "2026-11-27T21:00:00Z")
    cursor = reader.page(limit=1).next_cursor
    assert cursor is not None
    for health in ("new", "disabled"):
        with pytest.raises(InvalidInput) as refused:
            reader.page(health=health, limit=1, cursor=cursor)
        assert refused.value.field == "cursor"


def test_a_feed_is_served_with_its_state_and_nothing_internal(table: Table, reader: FeedReader) -> None:
    put_source(
        table,
        "harbor-ledger",
        "2026-11-27T21:15:00Z",
        etag='"x"',
        body_hash="abc",
        last_cause="timeout",
        last_error="no answer within 20 s",
        consecutive_errors=1,
        created_total=5,
    )
    feed = reader.get("harbor-ledger")
    assert feed is not None
    expected = {
        "feed_id": "harbor-ledger",
        "health": "failing",
        "url": "https://harbor-ledger.example/feed",
        "name": "Harbor-Ledger",
        "kind": "feed",
        "next_fetch_time": "2026-11-27T21:15:00Z",
        "last_cause": "timeout",
        "last_error": "no answer within 20 s",
        "consecutive_errors": 1,
        "created_total": 5,
        "last_success_at": None,
        "fetch_count": 0,
    }
    assert {name: feed[name] for name in expected} == expected
    assert not set(feed) & {"PK", "SK", "GSI1PK", "GSI1SK", "etag", "body_hash", "last_modified", "host"}


@pytest.mark.parametrize("feed_id", ["", "nobody", "rates", "x" * 5000, "harbor-ledger#STATE"])
def test_what_is_no_feed_is_not_found(table: Table, reader: FeedReader, feed_id: str) -> None:
    put_source(table, "rates", "2026-11-27T21:00:00Z", kind="page")
    assert reader.get(feed_id) is None
    assert reader.history(feed_id, limit=10) is None


def put_fetch(table: Table, source_id: str, due_at: str, **about: Any) -> None:
    table.put(
        {
            **keys.source_fetch(source_id, due_at),
            "entity_type": "Fetch",
            "source_id": source_id,
            "fetched_at": due_at.replace("Z", ".250Z"),
            "verdict": "changed",
            "cause": "ok",
            "created": 3,
            "ttl_timestamp": 1,
            **about,
        }
    )


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_history_comes_newest_first_page_by_page(table: Table, reader: FeedReader, limit: int) -> None:
    put_source(table, "ledger", "2026-11-27T22:00:00Z")
    put_source(table, "other", "2026-11-27T22:00:00Z")
    times = [f"2026-11-27T21:{minute:02}:00Z" for minute in range(5)]
    for due_at in times:
        put_fetch(table, "ledger", due_at)
    put_fetch(table, "other", "2026-11-27T21:02:30Z")
    table.put({**keys.source_seen("ledger"), "fingerprints": ["a"]})

    found: list[str] = []
    cursor = None
    while True:
        page = reader.history("ledger", limit=limit, cursor=cursor)
        assert page is not None
        found += [fetch["due_at"] for fetch in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert found == times[::-1]


def test_a_fetch_is_served_with_every_field(table: Table, reader: FeedReader) -> None:
    put_source(table, "ledger", "2026-11-27T22:00:00Z")
    put_fetch(table, "ledger", "2026-11-27T21:00:00Z", http_status=200)
    page = reader.history("ledger", limit=10)
    assert page is not None
    (fetch,) = page.items
    assert fetch["due_at"] == "2026-11-27T21:00:00Z"
    assert fetch["http_status"] == 200
    assert fetch["rejections"] is None
    assert not set(fetch) & {"PK", "SK", "entity_type", "ttl_timestamp"}


def test_a_feed_without_history_has_an_empty_one(table: Table, reader: FeedReader) -> None:
    put_source(table, "ledger", "2026-11-27T22:00:00Z")
    page = reader.history("ledger", limit=10)
    assert page is not None
    assert (page.items, page.next_cursor) == ([], None)


def test_a_cursor_of_another_feeds_history_is_refused(table: Table, reader: FeedReader) -> None:
    for name in ("ledger", "other"):
        put_source(table, name, "2026-11-27T22:00:00Z")
        for minute in range(2):
            put_fetch(table, name, f"2026-11-27T21:0{minute}:00Z")
    page = reader.history("ledger", limit=1)
    assert page is not None
    with pytest.raises(InvalidInput) as refused:
        reader.history("other", limit=1, cursor=page.next_cursor)
    assert refused.value.field == "cursor"
