"""Hours, days and the windows that are made of them, in UTC."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from sourcebook.clock import to_utc

SECOND: Final = timedelta(seconds=1)
MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)

PERIODS: Final = {"HOUR_1": 1, "HOUR_24": 24, "DAY_7": 168, "DAY_30": 720}
"""Hours of each period whose sentiment is computed ahead."""
HOURS_AT_MOST: Final = max(PERIODS.values())
"""The longest window: as long as an article is kept."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def floor(moment: datetime, length: timedelta) -> datetime:
    """Return the beginning of the second, minute, hour or day, as `length` says, that a moment lies in."""
    return to_utc(moment) - (to_utc(moment) - _EPOCH) % length


def hour_name(moment: datetime) -> str:
    """Return the name of the hour that a moment lies in, e.g. ``2026-11-27T21``."""
    return f"{to_utc(moment):%Y-%m-%dT%H}"


def day_name(moment: datetime) -> str:
    """Return the name of the day that a moment lies in, e.g. ``2026-11-27``."""
    return f"{to_utc(moment):%Y-%m-%d}"


def hour_of(timestamp: str) -> str:
    """Return the name of the hour of a timestamp as `sourcebook.clock.isoformat` writes it."""
    return timestamp[:13]


def hour_start(name: str) -> datetime:
    """Return the beginning of the hour with this name."""
    return datetime.fromisoformat(f"{name}:00:00+00:00")


def pieces(start: datetime, end: datetime, length: timedelta) -> Iterator[tuple[datetime, datetime]]:
    """Cut [start, end) at the whole minutes, hours or days in between, as `length` says."""
    while start < end:
        stop = min(end, floor(start, length) + length)
        yield start, stop
        start = stop
