"""How long money is tied up: terms as pages write them, in one canonical form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Final, Literal

from sourcebook.errors import InvalidInput, shorten
from sourcebook.observations.plain import DECIMAL, FOOTNOTE, plain_text
from sourcebook.observations.values import Reason, UnreadableValue
from sourcebook.observations.words import units

NO_TERM: Final = "-"
"""Code of the figures of a series that has no terms, such as a loan's."""

TERM_LIMIT: Final = 120
"""Characters of a term; a longer text is none."""

TermUnit = Literal["days", "weeks", "months", "years"]

_DAYS_IN_MONTH: Final = 30
_LONGEST_MONTHS: Final = 1200
_BARE: Final[dict[TermUnit, str]] = {"days": "D", "weeks": "W", "months": "M", "years": "Y"}
_ORDER: Final = "YMWD"

_DEMAND = re.compile(
    r"(?:không (?:có )?kỳ hạn|không kì hạn|kkh|kh?ông thời hạn|khong ky han|demand(?: deposits?)?|on demand|"
    r"(?:at|on)[- ]call|call|no (?:fixed )?term|non[- ]?term|sight|overnight|o/?n|instant(?: access)?|"
    r"easy access|current|"
    r"täglich (?:fällig|verfügbar|kündbar)|tagesgeld|sofort|à vue|a la vista|普通預金|普通|活期|0)",
    re.IGNORECASE,
)
_PREFIX = re.compile(
    r"^(?:kỳ hạn|kì hạn|term|tenor|laufzeit|durée|plazo|festgeld|fixed|定期) ?[:-]? ?", re.IGNORECASE
)
_SUFFIX = re.compile(
    r"(?: ?(?:term|(?:time )?deposits?|fixed|rate|fest|cds?|kỳ hạn|定期|存款|(?<=[年月天])期|もの)|"
    r"s?[- ]?festgeld){1,8}$",
    re.IGNORECASE,
)
_ISO_DURATION = re.compile(r"P(?=(?:\d{1,5}[YMWD])+$)")
_CHINESE_COUNT = re.compile(
    r"(?<!\w)(?:[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])(?=[个個]?[月年天日周週])"
)
_COUNTS: Final = {
    word: count
    for words in (
        "one two three four five six seven eight nine ten eleven twelve",
        "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "un deux trois quatre cinq six sept huit neuf dix onze douze",
        "un dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "un due tre quattro cinque sei sette otto nove dieci undici dodici",
        "a",
        "an",
        "une",
        "eine",
    )
    for count, word in enumerate(words.split(), 1)
}
"""Counts as sentences and headings spell them."""
_OPEN = re.compile(
    r"trở lên|\+$|\+ ?[^\W\d_]|\band (?:more|over|above|longer)\b|\bor (?:more|longer|less)\b|từ|dưới|"
    r"\bunder\b|"
    r"\bover\b|\babove\b|less than|\bup to\b|\bunter|\büber|\bab |\bbis\b|>|<|≥|≤",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\d ?[^\d\s]* ?(?:-|~|đến|to|bis|tới|à|a|до|–) ?(?:dưới ?)?\d", re.IGNORECASE)
_IN_DAYS = re.compile(r"\(([^()]{1,40})\)$")
_PLURAL = re.compile(r"(?<=[^\W\d_])\([^\W\d_]{1,3}\)")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\d\s,;:!?()\[\]+&/~<>=*%|-]+|\S")
_JOINERS: Final = frozenset({",", "&", "+", "and", "và", "und", "et", "y", "e", "i", "и"})


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """A term in months, or in days where it is no number of months.

    A week is 7 days. 30 days are not a month: banks offer both, side by side. Half months are kept as such.
    """

    months: int | Decimal | None = None
    days: int | None = None

    @property
    def code(self) -> str:
        """The form in keys, e.g. ``M0006``, ``M0001.5``, ``D00007``; ``-`` without a term."""
        if self.days is not None:
            return f"D{self.days:05d}"
        if self.months is None:
            return NO_TERM
        return f"M{int(self.months):04d}{'' if self.months == int(self.months) else '.5'}"


def months_of(code: str) -> int | float | None:
    """Return the months that a term's code stands for, days at thirty to the month; None for `NO_TERM`."""
    if code == NO_TERM:
        return None
    number = float(code[1:])
    if code[0] == "M":
        return int(number) if number.is_integer() else number
    return round(number / _DAYS_IN_MONTH, 2)


def term_name(code: str) -> str | None:
    """Return a term's code as people write it, e.g. ``6M``, ``1.5M``, ``7D``; None without a term."""
    return None if code == NO_TERM else f"{float(code[1:]):g}{code[0]}"


def parse_term(text: str, *, bare: TermUnit | None = "months", language: str | None = None) -> Term:
    """Read a term: ``6 tháng``, ``6M``, ``1½ years``, ``1 year 6 months``, ``2 недели``, ``không kỳ hạn``.

    Args:
        text: what stood there.
        bare: unit of a number that stands alone; None if there is none.
        language: primary language of the page, such as ``vi``; it decides what ``6T`` means.

    Raises:
        UnreadableValue: if it is no term, or several, or means different terms in different languages.
    """
    if len(text) > TERM_LIMIT:
        raise UnreadableValue(Reason.TERM_UNREADABLE, f"{shorten(text[:TERM_LIMIT])}… is too long for a term")
    plain = FOOTNOTE.sub("", plain_text(text)).replace(DECIMAL, ".").strip(" .:*;")
    if not plain.strip("-/ "):
        raise UnreadableValue(Reason.NO_TERM, "the term is missing")
    if _DEMAND.fullmatch(_SUFFIX.sub("", plain)) or _DEMAND.fullmatch(plain):
        return Term(months=0)
    plain = plain.replace("半年", "6个月").replace("年半", "年6个月")
    plain = _CHINESE_COUNT.sub(_chinese_count, _ISO_DURATION.sub("", plain))
    plain, in_days = _without_days(_PLURAL.sub("", plain), language)
    if _BETWEEN.search(plain) or _OPEN.search(plain):
        raise UnreadableValue(Reason.TERM_IS_A_RANGE, "is a range of terms, not one", text)
    plain = _SUFFIX.sub("", _PREFIX.sub("", plain)).strip(" .")
    term = _term(list(_parts(_TOKEN.findall(plain), text, bare, language)), text)
    if in_days is not None and not _about(term, in_days):
        raise UnreadableValue(Reason.TERM_UNREADABLE, "gives two terms", text)
    return term


def _chinese_count(match: re.Match[str]) -> str:
    count = 0
    for digit in match[0]:
        value = int(unicodedata.numeric("二" if digit == "两" else digit))
        count = (count or 1) * 10 if value == 10 else count + value
    return str(count)


def _without_days(plain: str, language: str | None) -> tuple[str, Term | None]:
    """Split ``12 tháng (365 ngày)`` into the term and the same term in other words."""
    found = _IN_DAYS.search(plain)
    if found is None or not plain[: found.start()].strip():
        return plain, None
    try:
        return plain[: found.start()].strip(), _term(
            list(_parts(_TOKEN.findall(found[1].strip()), plain, None, language)), plain
        )
    except UnreadableValue:
        return plain, None


def _about(term: Term, other: Term) -> bool:
    """Whether two terms are the same but for the lengths of months."""
    one, two = (
        float(t.days) if t.days is not None else float(t.months or 0) * 365.25 / 12 for t in (term, other)
    )
    return abs(one - two) <= 3 + one * 0.02


def _parts(
    tokens: list[str], text: str, bare: TermUnit | None, language: str | None
) -> Iterator[tuple[Decimal, str]]:
    """Yield the numbers and units of a term. Raise UnreadableValue if anything else stands there."""
    at = 0
    while at < len(tokens):
        if tokens[at].casefold() in _JOINERS and 0 < at < len(tokens) - 1:
            at += 1
            continue
        spelled = _COUNTS.get(tokens[at].casefold()) if at + 1 < len(tokens) else None
        if spelled or tokens[at][0].isdigit():
            number = Decimal(spelled) if spelled else _count(tokens[at], text)
            at += 1
            if at == len(tokens) == 1 and bare is not None:
                yield number, _BARE[bare]
                return
            at += at < len(tokens) and tokens[at] == "-"
            unit, at = _unit(tokens, at, "after", text, language)
            yield number, unit
            continue
        unit, after = _unit(tokens, at, "before", text, language, needed=False)
        if unit and after < len(tokens) and tokens[after][0].isdigit():
            yield _count(tokens[after], text), unit
            at = after + 1
            continue
        unit, at = _unit(tokens, at, "alone", text, language)
        yield Decimal(unit[0]), unit[1]


def _unit(  # noqa: PLR0917 - where it stands, and how it is read
    tokens: list[str],
    at: int,
    place: Literal["after", "before", "alone"],
    text: str,
    language: str | None,
    needed: bool = True,
) -> tuple[str, int]:
    """Return the unit that begins at a token, and the place behind it; the longest word of up to three.

    Raise UnreadableValue if none begins there, or languages differ on which.
    """
    for length in (3, 2, 1):
        if at + length > len(tokens):
            continue
        word = " ".join(tokens[at : at + length])
        found = {unit for unit in units(word, language, place) if unit[-1] in _ORDER}
        if len(found) > 1:
            raise UnreadableValue(
                Reason.TERM_AMBIGUOUS,
                f"{shorten(text)}: {shorten(word)} is another unit in another language; set `language`",
            )
        if found:
            return found.pop(), at + length
    if needed:
        raise UnreadableValue(Reason.TERM_UNREADABLE, "is no term such as 6 months, 1Y or 2 weeks", text)
    return "", at


def _count(number: str, text: str) -> Decimal:
    whole, _, decimals = number.replace(",", ".").partition(".")
    # 1.000 is one or a thousand.
    if len(whole) > 5 or len(decimals) > 2 or not (whole + decimals).isdigit():
        raise UnreadableValue(Reason.TERM_UNREADABLE, "has a number that could mean several things", text)
    return Decimal(f"{whole}.{decimals or 0}")


def _term(parts: list[tuple[Decimal, str]], text: str) -> Term:
    order = [_ORDER.index(unit) for _, unit in parts]
    if not parts or order != sorted(set(order)):
        raise UnreadableValue(Reason.TERM_UNREADABLE, "is no term such as 6 months, 1Y or 2 weeks", text)
    months = days = Decimal(0)
    for count, unit in parts:
        months += count * {"Y": 12, "M": 1}.get(unit, 0)
        days += count * {"W": 7, "D": 1}.get(unit, 0)
    if days and months:
        raise UnreadableValue(Reason.TERM_UNREADABLE, "mixes months and days", text)
    if months > _LONGEST_MONTHS or days > _LONGEST_MONTHS * _DAYS_IN_MONTH:
        raise UnreadableValue(Reason.TERM_UNREADABLE, "is longer than a hundred years", text)
    if days:
        return Term(days=int(days.to_integral_value(ROUND_HALF_UP)))
    if months * 2 != (months * 2).to_integral_value():
        raise UnreadableValue(Reason.TERM_UNREADABLE, "is no whole or half number of months", text)
    return Term(months=int(months) if months == months.to_integral_value() else months)


def term_code(value: str) -> str:
    """Return the code of a `term_months` that a client gives: months, or a term such as ``1W`` or ``7D``.

    Raises:
        InvalidInput: if it is neither.
    """
    try:
        return parse_term(value).code
    except UnreadableValue as error:
        raise InvalidInput(
            "term_months", value, "a whole number of months such as 6, or a term such as 2W or 7D"
        ) from error
