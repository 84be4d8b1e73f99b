"""Polls as they end, for what is made of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sourcebook.records.source import Source
from sourcebook.sources.poll import Poll, PollResult

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)


def polled(
    source_id: str,
    result: PollResult,
    *,
    kind: str = "feed",
    duration_ms: int = 1,
    interval: timedelta | None = None,
    disabled: bool = False,
) -> Poll:
    """Return the poll of a source that was fetched once before and brought nothing."""
    source = Source(
        source_id=source_id,
        kind=kind,
        url=f"https://{source_id}.example/feed",
        created_at=NOON,
        next_fetch_time=NOON,
        fetch_count=1,
    )
    return Poll(source, result, duration_ms, committed=True, interval=interval, disabled=disabled)
