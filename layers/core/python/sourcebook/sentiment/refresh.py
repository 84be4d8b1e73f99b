"""The refresh of the cache: every fifteen minutes, every period of every active subject."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from sourcebook.clock import Clock, utc_now
from sourcebook.errors import InvalidInput, Retryable, SourcebookError
from sourcebook.sentiment.cache import CacheCounters, SentimentCache
from sourcebook.sentiment.rollups import Ledger
from sourcebook.sentiment.subjects import TOOL_ID, SubjectRegistry
from sourcebook.sentiment.windows import PERIODS, SECOND, floor
from sourcebook.table.client import Table

_TIME_TO_END: Final = 15.0
"""Seconds before the function's end when no further subject is begun."""


class RefreshFailed(Retryable):
    """No subject could be refreshed. What was cached is still served; the next run tries again."""


@dataclass(frozen=True, slots=True)
class RefreshReport:
    """Counts of a refresh.

    Attributes:
        refreshed: ids of the subjects whose entries are new.
        failed: why the others could not be refreshed, by id.
        left: how many were not begun for want of time; the next run begins with them.
        hours: how many hours were counted again.
        duration_ms: how long it took.
    """

    refreshed: list[str]
    failed: dict[str, str]
    left: int
    hours: int
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Refresher:
    """Brings roll-ups and cache entries up to date."""

    table: Table
    clock: Clock = utc_now
    workers: int = 4
    seconds_left: Callable[[], float] = lambda: float("inf")

    def run(self, tool_ids: Iterable[str] | None = None) -> RefreshReport:
        """Refresh these subjects, or all active ones, those first whose turn was missed last time.

        One that fails keeps the entries that it has, and harms no other.

        Raises:
            RefreshFailed: if none could be refreshed.
            TableBusy: if the list of subjects cannot be read now.
        """
        started = time.perf_counter()
        cache = SentimentCache(self.table, self.clock)
        wanted = list(SubjectRegistry(self.table).list_ids() if tool_ids is None else tool_ids)
        had_a_turn = set(cache.health().tools_refreshed) if tool_ids is None else set()
        wanted.sort(key=lambda id_: (id_ in had_a_turn, id_))
        with ThreadPoolExecutor(max(1, min(self.workers, len(wanted)))) as pool:
            results = dict(zip(wanted, pool.map(lambda id_: self._one(cache, id_), wanted), strict=True))
        refreshed = [id_ for id_, result in results.items() if isinstance(result, int)]
        failed = {id_: str(result) for id_, result in results.items() if isinstance(result, SourcebookError)}
        duration = round((time.perf_counter() - started) * 1000)
        if failed:
            CacheCounters(self.table, self.clock).count(errors=len(failed))
        if failed and not refreshed:
            raise RefreshFailed(
                f"none of {len(failed)} subjects could be refreshed: {next(iter(failed.values()))}"
            )
        if tool_ids is None:
            # Those that were not refreshed have the entries that they had.
            others = {*wanted, *SubjectRegistry(self.table).list_ids(active=False)} - set(refreshed)
            entries = len(PERIODS) * len(refreshed) + cache.count(sorted(others))
            cache.refreshed(sorted(refreshed), entries=entries, duration_ms=duration)
        hours = sum(result for result in results.values() if isinstance(result, int))
        return RefreshReport(refreshed, failed, len(wanted) - len(refreshed) - len(failed), hours, duration)

    def _one(self, cache: SentimentCache, tool_id: str) -> int | SourcebookError | None:
        if self.seconds_left() < _TIME_TO_END:
            return None
        try:
            ledger = Ledger.open(self.table, tool_id, floor(self.clock(), SECOND))
            hours = ledger.settle()
            for period in PERIODS:
                cache.put(cache.compute(ledger, period))
        except SourcebookError as error:
            return error
        return hours


def read_refresh_request(event: Mapping[str, object]) -> list[str] | None:
    """Return the subjects that an event names; None, for all of them, if it is a schedule's.

    Raises:
        InvalidInput: if it names them in another way.
    """
    if "tool_ids" not in event:
        return None
    tool_ids = event["tool_ids"]
    if not isinstance(tool_ids, list) or not all(
        isinstance(id_, str) and TOOL_ID.fullmatch(id_) for id_ in tool_ids
    ):
        raise InvalidInput("tool_ids", tool_ids, "a list of ids of subjects")
    return list(dict.fromkeys(tool_ids))
