"""The sentiment cache: a subject's sentiment in each period, computed ahead so that one read answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import Clock, epoch_seconds, utc_now
from sourcebook.errors import InvalidInput, SourcebookError, Terminal
from sourcebook.messages import TaskRequest, TaskResult
from sourcebook.records.subject import CacheMetadata, SentimentCacheEntry
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.sentiment.rollups import Counts, Ledger
from sourcebook.sentiment.windows import DAY, HOUR, PERIODS, SECOND, floor, hour_name
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table

TTL: Final = timedelta(minutes=30)
"""An entry is stale when it is older. It stays, to be served when no newer one can be computed."""

_TENTHS: Final = 1_000
_FLUSH_AFTER: Final = 10
_FLUSH_EVERY: Final = timedelta(seconds=30)
_COUNTERS_KEPT: Final = 3 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalidated(TaskResult):
    """The subject whose entries are gone; the next read computes them."""

    invalidated: str

    def log_fields(self) -> Mapping[str, object]:
        """Return the fields that the log has of this result."""
        return {"tool_id": self.invalidated}


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidateSentiment(TaskRequest):
    """Asks for what is cached of a subject to be deleted."""

    function = "invalidate_sentiment"
    results = (Invalidated,)
    tool_id: str


class InvalidCacheEntry(Terminal):
    """A computed entry breaks a rule of the data model; it is not stored."""


def percentages(counts: Counts) -> tuple[float, float, float]:
    """Return the percentages of positive, negative and neutral mentions, with one decimal.

    They sum to 100.0 exactly, by the largest-remainder method: each is cut to a tenth, and the tenths that
    are left go to those that lost most; of equals, the one with more mentions, then positive before negative
    before neutral. Without mentions all are 0.0.
    """
    numbers = (counts.positive, counts.negative, counts.neutral)
    if not counts.total:
        return 0.0, 0.0, 0.0
    shares = [divmod(number * _TENTHS, counts.total) for number in numbers]
    tenths = [whole for whole, _ in shares]
    by_loss = sorted(range(3), key=lambda n: (-shares[n][1], -numbers[n], n))
    for n in by_loss[: _TENTHS - sum(tenths)]:
        tenths[n] += 1
    positive, negative, neutral = (tenth / 10 for tenth in tenths)
    return positive, negative, neutral


def sentiment_of(
    tool_id: str, counts: Counts, start: datetime, end: datetime, period: str | None = None
) -> SentimentCacheEntry:
    """Return what the mentions of [start, end) feel, both whole seconds."""
    positive, negative, neutral = percentages(counts)
    return SentimentCacheEntry(
        id=f"{tool_id}:{period}" if period else None,
        tool_id=tool_id,
        period=period,
        **counts.numbers(),
        positive_percentage=positive,
        negative_percentage=negative,
        neutral_percentage=neutral,
        average_sentiment=counts.average,
        period_start_ts=epoch_seconds(start),
        period_end_ts=epoch_seconds(end),
        last_updated_ts=epoch_seconds(end),
        _ts=epoch_seconds(end) if period else None,
    )


def entry(tool_id: str, period: str, counts: Counts, now: datetime) -> SentimentCacheEntry:
    """Return the cache entry of a subject for the period that ends at `now`, a whole second.

    Raises:
        InvalidCacheEntry: if it would break a rule of the data model.
    """
    made = sentiment_of(tool_id, counts, now - PERIODS[period] * HOUR, now, period)
    if broken := broken_rule(made, now):
        raise InvalidCacheEntry(
            f"{made.id}: {broken}; it is not stored. This is a mistake of ours: report it"
        )
    return made


def broken_rule(made: SentimentCacheEntry, now: datetime) -> str | None:
    """Return the first of the data model's validation rules that an entry breaks, or None."""
    counts = (made.positive_count, made.negative_count, made.neutral_count)
    percents = (made.positive_percentage, made.negative_percentage, made.neutral_percentage)
    shares = [round(percent * 10) for percent in percents]
    rules = {
        "a count is negative": min(counts) < 0,
        "total_mentions is not the sum of the counts": made.total_mentions != sum(counts),
        "the percentages do not sum to 100": sum(shares) != (_TENTHS if sum(counts) else 0),
        "a percentage is not within 0 and 100": not all(0 <= share <= _TENTHS for share in shares),
        "average_sentiment is not within -1 and 1": not -1 <= made.average_sentiment <= 1,
        "the period ends before it begins": made.period_start_ts >= made.period_end_ts,
        "last_updated_ts lies in the future": made.last_updated_ts > now.timestamp(),
        "the period is unknown": made.period not in PERIODS,
    }
    return next((rule for rule, is_broken in rules.items() if is_broken), None)


def is_stale(made: SentimentCacheEntry, now: datetime) -> bool:
    """Whether an entry is older than `TTL`."""
    return now.timestamp() - made.last_updated_ts > TTL.total_seconds()


@dataclass(frozen=True, slots=True)
class SentimentCache:
    """The entries in the table, and how they are kept up to date: CacheMetadata."""

    table: Table
    clock: Clock = utc_now

    def get(self, tool_id: str, period: str) -> SentimentCacheEntry | None:
        """Return an entry, or None if there is none: one request, half a read unit."""
        item = self.table.get(keys.cache_entry(tool_id, period))
        return SentimentCacheEntry.of_item(item) if item else None

    def put(self, made: SentimentCacheEntry) -> SentimentCacheEntry:
        """Store an entry, unless there is a newer one; return the one that is there then."""
        try:
            self.table.put(
                made.to_item(keys.cache_entry(made.tool_id, made.period or "")),
                Attr("last_updated_ts").not_exists() | Attr("last_updated_ts").lte(made.last_updated_ts),
            )
        except ConditionFailed as found:
            return SentimentCacheEntry.of_item(found.item) if found.item else made
        return made

    def count(self, tool_ids: Iterable[str]) -> int:
        """Return how many entries there are of some subjects.

        Raises:
            TableBusy: if the table is not able to answer now.
        """
        wanted = (keys.cache_entry(tool_id, period) for tool_id in tool_ids for period in PERIODS)
        return sum(1 for _ in self.table.batch_get(wanted))

    def compute(self, ledger: Ledger, period: str) -> SentimentCacheEntry:
        """Return the entry that a ledger gives for a period; it is not stored.

        Raises:
            TableBusy: if the table is not able to answer now.
        """
        counts = ledger.window(ledger.now - PERIODS[period] * HOUR, ledger.now)
        return entry(ledger.tool_id, period, counts, ledger.now)

    def invalidate(self, tool_id: str) -> Invalidated:
        """Delete a subject's entries, since its mentions have been judged anew.

        Raises:
            InvalidInput: if there is no such subject.
        """
        if self.table.get(keys.subject(tool_id)) is None:
            raise InvalidInput("tool_id", tool_id, "a subject that is there: `sourcebook subjects list`")
        for period in PERIODS:
            self.table.delete(keys.cache_entry(tool_id, period))
        return Invalidated(invalidated=tool_id)

    def health(self) -> CacheMetadata:
        """Return how the cache does, with the counts of the last 24 hours: this one and the 23 before.

        Raises:
            TableBusy: if the table is not able to answer now.
        """
        key = keys.cache_metadata()
        rows = list(self.table.items_of(key["PK"]))
        first = keys.cache_hour(hour_name(self.clock() - 23 * HOUR))["SK"]
        hours = [row for row in rows if first <= row["SK"] < key["SK"]]
        counted = {name: sum(row.get(name, 0) for row in hours) for name in ("hits", "misses", "errors")}
        last = next((row for row in rows if row["SK"] == key["SK"]), {})
        reads = counted["hits"] + counted["misses"]
        return replace(
            CacheMetadata.of_item(last),
            cache_hits_24h=counted["hits"],
            cache_misses_24h=counted["misses"],
            cache_hit_rate=round(counted["hits"] / reads, 4) if reads else 0.0,
            error_count_24h=counted["errors"],
        )

    def refreshed(self, tools: list[str], *, entries: int, duration_ms: int) -> None:
        """Record a refresh that succeeded."""
        now = epoch_seconds(floor(self.clock(), SECOND))
        made = replace(
            self.health(),
            last_refresh_ts=now,
            last_refresh_duration_ms=max(0, duration_ms),
            total_entries=entries,
            tools_refreshed=tuple(tools),
            _ts=now,
        )
        self.table.put(made.to_item(keys.cache_metadata()))


@dataclass(slots=True)
class CacheCounters:
    """Counts hits, misses and errors here, and adds them to the hour's counters in batches.

    What a function has not yet added when it ends is lost, at most `_FLUSH_AFTER` hits: the counters
    serve monitoring and must not cost a write for each read.
    """

    table: Table
    clock: Clock = utc_now
    _waiting: Counter[str] = field(default_factory=Counter)
    _since: datetime | None = None

    def count(self, *, hits: int = 0, misses: int = 0, errors: int = 0) -> None:
        """Count answers from the cache, answers that had to be computed, and computations that failed.

        Whatever had to be computed was slow already, so that it is added now.
        """
        now = self.clock()
        self._since = self._since or now
        self._waiting += Counter(hits=hits, misses=misses, errors=errors)
        is_due = self._waiting["hits"] >= _FLUSH_AFTER or now - self._since >= _FLUSH_EVERY
        if misses or errors or is_due:
            self.flush()

    def flush(self) -> None:
        """Add what was counted. A counter is not worth failing for: it stays for the next time."""
        if not self._waiting:
            return
        now = self.clock()
        try:
            self.table.update(
                keys.cache_hour(hour_name(now)),
                assign={
                    "entity_type": "CacheCounters",
                    "schema_version": SCHEMA_VERSION,
                    "ttl_timestamp": epoch_seconds(floor(now, HOUR) + _COUNTERS_KEPT),
                },
                increment=self._waiting,
            )
        except SourcebookError:
            return
        self._waiting = Counter()
        self._since = None
