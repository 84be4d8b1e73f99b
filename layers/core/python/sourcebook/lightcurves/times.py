"""Times of measurements: Julian Dates of every kind, and calendar dates, kept apart and never guessed.

All become a Modified Julian Date, computed in decimal: a Julian Date with six decimals has more digits than
adding and subtracting in binary floating point keeps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
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
_OFFSET: Final = r"(?:24\d{5}(?:\.\d{1,3})?|5\d{4})"
_SYSTEM: Final = re.compile(
    r"(?P<system>rjd|b[tk]jd|[hb]?m?jd|(?:modified[ _]?|(?:helio|bary)centric[ _]?)?julian[ _]?(?:date|day))"
    r"(?:[ _(\[-]*(?P<scale>utc|ut1?|tdb|tcb|tt|tai)[)\]]?)?"
    # "HJD-2450000", "HJD (-2450000)", "JD (2450000+)" and "JD+2450000" all mean that it was subtracted.
    rf"(?:[ _]*[(\[]?[ _]*(?:[-−–_+][ _]*(?P<offset>{_OFFSET})|(?P<added>{_OFFSET})[ _]*\+)[ _]*[)\]]?)?"
)
_WORDS: Final = {
    "julian": TimeSystem.JD,
    "modified": TimeSystem.MJD,
    "helio": TimeSystem.HJD,
    "bary": TimeSystem.BJD,
}
_SHORT: Final = {
    "rjd": (TimeSystem.JD, None, Decimal(2_400_000)),
    "btjd": (TimeSystem.BJD, TimeScale.TDB, Decimal(2_457_000)),
    "bkjd": (TimeSystem.BJD, TimeScale.TDB, Decimal(2_454_833)),
}
"""Reduced Julian Dates, and those of TESS and Kepler, by what they are counted from."""
_SCALES: Final = {**{scale.lower(): scale for scale in TimeScale}, "ut": TimeScale.UTC}
_MONTH: Final = r"\d{1,2}|[a-z]{3,9}\.?"
_PART_OF_DAY: Final = (
    r"(?:(?P<part>[.,]\d{1,9})"
    r"|(?:t| +)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?: *(?P<half>[ap])\.?m\.?)?)?"
    r" ?(?P<zone>z|utc?|[+-]\d{2}:?\d{2})?"
)
_DATES: Final = tuple(
    re.compile(day + _PART_OF_DAY, re.ASCII | re.IGNORECASE)
    for day in (
        rf"(?P<year>\d{{4}})(?P<mark>[-/. ])(?P<month>{_MONTH})(?P=mark)(?P<day>\d{{1,2}})",
        r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
        rf"(?P<day>\d{{1,2}})(?P<mark>[-/. ])(?P<month>{_MONTH})(?P=mark)(?P<year>\d{{4}})",
    )
)
_MONTHS: Final = tuple(
    "january february march april may june july august september october november december".split()
)
_CLOCK: Final = re.compile(
    r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: *[ap]\.?m\.?)?(?: ?(?:z|utc?))?", re.ASCII | re.IGNORECASE
)
_DATE_EXPECTED: Final = "a date such as 2012-06-01T12:34:56Z, or 2012-06-01.524 with its time scale"


@dataclass(frozen=True, slots=True)
class TimeKind:
    """The declared kind of a column of times, or of one time.

    Attributes:
        system: None when only the value itself can tell a date from a number.
        scale: None when nobody says.
        offset: what was subtracted from the Julian Date, as a heading ``HJD-2450000`` says.
        month_first: whether 6/1/2012 is the first of June by definition.
    """

    system: TimeSystem | None = None
    scale: TimeScale | None = None
    offset: Decimal | None = None
    month_first: bool = False


@dataclass(frozen=True, slots=True)
class MeasurementTime:
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
    if found is None or found["scale"] == "ut1":
        return None
    word = found["system"]
    offset = Decimal(found["offset"] or found["added"] or 0)
    scale = _SCALES[found["scale"]] if found["scale"] else None
    if word in _SHORT:
        system, own_scale, origin = _SHORT[word]
        return None if offset else TimeKind(system, scale or own_scale, origin)
    in_words = next((system for start, system in _WORDS.items() if word.startswith(start)), None)
    system = in_words or TimeSystem(word.upper())
    if offset and (system in _MODIFIED) != (offset < MJD_ORIGIN - 1):
        return None
    return TimeKind(system, scale, offset or None)


def read_scale(field: str, text: str) -> TimeScale:
    """Read the name of a time scale.

    Raises:
        InvalidInput: if it is none of `TimeScale`.
    """
    found = _SCALES.get(text.strip().lower())
    if found is None:
        raise InvalidInput(field, text, f"one of {', '.join(TimeScale)}")
    return found


def read_time(field: str, text: str, kind: TimeKind, latest: Decimal) -> MeasurementTime:
    """Read one time.

    Args:
        field: the column's name, for the message.
        text: the cell.
        kind: the declared kind of the cell.
        latest: the Modified Julian Date of tomorrow; a measurement from beyond it is none.

    Raises:
        InvalidInput: if it is no time, says not enough to be one, or lies where no measurement can.
    """
    shown = " ".join(text.split())[:_SHOWN_LONGEST]
    numeric = looks_like_a_number(text)
    if kind.system is None and numeric:
        names = ", ".join(system.value for system in TimeSystem if system is not TimeSystem.DATE)
        raise InvalidInput(field, text, f"a declared kind of date: call the column one of {names}")
    if kind.system is None or kind.system is TimeSystem.DATE:
        mjd, scale = _read_date(field, text, kind)
        moment = MeasurementTime(mjd, TimeSystem.DATE, scale, shown)
    else:
        value = read_number(field, text) + (kind.offset or 0)
        mjd = value if kind.system in _MODIFIED else value - MJD_ORIGIN
        moment = MeasurementTime(mjd, kind.system, kind.scale, shown)
    _check_range(field, text, moment, latest)
    return moment


def _check_range(field: str, text: str, moment: MeasurementTime, latest: Decimal) -> None:
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
    expected = f"{moment.system.value} from {low.normalize():f} ({EARLIEST}) to {high:.1f} (tomorrow){hint}"
    raise InvalidInput(field, text, expected)


def mjd_of(moment: datetime) -> Decimal:
    """Return the Modified Julian Date of an aware datetime, in UTC.

    Raises:
        ValueError: if it is naive.
    """
    passed = to_utc(moment) - datetime(1858, 11, 17, tzinfo=UTC)
    microseconds = passed // timedelta(microseconds=1)
    return Decimal(microseconds) / Decimal(86_400_000_000)


def is_clock(text: str) -> bool:
    """Whether a cell is a time of the day without its day."""
    return len(text) <= _SHOWN_LONGEST and _CLOCK.fullmatch(text.strip()) is not None


def _read_date(field: str, text: str, kind: TimeKind) -> tuple[Decimal, TimeScale]:
    plain = " ".join(text.split())
    found = None
    if len(plain) <= WORD_LIMIT:
        found = next((one for pattern in _DATES if (one := pattern.fullmatch(plain))), None)
    if found is None:
        raise InvalidInput(field, text, _DATE_EXPECTED)
    try:
        mjd = mjd_of(_start(found, field, text, kind)) + Decimal((found["part"] or ".0").replace(",", "."))
    except ValueError as error:
        raise InvalidInput(field, text, _DATE_EXPECTED) from error
    if found["zone"]:
        if kind.scale not in {None, TimeScale.UTC}:
            raise InvalidInput(field, text, f"a date without a zone, for it is declared to be {kind.scale}")
        return mjd, TimeScale.UTC
    if kind.scale is None:
        expected = "a date with Z or another zone, or the heading date_utc, or a column time_scale"
        raise InvalidInput(field, text, expected)
    return mjd, kind.scale


def _start(found: re.Match[str], field: str, text: str, kind: TimeKind) -> datetime:
    """Return the moment that a date names, without its fraction of a day.

    Raises:
        ValueError: if there is none.
        InvalidInput: if day and month may be either.
    """
    hour, half = int(found["hour"] or 0), (found["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError("an hour of the afternoon that is none")
        hour = hour % 12 + (12 if half == "p" else 0)
    day, month = int(found["day"]), found["month"]
    if not month.isdigit():
        month = next(
            (n for n, name in enumerate(_MONTHS, 1) if name.startswith(month.lower().rstrip("."))), 0
        )
    elif found.start("day") < found.start("month") and found["mark"] != ".":
        # 6/1/2012: the first of June in America, and the sixth of January elsewhere.
        month = int(month)
        if kind.month_first or half or month > 12:
            day, month = month, day
        elif day <= 12 and day != month:
            raise InvalidInput(field, text, f"{_DATE_EXPECTED}; here day and month may be either")
    second, fraction = int(found["second"] or 0), (found["fraction"] or "").ljust(6, "0")[:6]
    zone = found["zone"] or ""
    year, minute = int(found["year"]), int(found["minute"] or 0)
    start = datetime(year, int(month), day, hour, minute, second, int(fraction), tzinfo=UTC)
    if zone[:1] in {"+", "-"}:
        start -= timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[-2:]))
    return start
