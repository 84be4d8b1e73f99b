"""When a spectrum was taken: the ways in which files write it, and no guess beyond them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_ISO: Final = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:([T -])(\d{2}):(\d{2}):(\d{2}(?:\.\d{1,12})?)\s*(Z|UTC?)?)?", re.IGNORECASE
)
_OLD: Final = re.compile(r"(\d{2})/(\d{2})/(\d{2})")
_MJD_ZERO: Final = datetime(1858, 11, 17, tzinfo=UTC)
_FIRST_YEAR, _LAST_YEAR = 1850, 2100


@dataclass(frozen=True, slots=True)
class Moment:
    """A time that a file gives.

    Attributes:
        iso: ISO 8601; a day alone when that is all, and with a Z only when the scale is UTC.
        note: how the text was read, where that is not plain.
    """

    iso: str
    note: str | None = None


def read_date(text: str, *, scale: str = "UTC") -> Moment | None:
    """Return the moment that a DATE-OBS says, or None when it cannot be read without a guess.

    Args:
        text: `YYYY-MM-DD`, `YYYY-MM-DDThh:mm:ss[.f]`, the same with a space or a hyphen for the T,
            or the standard's form for the years 1900 to 1999, `DD/MM/YY`.
        scale: TIMESYS of the file; UTC is the standard's default.
    """
    text = text.strip()
    if found := _ISO.fullmatch(text):
        year, month, day, between, hour, minute, second, zone = found.groups()
        if not _is_date(int(year), int(month), int(day)):
            return None
        if hour is None:
            return Moment(f"{year}-{month}-{day}")
        if int(hour) > 23 or int(minute) > 59 or float(second) >= 61:
            return None
        utc = zone is not None or scale.upper().strip() in {"", "UTC", "UT"}
        notes = [] if between in "Tt" else [f"{text!r} is not ISO 8601: read as date, time"]
        if not utc:
            notes.append(f"times are in the scale {scale.upper().strip()}")
        iso = f"{year}-{month}-{day}T{hour}:{minute}:{second}{'Z' if utc else ''}"
        return Moment(iso, "; ".join(notes) or None)
    if found := _OLD.fullmatch(text):
        day, month, year = found.groups()
        if _is_date(1900 + int(year), int(month), int(day)):
            return Moment(
                f"19{year}-{month}-{day}", f"{text!r} is the form DD/MM/YY of the years before 2000"
            )
    return None


def read_mjd(days: float) -> Moment | None:
    """Return the moment of a modified Julian date in UTC, or None for one that no telescope saw.

    A whole number names a day, as SDSS writes it.
    """
    if not math.isfinite(days) or not -3_000 < days < 88_070:
        return None
    moment = _MJD_ZERO + timedelta(days=days)
    if days.is_integer():
        return Moment(moment.date().isoformat())
    return Moment(moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"))


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return False
    return _FIRST_YEAR <= year <= _LAST_YEAR
