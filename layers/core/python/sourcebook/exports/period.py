"""The days that an export is of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from sourcebook.errors import InvalidInput

LONGEST: Final = 366
DAY: Final = r"\d{4}-\d{2}-\d{2}"


@dataclass(frozen=True, slots=True)
class Period:
    """Days from one on to before another.

    Attributes:
        since: first day.
        until: the day after the last.
    """

    since: date
    until: date

    @classmethod
    def of(cls, since: str, until: str) -> Period:
        """Return the period between two days.

        Raise InvalidInput if one is no day, or they are the wrong way round or too far apart.
        """
        first, end = _day("since", since), _day("until", until)
        if not 1 <= (end - first).days <= LONGEST:
            raise InvalidInput("until", until, f"a day after since, {since}, by at most {LONGEST} days")
        return cls(first, end)

    @classmethod
    def named(cls, name: str) -> Period | None:
        """Return the period of a name, None if it is none."""
        since, _, until = name.partition("_")
        try:
            return cls.of(since, until)
        except InvalidInput:
            return None

    @property
    def name(self) -> str:
        """Such as ``2026-11-01_2026-12-01``."""
        return f"{self.since.isoformat()}_{self.until.isoformat()}"

    def days(self) -> Iterator[date]:
        """Yield the days of the period, both ends included."""
        for number in range((self.until - self.since).days):
            yield self.since + timedelta(days=number)

    def parts(self, days: int) -> Iterator[Period]:
        """Yield periods of so many days, the last of which may have fewer."""
        begin = self.since
        while begin < self.until:
            end = min(begin + timedelta(days=days), self.until)
            yield Period(begin, end)
            begin = end


def _day(name: str, text: str) -> date:
    try:
        if re.fullmatch(DAY, text, re.ASCII):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise InvalidInput(name, text, "a day such as 2026-11-01")
