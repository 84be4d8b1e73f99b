"""Roll-ups: how many mentions a subject had in each hour and day, and what they felt.

They are counted again from the mentions, never incremented, so a delivery that comes twice counts once. Which
hours to count again is known by marks that whoever changes a mention writes *before* it does so. A mark is
removed only by a count that began `SETTLE` after it was made: by then the change it announced is long done
and visible in the index, which follows the table with a delay. Until then the hour is counted again each
time, which is how a mark that is made during a count is never lost.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from boto3.dynamodb.conditions import Attr, ConditionBase
from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.clock import Clock, epoch_seconds, isoformat, parse_iso, utc_now
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.sentiment.windows import (
    DAY,
    HOUR,
    HOURS_AT_MOST,
    MINUTE,
    SECOND,
    day_name,
    floor,
    hour_name,
    hour_start,
    pieces,
)
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item

SETTLE: Final = timedelta(minutes=10)
"""Longer than any function here runs, and than an index lags behind."""
KEPT: Final = timedelta(hours=HOURS_AT_MOST) + 2 * DAY
"""How long roll-ups are kept: the longest window reaches them, an article is kept no longer."""

_MILLIONTH: Final = 1_000_000
_MARKS_REMEMBERED: Final = 20_000


@dataclass(frozen=True, slots=True)
class Counts:
    """Mentions, by what they feel.

    Attributes:
        polarity: sum of their polarities in millionths, an integer so that its order cannot matter.
    """

    positive: int = 0
    neutral: int = 0
    negative: int = 0
    polarity: int = 0

    @property
    def total(self) -> int:
        """Return the number of all mentions."""
        return self.positive + self.neutral + self.negative

    @property
    def average(self) -> float:
        """Mean polarity, -1.0 to 1.0; 0.0 where there is none."""
        return round(self.polarity / _MILLIONTH / self.total, 6) if self.total else 0.0

    def numbers(self) -> dict[str, int]:
        """Return how many mentions there are, in all and of each sentiment, as records name them."""
        return {
            "total_mentions": self.total,
            "positive_count": self.positive,
            "neutral_count": self.neutral,
            "negative_count": self.negative,
        }

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.positive + other.positive,
            self.neutral + other.neutral,
            self.negative + other.negative,
            self.polarity + other.polarity,
        )

    @classmethod
    def stored_in(cls, row: Item) -> Counts:
        """Return the counts of a roll-up."""
        return cls(
            row["positive_count"], row["neutral_count"], row["negative_count"], row["polarity_millionths"]
        )

    @classmethod
    def of(cls, mentions: Iterable[Item]) -> Counts:
        """Return the counts of mentions."""
        numbers = {"positive": 0, "neutral": 0, "negative": 0}
        polarity = 0
        for mention in mentions:
            numbers[mention["label"]] += 1
            polarity += round(mention["polarity"] * _MILLIONTH)
        return cls(**numbers, polarity=polarity)


NONE: Final = Counts()


@dataclass(frozen=True, slots=True)
class HourCounts:
    """The mentions of one hour, minute by minute, so that a window may begin and end within it."""

    minutes: Mapping[int, Counts]

    @property
    def total(self) -> Counts:
        """Return the counts of the whole hour."""
        return sum(self.minutes.values(), NONE)

    @classmethod
    def of(cls, mentions: Iterable[Item]) -> HourCounts:
        """Count mentions of one hour."""
        by_minute: dict[int, list[Item]] = defaultdict(list)
        for mention in mentions:
            by_minute[int(mention["timestamp"][14:16])].append(mention)
        return cls({minute: Counts.of(found) for minute, found in sorted(by_minute.items())})

    @classmethod
    def read(cls, text: str) -> HourCounts:
        """Read what `write` wrote."""
        minutes = {}
        for part in filter(None, text.split(";")):
            minute, _, numbers = part.partition(":")
            positive, neutral, negative, polarity = map(int, numbers.split(","))
            minutes[int(minute)] = Counts(positive, neutral, negative, polarity)
        return cls(minutes)

    def write(self) -> str:
        """Return a compact form: sixty minutes in a nested attribute would take eight times the space."""
        return ";".join(
            f"{minute}:{c.positive},{c.neutral},{c.negative},{c.polarity}"
            for minute, c in self.minutes.items()
        )


@dataclass(frozen=True, slots=True)
class DirtyHours:
    """Marks the hours of subjects that have to be counted again.

    A mark stays for at least `SETTLE`, so whoever has made one less than half of that ago need not make it
    again: a busy hour costs one mark every few minutes, not one for each mention.
    """

    table: Table
    clock: Clock = utc_now
    new_token: Callable[[], str] = lambda: uuid.uuid4().hex
    _made: dict[tuple[str, str], datetime] = field(default_factory=dict)

    def mark(self, hours: Iterable[tuple[str, str]]) -> None:
        """Mark hours, given as pairs of subject and name of the hour.

        Hours that no window reaches any more are left out: feeds bring articles that are years old.

        Raises:
            TableBusy: if they cannot be marked now; then the mentions must not be changed.
        """
        now = self.clock()
        oldest = hour_name(now - KEPT)
        wanted = [
            pair for pair in dict.fromkeys(hours) if pair[1] >= oldest and not self._is_fresh(pair, now)
        ]
        self.table.put_many([self._item(tool_id, hour, now) for tool_id, hour in wanted])
        if len(self._made) > _MARKS_REMEMBERED:
            self._made.clear()
        self._made.update(dict.fromkeys(wanted, now))

    def _is_fresh(self, pair: tuple[str, str], now: datetime) -> bool:
        made = self._made.get(pair)
        return made is not None and timedelta() <= now - made < SETTLE / 2

    def _item(self, tool_id: str, hour: str, now: datetime) -> Item:
        return {
            **keys.dirty_hour(tool_id, hour),
            "entity_type": "DirtyHour",
            "schema_version": SCHEMA_VERSION,
            "hour": hour,
            "token": self.new_token(),
            "marked_at": isoformat(now),
            "ttl_timestamp": epoch_seconds(max(now, hour_start(hour)) + KEPT),
        }


@dataclass(slots=True)
class Ledger:
    """A subject's counts as they are now: roll-ups, and what has changed since they were made.

    Nothing is written by reading from it; `settle` writes what was counted again.

    Attributes:
        now: the present moment; windows end no later.
    """

    table: Table
    tool_id: str
    now: datetime
    _days: dict[str, Counts] = field(default_factory=dict)
    _marks: list[Item] = field(default_factory=list)
    _counted: dict[str, HourCounts] = field(default_factory=dict)
    _hours: dict[str, dict[str, HourCounts]] = field(default_factory=dict)

    @classmethod
    def open(cls, table: Table, tool_id: str, now: datetime, *, hours: int = HOURS_AT_MOST) -> Ledger:
        """Read a subject's days and marks, and count its dirty hours.

        Args:
            table: where they are.
            tool_id: the subject.
            now: the present moment.
            hours: how far back it will be asked.

        Raises:
            TableBusy: if the table is not able to answer now.
        """
        ledger = cls(table, tool_id, now)
        ledger._read(floor(now - hours * HOUR, DAY))
        return ledger

    def window(self, start: datetime, end: datetime) -> Counts:
        """Count the mentions of [start, end), both whole seconds."""
        total = NONE
        for first, stop in pieces(start, end, DAY):
            if stop - first == DAY:
                total += self._days.get(day_name(first), NONE)
            else:
                total = sum((self._within_hour(*piece) for piece in pieces(first, stop, HOUR)), total)
        return total

    def settle(self) -> int:
        """Write the roll-ups that were counted again and remove the marks that are settled.

        Returns:
            How many hours were counted again.
        """
        hours = [
            self._item(keys.hour_rollup(self.tool_id, hour), "HourRollup", counts.total, hour)
            | {"minutes": counts.write()}
            for hour, counts in self._counted.items()
        ]
        days = [
            self._item(
                keys.day_rollup(self.tool_id, day), "DayRollup", self._days.get(day, NONE), f"{day}T00"
            )
            for day in dict.fromkeys(hour[:10] for hour in self._counted)
        ]
        self.table.put_many(hours)
        self.table.put_many(days)
        for mark in self._marks:
            if parse_iso(mark["marked_at"]) + SETTLE <= self.now:
                with suppress(ConditionFailed):  # it was made anew, or is gone
                    self.table.delete(keys.key_of(mark), Attr("token").eq(mark["token"]))
        return len(self._counted)

    def _read(self, since: datetime) -> None:
        # The days, then the marks: neighbours in the order of the sort key.
        first = keys.day_rollup(self.tool_id, day_name(since))
        for row in self._rows(first, keys.dirty_hour(self.tool_id, "~")):
            if row["SK"].startswith(keys.DAY_PREFIX):
                self._days[row["SK"].removeprefix(keys.DAY_PREFIX)] = Counts.stored_in(row)
            else:
                self._marks.append(row)
        oldest = hour_name(since)
        dirty = sorted(mark["hour"] for mark in self._marks if mark["hour"] >= oldest)
        for run in _runs(dirty):
            self._count(run)
        for day in {hour[:10] for hour in dirty}:
            self._days[day] = sum((hour.total for hour in self._hours_of(day).values()), NONE)

    def _count(self, hours: list[str]) -> None:
        """Count consecutive hours in one query."""
        found: dict[str, list[Item]] = {hour: [] for hour in hours}
        for mention in self._mentions(hour_start(hours[0]), hour_start(hours[-1]) + HOUR):
            found[mention["timestamp"][:13]].append(mention)
        self._counted |= {hour: HourCounts.of(mentions) for hour, mentions in found.items()}

    def _within_hour(self, start: datetime, end: datetime) -> Counts:
        hour = self._hours_of(day_name(start)).get(hour_name(start))
        if hour is None:
            return NONE
        if end - start == HOUR:
            return hour.total
        total = NONE
        for first, stop in pieces(start, end, MINUTE):
            counts = hour.minutes.get(first.minute, NONE)
            if counts.total and stop - first < MINUTE:
                counts = Counts.of(self._mentions(first, stop))
            total += counts
        return total

    def _hours_of(self, day: str) -> dict[str, HourCounts]:
        if day not in self._hours:
            counted = {hour: counts for hour, counts in self._counted.items() if hour[:10] == day}
            stored: dict[str, HourCounts] = {}
            if day in self._days:
                first, last = (keys.hour_rollup(self.tool_id, f"{day}T{hour}") for hour in ("00", "23"))
                stored = {
                    row["SK"].removeprefix(keys.HOUR_PREFIX): HourCounts.read(row["minutes"])
                    for row in self._rows(first, last)
                }
            self._hours[day] = stored | counted
        return self._hours[day]

    def _mentions(self, start: datetime, end: datetime) -> Iterator[Item]:
        within = KeyCondition("timestamp").between(isoformat(start), isoformat(end - SECOND))
        return mentions_of(self.table, self.tool_id, within)

    def _rows(self, first: keys.Key, last: keys.Key) -> Iterator[Item]:
        """Yield the subject's own items from one key to another, both included."""
        return self.table.query_all(
            KeyCondition("PK").eq(first["PK"]) & KeyCondition("SK").between(first["SK"], last["SK"])
        )

    def _item(self, key: keys.Key, kind: str, counts: Counts, first_hour: str) -> Item:
        return {
            **key,
            "entity_type": kind,
            "schema_version": SCHEMA_VERSION,
            "tool_id": self.tool_id,
            **counts.numbers(),
            "polarity_millionths": counts.polarity,
            "ttl_timestamp": epoch_seconds(hour_start(first_hour) + KEPT),
        }


def mentions_of(table: Table, tool_id: str, within: ConditionBase) -> Iterator[Item]:
    """Yield label, polarity and timestamp of a subject's mentions within a time, in its order."""
    found = table.query_all(
        KeyCondition("tag").eq(tool_id) & within,
        index=keys.TAG_INDEX,
        attributes=("label", "polarity", "timestamp"),
    )
    return (item for item in found if "label" in item)


def _runs(hours: Iterable[str]) -> Iterator[list[str]]:
    """Yield runs of consecutive hours."""
    run: list[str] = []
    for hour in hours:
        if run and hour_start(hour) - hour_start(run[-1]) != HOUR:
            yield run
            run = []
        run.append(hour)
    if run:
        yield run
