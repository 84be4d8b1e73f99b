"""Days as pages and files of figures write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Final, Literal

DateOrder = Literal["dmy", "mdy"]
"""What stands first in ``01/02/2026``."""

_YEAR_FIRST = re.compile(r"(\d{4})[-/.年 ]{1,2}(\d{1,2})(?:[-/.月 ]{1,2}(\d{1,2})日?)?月?(?:[t ]\d.*)?")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_QUARTER = re.compile(r"(\d{4})[- ]?q([1-4])")
_MONTH = re.compile(r"(\d{4})m(\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([./-]) ?(\d{1,2})\2 ?(\d{4})(?:,? \d.*)?")
_NAMED = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th|º)?[ ./-]+)?(?:de )?([^\W\d_]{3,})[ ./-]+(?:de )?(\d{4}|\d{2})"
)
_NAME_FIRST = re.compile(r"([^\W\d_]{3,})[. ]+(\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")
_SINCE_1970 = re.compile(r"(\d{10})(\d{3})?")
_MONTHS: Final = tuple(
    tuple(names.split())
    for names in (
        "jan ene gen",
        "feb fév fev",
        "mar mär mrz",
        "apr avr abr",
        "may mai mag",
        "jun juin giu",
        "jul juil lug",
        "aug aoû ago",
        "sep set",
        "oct okt ott out",
        "nov",
        "dec déc dez dic",
    )
)
"""How their names begin in English, German, French, Spanish, Italian and Portuguese."""
_LONGEST: Final = 60


def read_days(texts: Sequence[str], order: DateOrder | None = None) -> list[date | None]:
    """Return the day that each text names, the first of a month or quarter; None where it is in doubt.

    Args:
        texts: all of a column: where one of them shows what stands first, it stands first in all.
        order: what stands first in ``01/02/2026``, if that is known.
    """
    plain = [" ".join(text[: _LONGEST + 1].split()).casefold() for text in texts]
    if order is None:
        found = [match for text in plain if (match := _YEAR_LAST.fullmatch(text))]
        fit = {
            name
            for name, day, month in (("dmy", 1, 3), ("mdy", 3, 1))
            if all(int(match[month]) <= 12 and int(match[day]) <= 31 for match in found)
        }
        order = "dmy" if fit == {"dmy"} else "mdy" if fit == {"mdy"} else None
    return [_day(text, order) for text in plain]


def _day(text: str, order: DateOrder | None) -> date | None:
    try:
        if found := _SINCE_1970.fullmatch(text):
            return datetime.fromtimestamp(int(found[1]), UTC).date()
        if found := _YEAR_FIRST.fullmatch(text) or _COMPACT.fullmatch(text) or _MONTH.fullmatch(text):
            return date(int(found[1]), int(found[2]), int((*found.groups(), None)[2] or 1))
        if found := _QUARTER.fullmatch(text):
            return date(int(found[1]), int(found[2]) * 3 - 2, 1)
        if found := _YEAR_LAST.fullmatch(text):
            first, last, year = int(found[1]), int(found[3]), int(found[4])
            if order is None and found[2] != "." and first != last:
                return None
            return date(year, first, last) if order == "mdy" else date(year, last, first)
        if found := _NAME_FIRST.fullmatch(text):
            return date(int(found[3]), _month(found[1]), int(found[2]))
        if found := _NAMED.fullmatch(text):
            year = int(found[3]) if len(found[3]) == 4 else 2000 + int(found[3])
            return date(year, _month(found[2]), int(found[1] or 1))
    except (ValueError, OverflowError):
        pass
    return None


def _month(name: str) -> int:
    """Return the number of a month. Raise ValueError if no month has this name."""
    for number, names in enumerate(_MONTHS, 1):
        if name.startswith(names):
            return number
    raise ValueError(f"{name} is no month")
