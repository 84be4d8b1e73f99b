"""The publisher's statements about polling, from words to numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PERIOD_MINUTES = {
    "hourly": 60,
    "daily": 24 * 60,
    "weekly": 7 * 24 * 60,
    "monthly": 30 * 24 * 60,
    "yearly": 365 * 24 * 60,
}
_LONGEST_TTL = 60 * 24 * 366


@dataclass(frozen=True, slots=True)
class FeedHints:
    """What a feed asks of those who poll it. Only statements, no policy.

    Attributes:
        minutes: shortest interval that it wants, 0 when it does not say. Of a document: RSS `ttl`, or that
            of the syndication module (`sy:updatePeriod` ÷ `sy:updateFrequency`) if that is longer.
        skip: ``hours`` (UTC, 0 to 23) and ``days`` (0 is Monday) in which it has nothing new, ascending; in
            the form in which a source's state keeps them, without those of which there are none.
    """

    minutes: int = 0
    skip: Mapping[str, Sequence[int]] = field(default_factory=dict)


def read_hints(
    *, ttl: str, period: str, frequency: str, hours: Iterable[str], days: Iterable[str]
) -> FeedHints:
    """Return the statements of a document as numbers; what makes no sense is left out."""
    minutes = _number(ttl) or 0
    if minutes > _LONGEST_TTL:
        minutes = 0
    if between := _PERIOD_MINUTES.get(period.strip().lower()):
        minutes = max(minutes, 1, between // (_number(frequency) or 1))
    numbers = {number % 24 for hour in hours if (number := _number(hour)) is not None and number <= 24}
    names = {day.strip().lower() for day in days}
    skip = {
        "hours": sorted(numbers),
        "days": [number for number, name in enumerate(_DAYS) if name in names],
    }
    return FeedHints(minutes, {name: values for name, values in skip.items() if values})


def _number(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.isdecimal() and len(text) <= 9 else None
