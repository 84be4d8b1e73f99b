from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.records.subject import Subject
from sourcebook.sentiment.cache import CacheCounters, SentimentCache
from sourcebook.sentiment.read import SentimentReader
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.sentiment.windows import PERIODS
from sourcebook.table import keys
from sourcebook.table.client import Table, TableBusy
from tests.incoming import NOON
from tests.integration.sentiment.conftest import World
from tests.integration.sentiment.test_refresh import mention
from tests.moto_table import MotoTable


class WatchedTable(MotoTable):
    """Counts requests, and lets all but those for cache entries fail on demand."""

    def __init__(self, table: Table) -> None:
        super().__init__(table.name, table.client, shards=table.shards)
        self.requests: list[str] = []
        self.failing = False

    def get(self, key: keys.Key, **options: Any) -> Any:
        self._note("get", key)
        return super().get(key, **options)

    def query(self, *arguments: Any, **options: Any) -> Any:
        self._note("query", None)
        return super().query(*arguments, **options)

    def put(self, item: Any, *arguments: Any) -> None:
        self._note("put", item)
        super().put(item, *arguments)

    def update(self, key: keys.Key, **options: Any) -> Any:
        self._note("update", key)
        return super().update(key, **options)

    def _note(self, what: str, key: Any) -> None:
        self.requests.append(what)
        is_entry = key is not None and key["SK"].startswith("CACHE#")
        if self.failing and not (what == "get" and is_entry):
            raise TableBusy("DynamoDB did not answer: ReadTimeoutError")


@pytest.fixture
def watched(world: World) -> WatchedTable:
    for number, hours in enumerate((0.5, 2, 30, 300)):
        mention(world, "quartzon", number, world.now - timedelta(hours=hours), polarity=0.25)
    return WatchedTable(world.table)


@pytest.fixture
def reader(world: World, watched: WatchedTable) -> SentimentReader:
    return SentimentReader.of(watched, world.clock)


def get(reader: SentimentReader, hours: int) -> dict[str, Any]:
    found = reader.sentiment("quartzon", hours)
    assert found is not None
    return found


@pytest.mark.parametrize(("hours", "total"), [(1, 1), (24, 2), (168, 3), (720, 4)])
def test_a_miss_is_computed_and_stored_and_the_next_read_is_one_request(
    world: World, watched: WatchedTable, reader: SentimentReader, hours: int, total: int
) -> None:
    missed = get(reader, hours)
    assert (missed["total_mentions"], missed["is_cached"], missed["is_stale"]) == (total, False, False)
    watched.requests.clear()
    assert get(reader, hours) == missed | {"is_cached": True}
    assert watched.requests == ["get"]


def test_reading_agrees_with_counting_while_hours_are_still_dirty(
    world: World, reader: SentimentReader
) -> None:
    world.refresh()
    world.wait(minutes=3)
    mention(world, "quartzon", 77, world.now - timedelta(minutes=1), "negative", polarity=-1.0)
    SentimentCache(world.table).invalidate("quartzon")
    for hours in (1, 5, 24, 26, 168, 720):
        answer = get(reader, hours)
        wanted = world.counted("quartzon", world.now - timedelta(hours=hours), world.now)
        assert {name: answer[name] for name in wanted} == wanted


def test_other_windows_are_computed_and_not_stored(world: World, reader: SentimentReader) -> None:
    answer = get(reader, 31)
    assert (answer["total_mentions"], answer["is_cached"], answer["cached_at"]) == (3, False, None)
    assert not any(SentimentCache(world.table).get("quartzon", period) for period in PERIODS)


def test_a_stale_entry_is_computed_anew(world: World, reader: SentimentReader) -> None:
    first = get(reader, 24)
    world.wait(minutes=31)
    second = get(reader, 24)
    assert not second["is_cached"]
    assert second["last_updated_ts"] == first["last_updated_ts"] + 31 * 60


def test_a_stale_entry_is_served_and_marked_when_nothing_newer_can_be_computed(
    world: World, watched: WatchedTable, reader: SentimentReader
) -> None:
    first = get(reader, 24)
    world.wait(minutes=31)
    watched.failing = True
    assert get(reader, 24) == first | {"is_cached": True, "is_stale": True}
    watched.failing = False
    assert reader.cache_health()["error_count_24h"] == 1


def test_a_computation_that_fails_is_never_stored(
    world: World, watched: WatchedTable, reader: SentimentReader
) -> None:
    watched.failing = True
    with pytest.raises(TableBusy):
        reader.sentiment("quartzon", 24)
    assert SentimentCache(world.table).get("quartzon", "HOUR_24") is None


@pytest.mark.parametrize("hours", [1, 5, 720])
def test_there_is_nothing_about_a_subject_that_is_not_there(reader: SentimentReader, hours: int) -> None:
    assert reader.sentiment("nobody", hours) is None
    assert reader.series("nobody", hours, "hour") is None


def test_an_invalidated_subject_is_computed_at_the_next_read(world: World, reader: SentimentReader) -> None:
    world.refresh()
    assert get(reader, 24)["is_cached"]
    SentimentCache(world.table).invalidate("quartzon")
    assert not get(reader, 24)["is_cached"]


@pytest.mark.parametrize(("hours", "bucket", "buckets"), [(24, "hour", 25), (1, "hour", 2), (720, "day", 31)])
def test_a_series_has_every_bucket_of_its_time(
    world: World, reader: SentimentReader, hours: int, bucket: str, buckets: int
) -> None:
    found = reader.series("quartzon", hours, bucket)
    assert found is not None
    assert len(found) == buckets
    assert [item["start"] for item in found] == sorted(item["start"] for item in found)
    first = NOON.fromisoformat(found[0]["start"])
    wanted = world.counted("quartzon", first, world.now + timedelta(days=1))
    assert sum(item["total_mentions"] for item in found) == wanted["total_mentions"] > 0


def test_hits_are_counted_in_batches_and_misses_at_once(world: World, watched: WatchedTable) -> None:
    counters = CacheCounters(watched, world.clock)
    for _ in range(9):
        counters.count(hits=1)
    assert "update" not in watched.requests
    counters.count(hits=1)
    assert watched.requests.count("update") == 1
    counters.count(hits=1)
    counters.count(misses=1)
    assert watched.requests.count("update") == 2
    counters.count(hits=1)
    world.wait(seconds=31)
    counters.count(hits=1)
    assert watched.requests.count("update") == 3
    health = SentimentReader.of(world.table, world.clock).cache_health()
    assert (health["cache_hits_24h"], health["cache_misses_24h"]) == (13, 1)
    assert health["cache_hit_rate"] == pytest.approx(13 / 14, abs=1e-4)


def test_counters_that_cannot_be_written_wait_and_fail_nobody(world: World, watched: WatchedTable) -> None:
    counters = CacheCounters(watched, world.clock)
    watched.failing = True
    counters.count(misses=1)
    watched.failing = False
    counters.flush()
    assert SentimentReader.of(world.table, world.clock).cache_health()["cache_misses_24h"] == 1


def test_counts_older_than_a_day_are_forgotten(world: World, reader: SentimentReader) -> None:
    CacheCounters(world.table, world.clock).count(misses=1)
    world.wait(hours=23)
    assert reader.cache_health()["cache_misses_24h"] == 1
    world.wait(hours=1)
    assert reader.cache_health()["cache_misses_24h"] == 0


def test_the_health_of_the_cache_follows_from_the_age_of_the_last_refresh(
    world: World, reader: SentimentReader
) -> None:
    assert reader.cache_health()["status"] == "waiting"
    assert reader.cache_health()["cache_hit_rate"] == 0.0
    world.refresh()
    assert reader.cache_health()["status"] == "healthy"
    world.wait(minutes=31)
    assert reader.cache_health()["status"] == "degraded"


def pages(reader: SentimentReader, limit: int) -> Iterator[Subject]:
    cursor: str | None = None
    while True:
        page = reader.subjects(limit=limit, cursor=cursor)
        assert len(page.items) <= limit
        yield from page.items
        if (cursor := page.next_cursor) is None:
            return


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_subjects_are_listed_page_by_page_the_retired_ones_last(
    world: World, reader: SentimentReader, limit: int
) -> None:
    SubjectRegistry(world.table, world.clock).register(
        [Subject(f"s{n}", f"Subject {n}", active=n % 2 == 0) for n in range(6)]
    )
    found = [item.tool_id for item in pages(reader, limit)]
    assert found == ["MRBL", "quartzon", "s0", "s2", "s4", "s1", "s3", "s5"]


def test_a_cursor_of_another_list_is_refused(reader: SentimentReader) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        reader.subjects(limit=1, cursor="xyz")


def test_fractions_are_fractions_from_the_cache_too(world: World, reader: SentimentReader) -> None:
    names = ("positive_percentage", "negative_percentage", "neutral_percentage", "average_sentiment")
    for tool_id in ("quartzon", "MRBL"):
        computed, cached = (reader.sentiment(tool_id, 24) for _ in range(2))
        assert computed is not None
        assert cached is not None
        assert (computed["is_cached"], cached["is_cached"]) == (False, True)
        for name in names:
            assert type(computed[name]) is type(cached[name]) is float
            assert computed[name] == cached[name]


def test_the_number_of_entries_is_what_there_is(world: World, reader: SentimentReader) -> None:
    assert reader.cache_health()["total_entries"] == 0
    reader.sentiment("quartzon", 24)
    assert reader.cache_health()["total_entries"] == 1
    world.refresh()
    assert reader.cache_health()["total_entries"] == 8
    SentimentCache(world.table).invalidate("MRBL")
    assert reader.cache_health()["total_entries"] == 4
