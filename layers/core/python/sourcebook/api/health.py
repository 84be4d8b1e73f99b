"""Is it alive? The table answers, and the schedule has run lately."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.clock import Clock, isoformat, parse_iso, utc_now
from sourcebook.errors import SourcebookError
from sourcebook.sources.read import FEED
from sourcebook.table import keys
from sourcebook.table.client import Table

LATE: Final = timedelta(minutes=5)
"""The schedule runs each minute. This long after its last run something is broken."""
COUNTED: Final = 1_000
"""Active feeds are counted up to this many."""


@dataclass(frozen=True, slots=True)
class Health:
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
    """Looks at the table and at what dispatch last wrote into it."""

    table: Table
    clock: Clock = utc_now

    def run(self) -> Health:
        """Look.

        Before the first run of the schedule there is no time to judge it by: then all is well until a
        source has been due for `LATE`.
        """
        now = self.clock()
        try:
            tick = self.table.get(keys.dispatch_tick()) or {}
            active = self.table.query(
                KeyCondition("GSI1PK").eq(keys.DUE_SOURCES),
                index=keys.ELIGIBILITY_INDEX,
                limit=COUNTED,
                attributes=("kind", "next_fetch_time", "last_success_at"),
            ).items
        except SourcebookError as error:
            unknown = {"scheduler": None, "active_feeds": None, "last_successful_fetch": None}
            return _health(now, ok=False, checks={"table": "unavailable", **unknown}, cause=error)
        last_run = tick.get("ticked_at")
        waiting_since = last_run or (active[0]["next_fetch_time"] if active else None)
        checks = {
            "table": "ok",
            "scheduler": max(0, round(_since(last_run, now).total_seconds())) if last_run else None,
            "active_feeds": sum(item["kind"] == FEED for item in active),
            "last_successful_fetch": max(
                filter(None, (i.get("last_success_at") for i in active)), default=None
            ),
        }
        return _health(now, ok=waiting_since is None or _since(waiting_since, now) <= LATE, checks=checks)


def _since(moment: str, now: datetime) -> timedelta:
    return now - parse_iso(moment)


def _health(now: datetime, *, ok: bool, checks: dict[str, Any], cause: Exception | None = None) -> Health:
    answer = {"status": "healthy" if ok else "degraded", "checks": checks, "timestamp": isoformat(now)}
    return Health(ok, answer, cause)
