from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.records.subject import Subject
from sourcebook.sentiment.cache import SentimentCache
from sourcebook.sentiment.catalog import SubjectCatalog
from sourcebook.sentiment.refresh import Refresher, RefreshFailed, read_refresh_request
from sourcebook.sentiment.rollups import DirtyHours
from sourcebook.sentiment.subjects import RegistrationOutcome, SubjectRegistry
from sourcebook.sentiment.windows import PERIODS
from sourcebook.table import keys
from sourcebook.table.client import Table, TableBusy
from tests.integration.sentiment.conftest import SUBJECTS, World


def mention(
    world: World, tool_id: str, number: int, at: datetime, label: str = "positive", *, polarity: float = 0.5
) -> None:
    """Put a mention straight into the table, with its mark, as analysis does."""
    timestamp = f"{at:%Y-%m-%dT%H:%M:%SZ}"
    DirtyHours(world.table, world.clock).mark([(tool_id, timestamp[:13])])
    world.table.put(
        {
            **keys.article_tag(f"{number:032x}", tool_id),
            "tag": tool_id,
            "timestamp": timestamp,
            "label": label,
            "polarity": polarity,
        }
    )


def test_windows_begin_and_end_to_the_second(world: World) -> None:
    edges = [world.now - timedelta(hours=hours) for hours in PERIODS.values()]
    moments = [edge + timedelta(seconds=s) for edge in (*edges, world.now) for s in (-61, -1, 0, 1, 59)]
    labels = ("positive", "negative", "neutral")
    for number, moment in enumerate(moments):
        mention(world, "quartzon", number, moment, labels[number % 3], polarity=0.1 * (number % 7) - 0.3)
    report = world.refresh()
    assert report.hours > 0
    world.check_cache()
    entry = SentimentCache(world.table).get("quartzon", "HOUR_1")
    assert entry is not None
    assert entry.total_mentions == 5  # three at its beginning, two before its end


def test_an_entry_slides_along_without_anything_being_counted_again(world: World) -> None:
    for number in range(12):
        at = world.now - timedelta(minutes=13 * number, seconds=7)
        mention(world, "quartzon", number, at)
    world.refresh()
    world.wait(minutes=20)
    world.refresh()  # the marks are old now, and go
    for minutes in (31, 47, 95):
        world.wait(minutes=minutes)
        assert world.refresh().hours == 0
        world.check_cache()


def test_a_subject_without_mentions_has_zeros(world: World) -> None:
    world.refresh()
    for period in PERIODS:
        entry = SentimentCache(world.table).get("MRBL", period)
        assert entry is not None
        assert entry.total_mentions == 0
        assert entry.positive_percentage == entry.neutral_percentage == entry.average_sentiment == 0.0


class Unreadable(Table):
    """A table that does not answer for one subject."""

    def __init__(self, table: Table, tool_ids: set[str]) -> None:
        super().__init__(table.name, table.client, shards=table.shards)
        self.partitions = {keys.subject(tool_id)["PK"] for tool_id in tool_ids}

    def query_all(self, condition: Any, **options: Any) -> Any:
        parts: list[dict[str, Any]] = [
            getattr(part, "get_expression", dict)() for part in condition.get_expression()["values"]
        ]
        if any(self.partitions.intersection(map(str, part.get("values", ()))) for part in parts):
            raise TableBusy("DynamoDB: ThrottlingException: try again later")
        return super().query_all(condition, **options)


def test_a_subject_that_fails_keeps_its_entries_and_harms_no_other(world: World) -> None:
    world.refresh()
    before = SentimentCache(world.table).get("quartzon", "HOUR_24")
    world.wait(minutes=15)
    report = world.refresh(Unreadable(world.table, {"quartzon"}))
    assert report.refreshed == ["MRBL"]
    assert "ThrottlingException" in report.failed["quartzon"]
    assert SentimentCache(world.table).get("quartzon", "HOUR_24") == before
    health = SentimentCache(world.table, world.clock).health()
    assert (health.error_count_24h, health.tools_refreshed) == (1, ("MRBL",))


def test_a_refresh_in_which_all_fail_fails(world: World) -> None:
    with pytest.raises(RefreshFailed, match="none of 2"):
        world.refresh(Unreadable(world.table, {"quartzon", "MRBL"}))
    assert SentimentCache(world.table, world.clock).health().last_refresh_ts is None


def test_what_there_was_no_time_for_comes_first_next_time(world: World) -> None:
    left = iter([100.0, 1.0])
    hurried = Refresher(world.table, world.clock, workers=1, seconds_left=lambda: next(left))
    assert (first := hurried.run()).left == 1
    again = iter([100.0, 1.0])
    second = Refresher(world.table, world.clock, workers=1, seconds_left=lambda: next(again)).run()
    assert {*first.refreshed, *second.refreshed} == {"quartzon", "MRBL"}


def test_a_refresh_records_what_it_did(world: World) -> None:
    world.refresh()
    health = SentimentCache(world.table, world.clock).health()
    assert health.id == "metadata"
    assert health.last_refresh_ts == int(world.now.timestamp())
    assert (health.last_refresh_duration_ms or 0) >= 0
    assert health.total_entries == 8
    assert health.tools_refreshed == ("MRBL", "quartzon")


def test_a_newer_entry_is_not_replaced_by_an_older_one(world: World) -> None:
    cache = SentimentCache(world.table, world.clock)
    world.refresh()
    newer = cache.get("quartzon", "HOUR_1")
    assert newer is not None
    older = replace(newer, last_updated_ts=newer.last_updated_ts - 5, total_mentions=7)
    assert cache.put(older) == newer
    assert cache.get("quartzon", "HOUR_1") == newer


@pytest.mark.parametrize("tool_ids", ["a", [7], ["a#b"], None])
def test_a_refresh_of_what_is_no_list_of_ids_is_refused(tool_ids: Any) -> None:
    with pytest.raises(InvalidInput, match="tool_ids"):
        read_refresh_request({"tool_ids": tool_ids})


def test_the_schedules_event_means_all_subjects() -> None:
    assert read_refresh_request({"source": "aws.events"}) is None
    assert read_refresh_request({"tool_ids": ["a", "a"]}) == ["a"]


def test_subjects_are_added_changed_and_retired(world: World) -> None:
    registry = SubjectRegistry(world.table, world.clock)
    catalog = SubjectCatalog(registry)
    assert catalog.current().ids == {"quartzon", "MRBL"}
    changed = Subject("quartzon", "Quartzon", "tool", aliases=("Quartzon Studio",))
    retired = Subject("MRBL", "Marbleton", "company", ticker="MRBL", active=False)
    outcome = registry.register([changed, retired, Subject("new", "Newfield")])
    assert outcome == {
        "quartzon": RegistrationOutcome.CHANGED,
        "MRBL": RegistrationOutcome.CHANGED,
        "new": RegistrationOutcome.ADDED,
    }
    assert registry.register([changed]) == {"quartzon": RegistrationOutcome.UNCHANGED}
    assert list(registry.list_ids()) == ["new", "quartzon"]
    assert list(registry.list_ids(active=False)) == ["MRBL"]
    assert registry.get_many(["quartzon"]) == {"quartzon": changed}
    assert catalog.current().ids == {"quartzon", "new"}


def test_the_list_of_subjects_is_read_again_once_the_index_shows_all_of_it(world: World) -> None:
    registry = SubjectRegistry(world.table, world.clock)
    catalog = SubjectCatalog(registry)
    registry.register(SUBJECTS)
    early = catalog.current()
    assert catalog.current() is early
    world.wait(minutes=2)
    late = catalog.current()
    assert late is not early
    assert catalog.current() is late


def test_entries_that_a_refresh_has_not_reached_are_counted_too(world: World) -> None:
    world.refresh()
    left = iter([100.0, 1.0])
    Refresher(world.table, world.clock, workers=1, seconds_left=lambda: next(left)).run()
    assert SentimentCache(world.table, world.clock).health().total_entries == 8
