"""Reading sentiment: from the cache where it can be, else counted now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import SourcebookError
from sourcebook.records.base import View
from sourcebook.records.subject import SentimentBucket, SentimentCacheEntry, Subject
from sourcebook.sentiment.cache import TTL, CacheCounters, SentimentCache, is_stale, sentiment_of
from sourcebook.sentiment.rollups import Ledger
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.sentiment.windows import DAY, HOUR, PERIODS, SECOND, floor, pieces
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, eligible_position, fill_page, walk_eligible

BUCKETS: Final = {"hour": HOUR, "day": DAY}
_PERIOD_OF: Final = {hours: period for period, hours in PERIODS.items()}


@dataclass(frozen=True, slots=True)
class SentimentReader:
    """Answers what is felt about a subject.

    Attributes:
        counters: counts hits and misses.
    """

    table: Table
    cache: SentimentCache
    counters: CacheCounters
    clock: Clock = utc_now

    @classmethod
    def of(cls, table: Table, clock: Clock = utc_now) -> SentimentReader:
        """Return a reader of a table."""
        return cls(table, SentimentCache(table, clock), CacheCounters(table, clock), clock)

    def subjects(self, *, limit: int, cursor: str | None = None) -> Page[Subject]:
        """Return one page of the subjects: the active ones, then the retired ones, each by id.

        Raises:
            InvalidInput: if the cursor is not one of this list.
        """
        listing = Listing.of("tools", {})
        partitions = [keys.ACTIVE_SUBJECTS, keys.RETIRED_SUBJECTS]

        def load(found: list[Item]) -> list[Subject | None]:
            wanted = [keys.key_of(item) for item in found]
            by_key = {item["PK"]: Subject.of_item(item) for item in self.table.batch_get(wanted)}
            return [by_key.get(item["PK"]) for item in found]

        return fill_page(
            walk_eligible(self.table, partitions, listing, cursor, page_size=limit + 1),
            listing=listing,
            position=eligible_position,
            load=load,
            limit=limit,
        )

    def sentiment(self, tool_id: str, hours: int) -> View | None:
        """Return a subject's sentiment in the last `hours`, or None if there is no such subject.

        The four periods come from the cache. A missing or stale entry is computed and stored; if that
        fails, a stale one is returned as it is, and marked.

        Raises:
            TableBusy: if it is not cached and the table is not able to answer now. Nothing is stored then.
        """
        period = _PERIOD_OF.get(hours)
        if period is None:
            return self._computed(tool_id, hours) if self._exists(tool_id) else None
        cached = self.cache.get(tool_id, period)
        now = self.clock()
        if cached is not None and not is_stale(cached, now):
            self.counters.count(hits=1)
            return _answer(cached, hours, now, is_cached=True)
        try:
            if cached is None and not self._exists(tool_id):
                return None
            ledger = Ledger.open(self.table, tool_id, floor(now, SECOND), hours=hours)
            stored = self.cache.put(self.cache.compute(ledger, period))
        except SourcebookError:
            self.counters.count(misses=1, errors=1)
            if cached is None:
                raise
            return _answer(cached, hours, now, is_cached=True)
        self.counters.count(misses=1)
        return _answer(stored, hours, now, is_cached=False)

    def series(self, tool_id: str, hours: int, bucket: str) -> list[View] | None:
        """Return a subject's mentions in whole hours or days, oldest first; None if there is no such subject.

        The last bucket is the present, unfinished one. Those that cover the last `hours` are returned, also
        where nothing was mentioned.

        Raises:
            TableBusy: if the table is not able to answer now.
        """
        if not self._exists(tool_id):
            return None
        now = floor(self.clock(), SECOND)
        length = BUCKETS[bucket]
        begin, end = floor(now - hours * HOUR, length), floor(now, length) + length
        ledger = Ledger.open(self.table, tool_id, now, hours=hours)
        counted = ((start, ledger.window(start, stop)) for start, stop in pieces(begin, end, length))
        return [
            SentimentBucket(
                start=isoformat(start), average_sentiment=counts.average, **counts.numbers()
            ).shown()
            for start, counts in counted
        ]

    def cache_health(self) -> View:
        """Return the metadata of the cache and whether it is kept up to date.

        Raises:
            TableBusy: if the table is not able to answer now.
        """
        self.counters.flush()
        registry = SubjectRegistry(self.table)
        # Entries are also made by whoever asks first, and by refreshes that reached only some subjects.
        entries = self.cache.count(
            tool_id for active in (True, False) for tool_id in registry.list_ids(active=active)
        )
        found = replace(self.cache.health(), total_entries=entries)
        last = found.last_refresh_ts
        if last is None:
            status = "waiting"
        else:
            status = "healthy" if self.clock().timestamp() - last <= TTL.total_seconds() else "degraded"
        return {"status": status, **found.shown()}

    def _computed(self, tool_id: str, hours: int) -> View:
        now = floor(self.clock(), SECOND)
        start = now - hours * HOUR
        counts = Ledger.open(self.table, tool_id, now, hours=hours).window(start, now)
        counted = sentiment_of(tool_id, counts, start, now)
        return {**_answer(counted, hours, now, is_cached=False), "cached_at": None}

    def _exists(self, tool_id: str) -> bool:
        return self.table.get(keys.subject(tool_id)) is not None


def _answer(entry: SentimentCacheEntry, hours: int, now: datetime, *, is_cached: bool) -> View:
    return {
        **entry.shown(),
        "hours": hours,
        "is_stale": is_stale(entry, now),
        "is_cached": is_cached,
        "cached_at": isoformat(datetime.fromtimestamp(entry.last_updated_ts, UTC)),
    }
