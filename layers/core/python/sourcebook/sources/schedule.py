"""The time of the next fetch of a source that fails: with backoff, and never sooner than its server asks."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sourcebook.records.source import Source

BACKOFF_CEILING: Final = timedelta(minutes=60)
LONGEST_PATIENCE: Final = timedelta(days=1)
"""A server may ask for more; then it is asked again after a day all the same."""
DISABLE_AFTER: Final = 10
"""Errors in a row of the kind that does not mend itself, after which a source is disabled."""
PROBE_EVERY: Final = timedelta(days=7)


def after_failure(source: Source, now: datetime, retry_after: datetime | None = None) -> datetime:
    """Return when to try a source again that has just failed.

    2^n minutes after the n-th failure in a row, at most an hour: whatever the interval of the source, since
    what failed has brought nothing. Never before the time that its server asked us to wait for, but that
    is believed for `LONGEST_PATIENCE` at most.
    """
    failures = source.consecutive_errors + 1
    soonest = now + (BACKOFF_CEILING if failures >= 6 else timedelta(minutes=2**failures))
    return max(soonest, believed(retry_after, now)) if retry_after else soonest


def believed(retry_after: datetime, now: datetime) -> datetime:
    """Return the time that a server asked us to wait for, as far as it is believed."""
    return min(retry_after, now + LONGEST_PATIENCE)
