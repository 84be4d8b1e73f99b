"""Roll-ups and cached sentiment, held against a count of every single mention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.integrity.model import Check, IntegrityFinding, is_of
from sourcebook.records.subject import SentimentCacheEntry
from sourcebook.sentiment.cache import broken_rule, sentiment_of
from sourcebook.sentiment.rollups import NONE, Counts, DirtyHours, HourCounts, mentions_of
from sourcebook.sentiment.windows import (
    DAY,
    HOUR,
    HOURS_AT_MOST,
    PERIODS,
    day_name,
    floor,
    hour_name,
    hour_of,
    hour_start,
)
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item


def _active(items: Sequence[Item]) -> Iterator[Item]:
    """Yield the subjects whose counts are kept up to date; those of a retired one stay as they were."""
    return (item for item in items if is_of(item, "Tool") and item.get("active", True))


def _kept(now: datetime) -> datetime:
    """Return since when every mention is still there: an article, and so its mentions, may expire before."""
    return now - HOURS_AT_MOST * HOUR


def _mentions(table: Table, tool_id: str, since: datetime) -> Iterator[Item]:
    """Yield what is counted of a subject's mentions since then, in the order of time."""
    return mentions_of(table, tool_id, KeyCondition("timestamp").gte(isoformat(since)))


def _rows(table: Table, tool_id: str, prefix: str) -> dict[str, Item]:
    """Return the items of a subject whose sort keys begin so, by what follows."""
    found = table.items_of(keys.subject(tool_id)["PK"], prefix, consistent=True)
    return {item["SK"].removeprefix(prefix): item for item in found}


@dataclass(frozen=True, slots=True)
class RollupsAgreeWithMentions(Check):
    """A subject's count of an hour or day that is not marked dirty is that of its mentions.

    Hours from which mentions may have expired are not judged: what was counted then is right still.
    """

    table: Table
    clock: Clock = utc_now
    name = "rollups"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield roll-ups that are wrong or missing, subject by subject."""
        for subject in _active(items):
            yield from self._subject(subject)

    def _subject(self, subject: Item) -> Iterator[IntegrityFinding]:
        tool_id = subject["tool_id"]
        first_hour = floor(_kept(self.clock()), HOUR) + HOUR
        first_day = day_name(floor(first_hour - HOUR, DAY) + DAY)
        hours = _rows(self.table, tool_id, keys.HOUR_PREFIX)
        days = _rows(self.table, tool_id, keys.DAY_PREFIX)
        counted, by_day = self._count(tool_id, first_hour)
        # The marks last: a mention that came while these were read has its mark by now.
        dirty = set(_rows(self.table, tool_id, keys.DIRTY_PREFIX))
        dirty_days = {hour[:10] for hour in dirty}
        for hour in sorted({*counted, *hours}):
            if hour >= hour_name(first_hour) and hour not in dirty:
                expected = counted.get(hour, HourCounts({}))
                problem = _disagreement(hours.get(hour), expected.total, expected.write())
                if problem:
                    key = keys.hour_rollup(tool_id, hour)
                    yield self.found(key, problem, about=subject)
        for day in sorted({*by_day, *days}):
            if day >= first_day and day not in dirty_days:
                problem = _disagreement(days.get(day), by_day.get(day, NONE))
                if problem:
                    key = keys.day_rollup(tool_id, day)
                    yield self.found(key, problem, about=subject)

    def _count(self, tool_id: str, since: datetime) -> tuple[dict[str, HourCounts], dict[str, Counts]]:
        hours: dict[str, HourCounts] = {}
        days: dict[str, Counts] = {}
        mentions = _mentions(self.table, tool_id, since)
        for hour, found in groupby(mentions, key=lambda mention: hour_of(mention["timestamp"])):
            hours[hour] = HourCounts.of(found)
            days[hour[:10]] = days.get(hour[:10], NONE) + hours[hour].total
        return hours, days

    def repair(self, finding: IntegrityFinding) -> bool:
        """Mark the hour, or all hours of the day, so that the next refresh counts them again."""
        tool_id = finding.key["PK"].removeprefix(keys.subject("")["PK"])
        sort_key = finding.key["SK"]
        if sort_key.startswith(keys.HOUR_PREFIX):
            hours = [sort_key.removeprefix(keys.HOUR_PREFIX)]
        else:
            day = sort_key.removeprefix(keys.DAY_PREFIX)
            hours = [f"{day}T{hour:02}" for hour in range(24)]
        DirtyHours(self.table, self.clock).mark((tool_id, hour) for hour in hours)
        return True


def _disagreement(row: Item | None, expected: Counts, minutes: str | None = None) -> str:
    if row is None:
        return f"there is none, and the subject has {expected.total} mentions then" if expected.total else ""
    stored = Counts.stored_in(row)
    if stored != expected:
        return f"it has {_described(stored)}, and a count of the mentions {_described(expected)}"
    if row["total_mentions"] != stored.total:
        return f"total_mentions is {row['total_mentions']}, and the sum of its counts {stored.total}"
    if minutes is not None and row["minutes"] != minutes:
        return "its minutes are not those of the mentions"
    return ""


def _described(counts: Counts) -> str:
    return (
        f"{counts.positive} positive, {counts.neutral} neutral and {counts.negative} negative ones, "
        f"polarity {counts.polarity} millionths"
    )


@dataclass(slots=True)
class _Window:
    """A cached entry, and the mentions of the window that it states."""

    entry: SentimentCacheEntry
    key: keys.Key
    start: str
    end: str
    counts: Counts = field(default=NONE)

    @classmethod
    def of(cls, entry: SentimentCacheEntry, key: keys.Key) -> _Window:
        start, end = (
            datetime.fromtimestamp(moment, UTC) for moment in (entry.period_start_ts, entry.period_end_ts)
        )
        return cls(entry, key, isoformat(start), isoformat(end))

    def wrong(self) -> str:
        """Return in words which figures are not those of the mentions."""
        moment = datetime.fromtimestamp(self.entry.period_end_ts, UTC)
        wanted = sentiment_of(self.entry.tool_id, self.counts, moment, moment).figures()
        stored = self.entry.figures()
        return ", ".join(
            f"{name} {stored[name]} instead of {wanted[name]}"
            for name in wanted
            if stored[name] != wanted[name]
        )

    def is_dirty(self, hours: Mapping[str, Item]) -> bool:
        """Whether an hour of it is to be counted again, so that nobody says that it is right now."""
        return any(
            isoformat(hour_start(hour)) < self.end and isoformat(hour_start(hour) + HOUR) > self.start
            for hour in hours
        )


@dataclass(frozen=True, slots=True)
class CacheAgreesWithMentions(Check):
    """A cached entry has the counts of the mentions in exactly the window that it states.

    Not judged is a window that touches a dirty hour: its entry is made anew with the next refresh.
    """

    table: Table
    clock: Clock = utc_now
    name = "sentiment-cache"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield entries that are wrong, subject by subject."""
        for subject in _active(items):
            yield from self._subject(subject)

    def _subject(self, subject: Item) -> Iterator[IntegrityFinding]:
        tool_id = subject["tool_id"]
        now = self.clock()
        cached: Any = (keys.cache_entry(tool_id, period) for period in PERIODS)
        windows: list[_Window] = []
        for item in self.table.batch_get(cached, consistent=True):
            entry = SentimentCacheEntry.of_item(item)
            if rule := broken_rule(entry, now):
                yield self.found(keys.key_of(item), rule, about=subject)
            else:
                windows.append(_Window.of(entry, keys.key_of(item)))
        if not windows:
            return
        first = datetime.fromisoformat(min(window.start for window in windows))
        for mention in _mentions(self.table, tool_id, first):
            one = Counts.of([mention])
            for window in windows:
                if window.start <= mention["timestamp"] < window.end:
                    window.counts += one
        dirty = _rows(self.table, tool_id, keys.DIRTY_PREFIX)
        for window in windows:
            wrong = window.wrong()
            gone = window.entry.total_mentions - window.counts.total
            may_have_expired = gone > 0 and window.start < isoformat(_kept(now))
            if wrong and not may_have_expired and not window.is_dirty(dirty):
                problem = f"of the mentions from {window.start} to before {window.end} it says {wrong}"
                yield self.found(window.key, problem, about=subject)

    def repair(self, finding: IntegrityFinding) -> bool:
        """Delete the entry: it is computed when it is next asked for, and by the next refresh."""
        entry = self.table.get(finding.key, consistent=True)
        if entry is not None:
            self.table.delete(finding.key, Attr("last_updated_ts").eq(entry["last_updated_ts"]))
        return True
