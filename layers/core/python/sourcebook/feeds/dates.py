"""Dates of feeds: RFC 822 and RFC 3339 by the book, and the forms that publishers really write.

Every step works on at most `_LONGEST` characters, so that no input costs more than microseconds.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from sourcebook.feeds.model import DateOrder

_LONGEST = 100
_FARTHEST = 15 * 60
"""Minutes that no zone is from UTC."""
# Programs write 0001-01-01, 9999-12-31 or the first second of 1970 when they have no date.
_FIRST_YEAR = 1900
_LAST_YEAR = 9998
_NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)
_BUDDHIST_ERA = 543  # years that Thailand counts beyond ours
_BUDDHIST_YEARS = range(2500, 2700)

_ENGLISH_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
# First letters of the names of each month, in the languages of Europe, Indonesian, Malay, Hebrew, Arabic and
# Chinese, after those of weekdays that look like one. A point ends the word. The longest match counts.
_STEMS = """
mardi marte marți marti./
jan jän gen ene ian sty led sij sau jaa tam oca янв яну јан січ ιαν ינו ينا 一月./
feb fév fev lut úno uno velj vasar vee hel şub фев феб лют φεβ פבר فبر 二月./
mar mär már mrz mrt mac bře bre ožu kov maali мар бер μαρ μάρ מרץ מרס مار 三月./
apr avr abr ápr kwi dub tra. trav bal huh nis апр кві απρ אפר أبر ابر 四月./
may mai mei mag maj maí máj kvě kve svi geg touk мая май мај тра μαΐ μαι μάι מאי ماي 五月./
jun juin jún giu iun cze čer čvn lipanj. lipnja bir juun jūn kes haz июн юни јун чер ιουν ιούν יונ يون
  六月./
jul jui júl lug iul lip červenc červene čvc srpanj. srpnja liep juul jūl hei tem. temmu июл юли јул лип
  ιουλ ιούλ יול يول 七月./
aug aoû aou ago agu ags agt ágú ogo avg sie srp kol rugp elo ağu авг сер αυγ αύγ אוג أغس اغس 八月./
sep set szep wrz zář zar. září ruj rugs syy eyl сен сеп вер σεπ ספט سبتم 九月./
oct okt out ott paź paz říj rij spal lok eki окт жов οκτ אוק أكت اكت 十月./
nov nóv noi lis stu lapkr marra kas ноя ное нов лис νοε νοέ נוב نوف 十一月/
dec dez déc dic des dis dets gru pro joul ara. aral дек дец гру δεκ דצמ ديس 十二月
"""
_MONTH_STEMS = {stem: number for number, stems in enumerate(_STEMS.split("/")) for stem in stems.split()}

# Minutes east of UTC. Of names that several zones share, what publishers of feeds mean most.
_ZONES = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "ist": 330, "msk": 180, "msd": 240, "trt": 180,
    "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480, "pdt": -420,
    "ast": -240, "adt": -180, "akst": -540, "akdt": -480, "hst": -600, "hdt": -540, "nst": -210, "ndt": -150,
    "bst": 60, "west": 60, "cet": 60, "met": 60, "mez": 60, "cest": 120, "mest": 120, "mesz": 120,
    "eet": 120, "eest": 180, "idt": 180, "wat": 60, "cat": 120, "eat": 180, "sast": 120,
    "gst": 240, "irst": 210, "irdt": 270, "aft": 270, "pkt": 300, "uzt": 300, "npt": 345, "mmt": 390,
    "ict": 420, "wib": 420, "wita": 480, "wit": 540, "myt": 480, "pht": 480, "hkt": 480, "sgt": 480,
    "jst": 540, "kst": 540, "awst": 480, "acwst": 525, "acst": 570, "acdt": 630, "aest": 600, "aedt": 660,
    "lhst": 630, "lhdt": 660, "chst": 600, "sst": -660, "nzst": 720, "nzdt": 780, "chast": 765, "chadt": 825,
    "brt": -180, "brst": -120, "art": -180, "uyt": -180, "clt": -240, "clst": -180, "bot": -240, "vet": -240,
    "cot": -300, "pet": -300, "yekt": 300, "omst": 360, "krat": 420, "irkt": 480, "yakt": 540, "vlat": 600,
    "novt": 420, "magt": 660,
}  # fmt: skip
# Names that mean the time of a place, summer or winter.
_PLACES = {
    "et": "America/New_York", "ct": "America/Chicago", "mt": "America/Denver", "pt": "America/Los_Angeles",
    "eastern": "America/New_York", "central": "America/Chicago", "mountain": "America/Denver",
    "pacific": "America/Los_Angeles",
}  # fmt: skip
# Names in scripts that `_ZONE` does not read, minutes east of UTC, or the place.
_NATIVE_ZONES: dict[str, int | str] = {
    "мск": 180, "по москве": 180, "екб": 300, "нск": 420, "giờ việt nam": 420, "giờ hà nội": 420,
    "北京时间": 480, "北京時間": 480, "中国标准时间": 480, "中國標準時間": 480, "香港时间": 480,
    "香港時間": 480, "台北时间": 480, "台北時間": 480, "台灣時間": 480, "台湾時間": 480, "新加坡时间": 480,
    "日本時間": 540, "日本时间": 540, "日本標準時": 540, "한국시간": 540, "한국 시간": 540, "한국표준시": 540,
    "美东时间": "America/New_York", "美東時間": "America/New_York", "世界标准时间": 0, "协调世界时": 0,
}  # fmt: skip
_NATIVE_ZONE = re.compile("(?<![а-яё])(?:" + "|".join(_NATIVE_ZONES) + ")(?![а-яё])")
_LOCAL = re.compile(r"ortszeit|lokalzeit|местн|当地|當地|現地|현지|giờ địa phương|yerel saat")
_NO_ZONE = frozenset((
    "pm", "a", "p", "uhr", "h", "hrs", "hours", "clock", "on", "of", "at", "the", "de", "del", "den", "der",
    "am", "le", "el", "il", "om", "kl", "klo", "um", "op", "and", "t",
    "mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun",
))  # fmt: skip
"""Words that stand behind a time and name no zone, besides months and words that end in "day"."""

_RFC822 = re.compile(
    r"(?:[A-Za-z]{3},? )?(\d\d?) ([A-Za-z]{3}) (\d{4}) (\d\d:\d\d(?::\d\d)?) "
    r"(?:(GMT|UTC?|Z)|([+-]\d\d:?\d\d))$"
)
_TWO_DIGITS = {name: f"{number:02}" for number, name in enumerate(_ENGLISH_MONTHS, 1)}
_TIME = re.compile(
    r"(?<!\d)(\d{1,2})(?::(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*([ap]\.?\s?m\b\.?)?|\s*([ap]\.?\s?m\b\.?))",
    re.IGNORECASE,
)
# "20h21", "20u21", "20時21分", and "20.21" or "20.21.00" behind a year or "kl.".
_OTHER_TIME = re.compile(
    r"(?<!\d)(\d{1,2}) ?[hu] ?(\d{2})(?!\d)"
    r"|(?:(?<=\d{4} )|(?<=\d{4}, )|(?<=kl )|(?<=kl\. )|(?<=klo ))(\d{1,2})\.(\d{2})(?:\.(\d{2}))?(?![\d.])"
    r"|(?<!\d)(\d{1,2}) ?[時时시点點] ?(\d{2}) ?[分분]"
)
_AFTERNOON = re.compile(r"下午|晚上|午後|午后|오후")
_MORNING = re.compile(r"上午|凌晨|午前|오전")
_OCLOCK = re.compile(r"\s*(?:uhr|hrs?|hours?|h|o['\u2019]?clock|часов|год\.|點|点|時|时|시)(?![a-z])\s*")
# The last one is "+02:00" after a program has read it as part of an address, where "+" is a blank.
_BAD_OFFSET = re.compile(
    r"\s*(?:gmt|utc)?\s?[+\u2212\u2013-]+\s?\d{3,}|\s*(?!00:?00)(?:0\d|1[0-4]):?\d\d(?![:\d])"
)
_ZONE = re.compile(
    r"\s*[\[(]?\s*(?:([a-z][a-z0-9_]*(?:/[a-z0-9_+-]+){0,2})\s*[\])]?)?"
    r"\s*(?:([+\u2212\u2013-])\s?(\d{1,2}):?(\d{2})?(?::\d{2})?(?!\d)(?:\s*[\[(][^\])]*[\])]?)?)?",
    re.IGNORECASE,
)
# The letters of military zones: all but J, that of local time, and Z. T stands between date and time, H for
# hours.
_MILITARY = re.compile(r"\s*(?:[\[(]\s*)?([a-gik-su-y])\b(?!\s*[/.])")
_LONG_ZONE = re.compile(r"\s*(?:standard |daylight |summer )?time\b\s*[\])]?")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})(?:[-/]|\. ?)(\d{1,2})(?:[-/]|\. ?)(\d{1,2})(?!\d)")
_YEAR_LAST = re.compile(r"(?<!\d)(\d{1,2})([-/]|\. ?)(\d{1,2})(?:[-/]|\. ?)(\d{4})(?!\d)")
_YEAR_BEFORE_OFFSET = re.compile(r"(?<!\s)\s*(\d{4})(\s+[+-]\d\d:?\d\d)$")
_SECONDS = re.compile(r"\d+|\d{10}\.\d+")
_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W\d_]+")
_NUMBERED_MONTH = re.compile(r"tháng (0?[1-9]|1[0-2])\b|(?<!\d)(0?[1-9]|1[0-2])[月월]")
_EAST_ASIAN = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]?")


class DateReading(NamedTuple):
    """What a date was read as.

    Attributes:
        moment: aware UTC; None when it is no date that we can tell.
        doubt: why it may be another time, or why its zone made it unreadable, in words; "" without a doubt.
        order: what it shows of the order of day and month.
    """

    moment: datetime | None
    doubt: str = ""
    order: DateOrder = ""


UNREADABLE = DateReading(None)
_PLACEHOLDER = DateReading(None, "it is written where there is no date")


def weigh_date(text: str | None, first: DateOrder = "") -> DateReading:
    """Return the time that a feed wrote, and what speaks against it.

    A form without a zone is taken as UTC (RFC 822 section 5 and RFC 3339 both require one); one with a zone
    that nobody knows is no date, since it may be off by half a day. Zones are offsets, the ids of IANA, and
    the abbreviations in use. The letters of military zones other than Z are UTC (RFC 5322 section 4.3), and
    in doubt: many programs have them as their offsets, or with the wrong sign of RFC 822.
    Two-digit years are 1970 to 2069, and those of the Buddhist era are read as ours. Day and month in digits
    are year first, day first with dots and dashes, month first with slashes, unless only the other reading is
    a date. With slashes that is in doubt where both are dates.

    Args:
        text: as the feed wrote it.
        first: what its other dates show to stand first where the year is last; "" if they do not.
    """
    text = (text or "").strip()
    if not text or len(text) > _LONGEST:
        return UNREADABLE
    moment = by_the_book(text)
    return DateReading(moment) if moment is not None else _tolerant(text, first)


def by_the_book(text: str) -> datetime | None:
    """Return the time that is written in the form of RFC 822 or RFC 3339, which leave no doubt; else None."""
    if text[4:5] == "-":
        return _from_iso(text)
    # The usual form of RSS goes by way of the interpreter's own parser too, which is far quicker.
    match = _RFC822.match(text)
    if match is not None:
        day, name, year, clock, utc, offset = match.groups()
        month = _TWO_DIGITS.get(name)
        if month is not None:
            return _from_iso(f"{year}-{month}-{day:0>2}T{clock}{'Z' if utc else offset}")
    return _from_iso(text) if text[8:9] == "T" else None


def _from_iso(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        elif moment.tzinfo is not UTC:
            moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    year = moment.year
    if 1970 < year < 2500:  # what nearly all are
        return moment
    return moment if _FIRST_YEAR <= year <= 1970 and moment != _NO_DATE else None


def _build(date: tuple[int, int, int], time: tuple[int, int, int], offset: int) -> datetime | None:
    """Return the moment; `offset` is minutes east of UTC. Hour 24 and leap seconds are let through."""
    year, month, day = date
    hour, minute, second = time
    next_day = hour == 24 and minute == 0
    try:
        moment = datetime(year, month, day, 0 if next_day else hour, minute, min(second, 59), tzinfo=UTC)
        if next_day:
            moment += timedelta(days=1)
        return moment - timedelta(minutes=offset)
    except (ValueError, OverflowError):
        return None


class _Time(NamedTuple):
    """A time of day as it was found in a text.

    Attributes:
        clock: hour, minute and second.
        zone: minutes east of UTC, or the zone of a place; None when nobody knows it.
        rest: the text without them.
        doubt: as in `DateReading`.
    """

    clock: tuple[int, int, int] = (0, 0, 0)
    zone: int | ZoneInfo | None = 0
    rest: str = ""
    doubt: str = ""


def _tolerant(text: str, first: DateOrder) -> DateReading:
    if _SECONDS.fullmatch(text):
        return DateReading(_from_digits(text.partition(".")[0]))
    rest = text.lower()
    # The zone of a date without separators between date and time ("2016-06-29t15:07") stays readable.
    rest = re.sub(r"(?<=\d)t(?=\d)", " ", rest)
    if _TIME.search(rest) is None:
        rest = _OTHER_TIME.sub(_with_colons, rest, count=1)
    time = _time_of_day(rest)
    if time.zone is None:
        return DateReading(None, time.doubt)
    doubt = time.doubt
    order: DateOrder = ""
    date = _year_first(time.rest)
    if date is None and (found := _YEAR_LAST.search(time.rest)):
        date, order = _year_last(found, first)
        if order == "open" and found[2] == "/" and not first:
            doubt = doubt or "its day and its month may be the other way round"
    date = date or _named_date(time.rest)
    if date is None:
        return UNREADABLE
    if date[0] in _BUDDHIST_YEARS:
        date = (date[0] - _BUDDHIST_ERA, *date[1:])
        doubt = doubt or "its year is taken for one of the Buddhist era"
    if not _FIRST_YEAR <= date[0] <= _LAST_YEAR:
        return _PLACEHOLDER
    moment = _build(date, time.clock, time.zone if isinstance(time.zone, int) else 0)
    if moment is not None and not isinstance(time.zone, int):
        try:
            moment = moment.replace(tzinfo=time.zone).astimezone(UTC)
        except (ValueError, OverflowError):
            moment = None
    if moment == _NO_DATE:
        return _PLACEHOLDER
    return DateReading(moment, doubt, order) if moment is not None else UNREADABLE


def _time_of_day(text: str) -> _Time:
    """Return the time in a text; midnight UTC if it has none."""
    found = _TIME.search(text)
    if found is None:
        return _Time(rest=text)
    clock = _clock(found, text)
    after = text[found.end() :]
    if oclock := _OCLOCK.match(after):
        after = f" {after[oclock.end() :]}"
    after = _YEAR_BEFORE_OFFSET.sub(r"\2 \1", after)  # as git writes: "Nov 5 20:21:00 2024 +0100"
    read = _native_zone(text, after) or _zone(after)
    if read is None or _LOCAL.search(text):
        return _Time(zone=None, doubt="nobody knows its zone")
    zone, tail = read
    doubt = ""
    if zone == 0 and tail == after and _BAD_OFFSET.match(after):
        return _Time(zone=None, doubt="nobody knows its zone")
    if zone == 0 and (letter := _MILITARY.match(after)) is not None:
        if letter[1] in "ap" and clock[0] <= 12 and not found[4]:
            return _Time(zone=None, doubt=f"{letter[1]!r} may be a half of the day or a zone")
        doubt = f"its zone is the letter {letter[1].upper()}, which is read as UTC"
    return _Time(clock, zone, f"{text[: found.start()]} {tail}", doubt)


def _with_colons(match: re.Match[str]) -> str:
    hour, minute, second = (match[1] or match[3] or match[6], match[2] or match[4] or match[7], match[5])
    return f"{hour}:{minute}" + (f":{second}" if second else "") + " "


def _native_zone(text: str, after: str) -> tuple[int | ZoneInfo, str] | None:
    """Return the zone that a text names in a script of its own, and what follows the time."""
    if text.isascii():
        return None
    named = _NATIVE_ZONE.search(text)
    if named is None:
        return None
    zone = _NATIVE_ZONES[named[0]]
    return (ZoneInfo(zone) if isinstance(zone, str) else zone), after


def _clock(match: re.Match[str], text: str) -> tuple[int, int, int]:
    hour = int(match[1])
    half = (match[4] or match[5] or "")[:1]
    if not half and not text.isascii():
        half = "p" if _AFTERNOON.search(text) else "a" if _MORNING.search(text) else ""
    if half == "p" and hour < 12:
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    return hour, int(match[2] or 0), int(match[3] or 0)


def _zone(tail: str) -> tuple[int | ZoneInfo, str] | None:
    """Return the zone that follows a time, and what follows the zone.

    The zone is minutes east of UTC, or that of a place; UTC if none is there. None if there is one that
    nobody knows.
    """
    match = _ZONE.match(tail)
    if match is None:
        return 0, tail
    name, sign, hours, minutes = match.groups()
    rest = tail[match.end() :]
    if sign and (not name or len(name) == 1 or name in _ZONES or "/" not in name):
        if name and name not in _ZONES and not _is_word(name):
            return None
        offset = int(hours) * 60 + int(minutes or 0)
        if offset > _FARTHEST:
            return None
        return (offset if sign == "+" else -offset), rest
    if not name or (name not in _ZONES and _is_word(name)):
        return 0, tail
    if sign:  # "Europe/Berlin -05": a place says which day's rule holds, and the sign belongs to a date
        rest = tail[match.end(1) :]
    if name in _ZONES:
        return _ZONES[name], rest
    if len(name) == 1:
        return None if name == "j" or rest.startswith(".") else (0, rest)
    if place := _PLACES.get(name) or _zone_ids().get(name):
        long = _LONG_ZONE.match(rest)
        return ZoneInfo(place), rest[long.end() :] if long else rest
    return None


def _is_word(name: str) -> bool:
    return "/" not in name and (name in _NO_ZONE or name.endswith("day") or _month(name) is not None)


@cache
def _zone_ids() -> dict[str, str]:
    """Return the ids of zones by how they are written in lower case."""
    return {name.lower(): name for name in available_timezones()}


def _from_digits(text: str) -> datetime | None:
    """Read seconds or milliseconds since 1970, or the digits of a date written together."""
    if len(text) in (8, 14):
        time = (int(text[8:10]), int(text[10:12]), int(text[12:])) if len(text) == 14 else (0, 0, 0)
        return _build((int(text[:4]), int(text[4:6]), int(text[6:8])), time, 0)
    if len(text) in (10, 13):
        return datetime.fromtimestamp(int(text) / (1 if len(text) == 10 else 1000), tz=UTC)
    return None


def _year_first(text: str) -> tuple[int, int, int] | None:
    match = _YEAR_FIRST.search(text) or _EAST_ASIAN.search(text)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _year_last(match: re.Match[str], first: DateOrder) -> tuple[tuple[int, int, int], DateOrder]:
    """Return a date that ends in its year, and what it says about the order of day and month."""
    one, two, year = int(match[1]), int(match[3]), int(match[4])
    order: DateOrder = "open" if one != two else ""
    if one > 12 or two > 12:
        order = first = "day" if one > 12 else "month"
    month_first = first == "month" if first else match[2] == "/"
    return ((year, one, two) if month_first else (year, two, one)), order


def _month(word: str) -> int | None:
    word = f"{word.removeprefix('ב')}."  # Hebrew's "in" stands before the name
    stems = (_MONTH_STEMS.get(word[:length]) for length in range(7, 2, -1))
    return next((month for month in stems if month is not None), 0) or None


def _named_date(text: str) -> tuple[int, int, int] | None:
    text = _NUMBERED_MONTH.sub(
        lambda match: f" {_ENGLISH_MONTHS[int(match[1] or match[2]) - 1].lower()} ", text
    )
    # The last one: a weekday may look like a month before it ("mar., 3 sept. 2015").
    months = [number for word in _WORDS.findall(text) if (number := _month(word)) is not None]
    if not months:
        return None
    month = months[-1]
    numbers = _DIGITS.findall(text)
    year = next((number for number in numbers if len(number) == 4), None)
    if year is not None:
        days = [int(number) for number in numbers if len(number) <= 2]
        return int(year), month, days[0] if days else 1
    short = [int(number) for number in numbers if len(number) <= 2]
    if len(short) < 2:
        return None
    return short[1] + (2000 if short[1] < 70 else 1900), month, short[0]
