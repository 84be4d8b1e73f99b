"""When a source is asked next: after its interval while it answers, later and later while it does not."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sourcebook.sources.model import Source

BACKOFF_CEILING: Final = timedelta(minutes=60)
DISABLE_AFTER: Final = 10
"""Errors in a row of the kind that does not mend itself, after which a source is disabled."""
PROBE_EVERY: Final = timedelta(days=7)


def after_success(source: Source, now: datetime) -> datetime:
    """Return when to fetch a source again that has just answered."""
    return now + timedelta(minutes=source.interval_minutes)


def after_failure(source: Source, now: datetime, retry_after: datetime | None = None) -> datetime:
    """Return when to try a source again that has just failed.

    2^n minutes after the n-th failure in a row, at most an hour, and never before the source's own
    interval or the time that its server asked us to wait for.
    """
    failures = source.consecutive_errors + 1
    backoff = BACKOFF_CEILING if failures >= 6 else timedelta(minutes=2**failures)
    soonest = now + max(backoff, timedelta(minutes=source.interval_minutes))
    return max(soonest, retry_after) if retry_after else soonest
