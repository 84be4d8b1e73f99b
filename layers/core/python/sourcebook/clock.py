"""Time as this project writes and reads it: aware, UTC, ISO 8601 with a trailing Z."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal, TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Whatever needs the present time takes one of these, so that a test can say what time it is."""


def utc_now() -> datetime:
    """Return the present time, aware, in UTC: the clock of everything outside the tests."""
    return datetime.now(UTC)


def to_utc(moment: datetime) -> datetime:
    """Return an aware datetime in UTC.

    Raises:
        ValueError: if it is naive: whoever read it from outside must say what zone it was in.
    """
    if moment.tzinfo is UTC:
        return moment
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise ValueError(
            f"naive datetime {moment.isoformat()}: give it a time zone where it enters the system"
        )
    return moment.astimezone(UTC)


def isoformat(moment: datetime, timespec: Literal["seconds", "milliseconds"] = "seconds") -> str:
    """Write a moment so that text order is time order, e.g. ``2026-11-27T21:56:39Z``.

    Values that are compared with one another must share one ``timespec``.

    Raises:
        ValueError: if the moment is naive.
    """
    return to_utc(moment).isoformat(timespec=timespec).replace("+00:00", "Z")


def parse_iso(text: str) -> datetime:
    """Read an ISO 8601 date and time that names its zone; the inverse of `isoformat`.

    Raises:
        ValueError: if it is not ISO 8601, or names no zone.
    """
    return to_utc(datetime.fromisoformat(text))


def epoch_seconds(moment: datetime) -> int:
    """Return whole seconds since 1970-01-01 UTC, the form of DynamoDB's TTL attribute."""
    return int(to_utc(moment).timestamp())
