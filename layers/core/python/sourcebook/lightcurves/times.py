"""Times of measurements: Julian Dates of every kind, and calendar dates, kept apart and never guessed.

All become a Modified Julian Date, computed in decimal: a Julian Date with six decimals has more digits than
adding and subtracting in binary floating point keeps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final

from sourcebook.clock import to_utc
from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.figures import looks_like_a_number, read_number
from sourcebook.lightcurves.model import WORD_LIMIT, TimeScale, TimeSystem

MJD_ORIGIN: Final = Decimal("2400000.5")
"""Julian Date at which the Modified Julian Date is zero (IAU 1973)."""
EARLIEST: Final = date(1600, 1, 1)
"""Of what is taken: the first novae of which a light curve can be drawn are of that century."""

_MJD_DAY_ZERO: Final = date(1858, 11, 17)
_EARLIEST_MJD: Final = Decimal((EARLIEST - _MJD_DAY_ZERO).days)
_SHOWN_LONGEST: Final = 40

_MODIFIED: Final = frozenset({TimeSystem.MJD, TimeSystem.HMJD, TimeSystem.BMJD})
_SYSTEM: Final = re.compile(
    r"(?P<system>[hb]?m?jd|(?:modified[ _]?|(?:helio|bary)centric[ _]?)?julian[ _]?(?:date|day))"
    r"(?:[ _(\[-]*(?P<scale>utc|ut1?|tdb|tt|tai)[)\]]?)?"
    r"(?:[ _]*[-−–_][ _]*(?P<offset>24\d{5}(?:\.\d{1,3})?))?"
)
_WORDS: Final = {
    "julian": TimeSystem.JD,
    "modified": TimeSystem.MJD,
    "helio": TimeSystem.HJD,
    "bary": TimeSystem.BJD,
}
_SCALES: Final = {
    "utc": TimeScale.UTC,
    "ut": TimeScale.UTC,
    "tt": TimeScale.TT,
    "tdb": TimeScale.TDB,
    "tai": TimeScale.TAI,
}
_ZONED: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)? ?(?:Z|[+-]\d{2}:?\d{2})", re.ASCII
)
_NAIVE: Final = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?", re.ASCII)
_DAY: Final = re.compile(
    r"(?P<year>\d{4})(?P<mark>[-/. ])(?P<month>\d{2})(?P=mark)(?P<day>\d{2})(?P<part>[.,]\d{1,9})?", re.ASCII
)
_EXCEL: Final = re.compile(
    r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4}) +"
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?"
    r"(?: *(?P<half>[ap])\.?m\.?)?",
    re.ASCII | re.IGNORECASE,
)
_DATE_EXPECTED: Final = "a date such as 2012-06-01T12:34:56Z, or 2012-06-01.524 with its time scale"


@dataclass(frozen=True, slots=True)
class TimeKind:
    """The declared kind of a column of times, or of one time.

    Attributes:
        system: None when only the value itself can tell a date from a number.
        scale: None when nobody says.
        offset: what was subtracted from the Julian Date, as a heading ``HJD-2450000`` says.
    """

    system: TimeSystem | None = None
    scale: TimeScale | None = None
    offset: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """A time as it is kept."""

    mjd: Decimal
    system: TimeSystem
    scale: TimeScale | None
    raw: str


def read_kind(name: str) -> TimeKind | None:
    """Read the name of a time system, as a heading or a cell has it: ``HJD``, ``BJD_TDB``, ``JD-2450000``.

    Returns:
        None if it names none.
    """
    found = _SYSTEM.fullmatch(name.strip().lower()) if len(name) <= WORD_LIMIT else None
    if found is None:
        return None
    word = found["system"]
    system = next((s for start, s in _WORDS.items() if word.startswith(start)), None) or TimeSystem(
        word.upper()
    )
    scale = found["scale"]
    if scale == "ut1":
        return None
    offset = found["offset"]
    if offset is not None and system in _MODIFIED:
        return None
    return TimeKind(system, _SCALES[scale] if scale else None, Decimal(offset) if offset else None)


def read_scale(field: str, text: str) -> TimeScale:
    """Read the name of a time scale.

    Raises:
        InvalidInput: if it is none of `TimeScale`.
    """
    found = _SCALES.get(text.strip().lower())
    if found is None:
        raise InvalidInput(field, text, f"one of {', '.join(TimeScale)}")
    return found


def read_time(field: str, text: str, kind: TimeKind, now: datetime) -> Moment:
    """Read one time.

    Args:
        field: the column's name, for the message.
        text: the cell.
        kind: the declared kind of the cell.
        now: a measurement from beyond tomorrow is none.

    Raises:
        InvalidInput: if it is no time, says not enough to be one, or lies where no measurement can.
    """
    shown = " ".join(text.split())[:_SHOWN_LONGEST]
    numeric = looks_like_a_number(text)
    if kind.system is None and numeric:
        names = ", ".join(system.value for system in TimeSystem if system is not TimeSystem.DATE)
        raise InvalidInput(field, text, f"a declared kind of date: call the column one of {names}")
    if kind.system is None or kind.system is TimeSystem.DATE:
        mjd, scale = _read_date(field, text, kind.scale)
        moment = Moment(mjd, TimeSystem.DATE, scale, shown)
    else:
        value = read_number(field, text) + (kind.offset or 0)
        mjd = value if kind.system in _MODIFIED else value - MJD_ORIGIN
        moment = Moment(mjd, kind.system, kind.scale, shown)
    _check_range(field, text, moment, now)
    return moment


def _check_range(field: str, text: str, moment: Moment, now: datetime) -> None:
    latest = _tomorrow(now)
    if _EARLIEST_MJD <= moment.mjd <= latest:
        return
    if moment.system is TimeSystem.DATE:
        raise InvalidInput(field, text, f"a date from {EARLIEST} to tomorrow")
    modified = moment.system in _MODIFIED
    low, high = (_EARLIEST_MJD, latest) if modified else (_EARLIEST_MJD + MJD_ORIGIN, latest + MJD_ORIGIN)
    hint = ""
    other = moment.mjd - MJD_ORIGIN if modified else moment.mjd + MJD_ORIGIN
    if _EARLIEST_MJD <= other <= latest and (modified or other > 0):
        hint = f"; it looks like a {'Julian' if modified else 'Modified Julian'} Date: name the column so"
    raise InvalidInput(
        field,
        text,
        f"{moment.system.value} from {low.normalize():f} ({EARLIEST}) to {high:.1f} (tomorrow){hint}",
    )


@lru_cache(maxsize=8)
def _tomorrow(now: datetime) -> Decimal:
    """Return the latest time that a measurement may have."""
    return mjd_of(now) + 1


def mjd_of(moment: datetime) -> Decimal:
    """Return the Modified Julian Date of an aware datetime, in UTC.

    Raises:
        ValueError: if it is naive.
    """
    passed = to_utc(moment) - datetime(1858, 11, 17, tzinfo=UTC)
    microseconds = passed // timedelta(microseconds=1)
    return Decimal(microseconds) / Decimal(86_400_000_000)


def _read_date(field: str, text: str, scale: TimeScale | None) -> tuple[Decimal, TimeScale]:
    plain = " ".join(text.split())
    if len(plain) > WORD_LIMIT:
        raise InvalidInput(field, text, _DATE_EXPECTED)
    try:
        if _ZONED.fullmatch(plain):
            if scale not in {None, TimeScale.UTC}:
                raise InvalidInput(field, text, f"a date without a zone, for it is declared to be {scale}")
            return mjd_of(datetime.fromisoformat(_standard(plain))), TimeScale.UTC
        mjd = _read_naive(plain)
    except ValueError as error:
        raise InvalidInput(field, text, _DATE_EXPECTED) from error
    if mjd is None:
        raise InvalidInput(field, text, _DATE_EXPECTED)
    if scale is None:
        raise InvalidInput(
            field, text, "a date with Z or another zone, or the heading date_utc, or a column time_scale"
        )
    return mjd, scale


def _read_naive(text: str) -> Decimal | None:
    if _NAIVE.fullmatch(text):
        return mjd_of(datetime.fromisoformat(_standard(text)).replace(tzinfo=UTC))
    if found := _DAY.fullmatch(text):
        day = date(int(found["year"]), int(found["month"]), int(found["day"]))
        part = Decimal((found["part"] or ".0").replace(",", "."))
        return (day - _MJD_DAY_ZERO).days + part
    if found := _EXCEL.fullmatch(text):
        hour, half = int(found["hour"]), (found["half"] or "").lower()
        if half and not 1 <= hour <= 12:
            raise ValueError("an hour of the afternoon that is none")
        hour = hour % 12 + (12 if half == "p" else 0) if half else hour
        return mjd_of(
            datetime(
                int(found["year"]),
                int(found["month"]),
                int(found["day"]),
                hour,
                int(found["minute"]),
                int(found["second"] or 0),
                tzinfo=UTC,
            )
        )
    return None


def _standard(text: str) -> str:
    return text.replace(" Z", "Z").replace(",", ".").replace(" ", "T", 1)
