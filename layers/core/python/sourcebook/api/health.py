"""Is it alive? The table answers, the schedule runs, what is due is fetched, and fetching succeeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.clock import Clock, isoformat, parse_iso, utc_now
from sourcebook.errors import SourcebookError
from sourcebook.sources.read import FEED
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

LATE: Final = timedelta(minutes=5)
"""The schedule runs each minute. This long after its last run something is broken."""
OVERDUE: Final = timedelta(minutes=30)
"""A source that is due is fetched within a minute or two. One that waits this long is not fetched at all."""
SILENT: Final = timedelta(hours=25)
"""No source is asked less often than daily. After this long without one success, all of them fail."""
COUNTED: Final = 20_000
"""Sources that are looked at at most."""
MANY: Final = 1_000
"""Sources from which a report is kept for `KEPT`: anybody may ask for one, which reads an entry of each."""
KEPT: Final = timedelta(seconds=30)
_PAGE: Final = 5_000


@dataclass(frozen=True, slots=True)
class HealthReport:
    """How the system is.

    Attributes:
        ok: whether all is well.
        answer: of ``GET /health``.
        cause: why the table could not be asked, if it could not.
    """

    ok: bool
    answer: dict[str, Any]
    cause: Exception | None = None


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """Looks at the table and at what dispatch and fetching last wrote into it.

    Attributes:
        version: of what is deployed.
    """

    table: Table
    clock: Clock = utc_now
    version: str = ""
    _kept: dict[datetime, HealthReport] = field(default_factory=dict)
    """At most one report, by its time."""

    def run(self) -> HealthReport:
        """Return how the system is.

        Before the first run of the schedule there is no time to judge it by: then all is well until a
        source has been due for `LATE`.
        """
        now = self.clock()
        for made, report in self._kept.items():
            if timedelta(0) <= now - made < KEPT:
                return report
        self._kept.clear()
        try:
            tick = self.table.get(keys.DISPATCH_TICK) or {}
            active = list(self._active())
        except SourcebookError as error:
            checks = {
                "table": "unavailable",
                **dict.fromkeys(("scheduler", "overdue", "active_feeds", "last_successful_fetch")),
            }
            return self._health(now, ok=False, checks=checks, cause=error)
        last_run = tick.get("ticked_at")
        due = [item["next_fetch_time"] for item in active]
        if len(active) == COUNTED and "longest_due" in tick:  # the one due longest may not be among them
            due.append(tick["longest_due"])
        overdue = _since(min(due), now) if due else timedelta(0)
        last_success = max(filter(None, (item.get("last_success_at") for item in active)), default=None)
        checks = {
            "table": "ok",
            "scheduler": _seconds(_since(last_run, now)) if last_run else None,
            "overdue": _seconds(overdue),
            "active_feeds": sum(item["kind"] == FEED for item in active),
            "last_successful_fetch": last_success,
        }
        ok = (
            (_since(last_run, now) if last_run else overdue) <= LATE
            and overdue <= OVERDUE
            and (last_success is None or _since(last_success, now) <= SILENT)
        )
        report = self._health(now, ok=ok, checks=checks)
        if len(active) >= MANY:
            self._kept[now] = report
        return report

    def _health(
        self, now: datetime, *, ok: bool, checks: dict[str, object], cause: Exception | None = None
    ) -> HealthReport:
        status = "healthy" if ok else "degraded"
        answer = {"status": status, "version": self.version, "checks": checks, "timestamp": isoformat(now)}
        return HealthReport(ok, answer, cause)

    def _active(self) -> Iterator[Item]:
        """Yield the sources that are polled, of each shard by the day on which they are due."""
        left = COUNTED
        for partition in self.table.shards.read(keys.DUE_SOURCES):
            start = None
            while left:
                page = self.table.query(
                    KeyCondition("GSI1PK").eq(partition),
                    index=keys.ELIGIBILITY_INDEX,
                    limit=min(_PAGE, left),
                    start=start,
                    attributes=("kind", "next_fetch_time", "last_success_at"),
                )
                yield from page.items
                left -= len(page.items)
                if (start := page.next_key) is None:
                    break


def _since(moment: str, now: datetime) -> timedelta:
    return now - parse_iso(moment)


def _seconds(span: timedelta) -> int:
    return max(0, round(span.total_seconds()))
