"""When a spectrum was taken: the ways in which files write it, and no guess beyond them.

`read_date` and `read_mjd` read one card. `observation_time` weighs a date against everything else that the
file says of its time: a date that contradicts it, or that could not be, is for a person.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

_ISO: Final = re.compile(
    r"(\d{4})([-/]?)(\d{1,2})\2(\d{1,2})"
    r"(?:\s*([T\s_-])\s*(\d{1,2}):?(\d{2})(?::?(\d{2}(?:[.,]\d{0,12})?))?\s*(Z|UTC?|GMT|[+-][01]\d:?[0-5]\d)?)?",
    re.IGNORECASE | re.ASCII,
)
_OLD: Final = re.compile(r"(\d{2})/(\d{2})/(\d{2})", re.ASCII)
_TIME: Final = re.compile(r"(\d{1,2}):(\d{2}):(\d{2}(?:\.\d{1,12})?)", re.ASCII)
_MJD_ZERO: Final = datetime(1858, 11, 17, tzinfo=UTC)
_JD_OF_MJD: Final = 2_400_000.5
_FIRST_YEAR, _LAST_YEAR = 1850, 2100
_SCALES: Final = frozenset("UTC UT GMT Z UT1 TAI IAT TT TDT ET TDB TCG TCB GPS".split())
"""Values of TIMESYS (FITS standard 4.0, table 30). A zone such as CET is none of them."""
_UTC: Final = frozenset({"", "UTC", "UT", "GMT", "Z"})

_CLOCKS_DIFFER: Final = 300.0
"""Seconds by which two cards for the same moment may differ: dead time, leap seconds, a slow clock."""
_UNKNOWN_EXPOSURE: Final = 3600.0
_HELIOCENTRIC: Final = 600.0
"""Seconds between a heliocentric date and the telescope's, at most."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A time that a file gives.

    Attributes:
        iso: ISO 8601; a day alone when that is all, and with a Z only when the scale is UTC.
        begin: the same as a time, of the scale of the file; of a day its beginning.
        is_day: whether the day is all that is known.
        note: how the text was read, where that is not plain.
    """

    iso: str
    begin: datetime
    is_day: bool
    note: str | None = None


@dataclass(frozen=True, slots=True)
class TimeCards:
    """What a file says of its time, besides the date of the observation.

    Attributes:
        scale: TIMESYS; UTC is the standard's default.
        days: keywords with modified Julian dates.
        dates: keywords with dates that have four digits of the year: the day of the observation, or its end.
        times: keywords with times of the day in UTC.
        local_times: keywords with the local time of the day.
        zone: a keyword that names an offset from UTC, with its value; None without one.
        exposure: EXPTIME in seconds.
        comment: of the card that the date is taken from.
        says_utc: whether a card says in words that the date is in UTC.
    """

    scale: str = "UTC"
    days: tuple[tuple[str, float], ...] = ()
    dates: tuple[tuple[str, str], ...] = ()
    times: tuple[tuple[str, str], ...] = ()
    local_times: tuple[tuple[str, str], ...] = ()
    zone: tuple[str, float] | None = None
    exposure: float | None = None
    comment: str = ""
    says_utc: bool = False

    @property
    def tolerance(self) -> float:
        """Seconds by which cards for the begin, the middle and the end of an exposure may differ."""
        known = self.exposure is not None and self.exposure >= 0
        return _CLOCKS_DIFFER + (self.exposure or 0.0 if known else _UNKNOWN_EXPOSURE)


def read_date(text: str, *, scale: str = "UTC") -> Moment | None:
    """Return the moment that a DATE-OBS says, or None when it cannot be read without a guess.

    Args:
        text: the year, the month and the day, and the time if there is one: `YYYY-MM-DDThh:mm:ss[.f]`, with
            what programs write in place of the signs, and the offset from UTC if they name one. The day
            before the month, or two digits of the year, are not read here: see `observation_time`.
        scale: TIMESYS of the file.
    """
    text = text.strip()
    found = _ISO.fullmatch(text)
    if not found:
        return None
    year, sign, month, day, between, hour, minute, second, zone = found.groups()
    begin = _day(int(year), int(month), int(day))
    if begin is None or (not sign and len(month + day) < 4):
        return None
    plain = sign == "-" and len(month + day) == 4 and (hour is None or between in "Tt")
    notes = [] if plain else [f"{text!r} is not ISO 8601: read as year, month, day{', time' if hour else ''}"]
    if hour is None:
        return Moment(begin.date().isoformat(), begin, is_day=True, note="; ".join(notes) or None)
    time = (hour.zfill(2), minute, (second or "00").replace(",", ".").removesuffix("."))
    moment = _with_time(begin, time, scale if zone is None else "UTC", notes)
    if moment is None or zone is None or zone[0] not in "+-":
        return moment
    local = datetime.fromisoformat(f"{begin:%Y-%m-%d}T{time[0]}:{minute}{zone}")
    utc = local.astimezone(UTC)
    notes.append(f"{text!r} is in the zone {zone}")
    return _with_time(_midnight(utc), (f"{utc:%H}", f"{utc:%M}", time[2]), "UTC", notes)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def read_mjd(days: float) -> Moment | None:
    """Return the moment of a modified Julian date in UTC, or None for one that no telescope saw.

    A whole number names a day, as SDSS writes it.
    """
    if not math.isfinite(days) or not -3_000 < days < 88_070:
        return None
    begin = _MJD_ZERO + timedelta(days=days)
    if days.is_integer():
        return Moment(begin.date().isoformat(), begin, is_day=True)
    return Moment(begin.isoformat(timespec="milliseconds").replace("+00:00", "Z"), begin, is_day=False)


def observation_time(
    text: str, cards: TimeCards, *, years: tuple[int, int], now: datetime
) -> tuple[Moment | None, list[str]]:
    """Return when a spectrum was taken, by its date and by all that the file says beside it.

    None stands for what cannot be read without a guess. The list says why a person must look. `years` are the
    first and the last in which its instrument took spectra.
    """
    scale = cards.scale.upper().partition("(")[0].strip()
    moment = read_date(text, scale=scale) or _of_two_digits(text.strip(), cards, years) or _of_number(text)
    if moment is None:
        return None, []
    doubts = []
    if scale not in _SCALES | _UTC:
        doubts.append(f"TIMESYS {cards.scale!r} is no time scale of the FITS standard: in which zone?")
    if "local" in cards.comment.casefold() and not moment.is_day:
        doubts.append(f"the comment of the date says {cards.comment!r}: local time is not UTC")
    if moment.is_day:
        moment = _with_time_of_day(moment, scale, cards)
    doubts.extend(_contradictions(moment, cards))
    first, last = years
    if moment.begin.year < first:
        doubts.append(f"{moment.iso} is before {first}, when the instrument took its first spectra")
    if moment.begin.year > last:
        doubts.append(f"{moment.iso} is after {last}, when the instrument took its last spectra")
    if moment.begin > now + timedelta(days=1):
        doubts.append(f"{moment.iso} is in the future")
    return moment, doubts


def _of_number(text: str) -> Moment | None:
    try:
        return read_mjd(float(text))
    except ValueError:
        return None


def _of_two_digits(text: str, cards: TimeCards, years: tuple[int, int]) -> Moment | None:
    """Return the moment of `DD/MM/YY`; None when its century is not plain.

    The standard's old form means 1900 to 1999. Programs went on writing it: where that year cannot be, only
    another card of the file can tell which is meant.
    """
    found = _OLD.fullmatch(text)
    if not found:
        return None
    day, month, year = (int(part) for part in found.groups())
    candidates = [begin for begin in (_day(1900 + year, month, day), _day(2000 + year, month, day)) if begin]
    others = _other_days(cards)
    if others:
        candidates = [
            begin for begin in candidates if all(abs((begin.date() - other).days) <= 1 for _, other in others)
        ]
        note = f"{text!r} is DD/MM/YY; {', '.join(keyword for keyword, _ in others)} gives the century"
    else:
        candidates = [
            begin for begin in candidates if begin.year < 2000 and years[0] <= begin.year <= years[1]
        ]
        note = f"{text!r} is the form DD/MM/YY of the years before 2000"
    if len(candidates) != 1:
        return None
    return Moment(candidates[0].date().isoformat(), candidates[0], is_day=True, note=note)


def _other_days(cards: TimeCards) -> list[tuple[str, date]]:
    """Return the days that other cards give."""
    found = [(keyword, read_mjd(days)) for keyword, days in cards.days]
    found += [(keyword, read_date(text)) for keyword, text in cards.dates]
    return [(keyword, moment.begin.date()) for keyword, moment in found if moment is not None]


def _with_time_of_day(moment: Moment, scale: str, cards: TimeCards) -> Moment:
    """Return a day with the time of the day that another card gives, such as TIME-OBS."""
    for keyword, text in cards.times:
        found = _TIME.fullmatch(text)
        if not found:
            continue
        notes = [moment.note] if moment.note else []
        notes.append(f"the time of the day is that of {keyword}")
        return _with_time(moment.begin, (found[1].zfill(2), found[2], found[3]), scale, notes) or moment
    return moment


def _contradictions(moment: Moment, cards: TimeCards) -> list[str]:
    """Return what else the file says of its time that cannot be true together with its date."""
    doubts = []
    tolerance = cards.tolerance
    confirmed = False
    for keyword, days in cards.days:
        other = read_mjd(days)
        if other is None:
            continue
        # A whole number is a day; by a survey's own reckoning it may begin at noon.
        unsure = 129_600.0 if days.is_integer() else 86_400 * 10.0 ** -_decimals(days)
        unsure += _HELIOCENTRIC if "H" in keyword else 0.0
        late = (other.begin - moment.begin).total_seconds()
        latest = math.inf if "END" in keyword else tolerance + unsure + (86_400 if moment.is_day else 0)
        if not -tolerance - unsure <= late <= latest:
            doubts.append(f"{keyword} says {other.iso}; the date is {moment.iso}")
        confirmed = confirmed or not days.is_integer()
    for keyword, text in cards.times:
        found = _TIME.fullmatch(text)
        if moment.is_day or not found:
            continue
        apart = abs(_seconds(moment) - _of_day(found)) % 86_400
        if min(apart, 86_400 - apart) > tolerance:
            doubts.append(f"{keyword} says {text}; the date is {moment.iso}")
        confirmed = True
    for keyword, text in cards.dates:
        end = read_date(text)
        if "END" in keyword and end and not end.is_day and end.begin + timedelta(minutes=1) < moment.begin:
            doubts.append(f"{keyword} says {text}, which is before {moment.iso}")
    if not (moment.is_day or confirmed or cards.says_utc):
        doubts.extend(_may_be_local(moment, cards))
    return doubts


def _may_be_local(moment: Moment, cards: TimeCards) -> list[str]:
    """Return why a time that no card calls UTC may be local."""
    doubts = []
    if cards.zone is not None:
        doubts.append(f"{cards.zone[0]} is {cards.zone[1]:g} and no card says that the date is in UTC")
    for keyword, text in cards.local_times:
        found = _TIME.search(text)
        if found and abs(_seconds(moment) - _of_day(found)) < 1:
            doubts.append(
                f"{keyword}, the local time, is that of the date {moment.iso}: it may not be in UTC"
            )
    return doubts


def _with_time(begin: datetime, time: tuple[str, str, str], scale: str, notes: list[str]) -> Moment | None:
    hour, minute, second = time
    if int(hour) > 23 or int(minute) > 59 or float(second) >= 61:
        return None
    utc = scale.upper().strip() in _UTC
    if not utc:
        notes = [*notes, f"times are in the scale {scale.upper().strip()}"]
    iso = f"{begin.date().isoformat()}T{hour}:{minute}:{second}{'Z' if utc else ''}"
    after = timedelta(hours=int(hour), minutes=int(minute), seconds=float(second))
    return Moment(iso, begin + after, is_day=False, note="; ".join(notes) or None)


def _seconds(moment: Moment) -> float:
    return (moment.begin - _midnight(moment.begin)).total_seconds()


def _of_day(found: re.Match[str]) -> float:
    return int(found[1]) * 3600 + int(found[2]) * 60 + float(found[3])


def _decimals(number: float) -> int:
    return len(repr(number).partition(".")[2])


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        begin = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
    return begin if _FIRST_YEAR <= year <= _LAST_YEAR else None


def mjd_of(keyword: str, days: float) -> float:
    """Return the modified Julian date of a card that may hold a full one; NaN for one that is cut short."""
    if "MJD" in keyword:
        return days
    if days < _JD_OF_MJD - 1:
        return math.nan
    # A whole Julian day names a night: it is as coarse as a whole modified one.
    return float(math.floor(days - _JD_OF_MJD)) if days.is_integer() else round(days - _JD_OF_MJD, 8)
