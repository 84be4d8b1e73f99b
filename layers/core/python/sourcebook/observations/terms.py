"""How long money is tied up: terms as pages write them, in one canonical form."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Final, Literal

from sourcebook.errors import InvalidInput, shorten
from sourcebook.observations.values import Reason, Unreadable

NO_TERM: Final = "-"
"""Code of the figures of a series that has no terms, such as a loan's."""

TermUnit = Literal["days", "weeks", "months", "years"]

_DAYS_IN_MONTH: Final = 30
_LONGEST_MONTHS: Final = 1200

_DEMAND = re.compile(
    r"(?:không (?:có )?kỳ hạn|không kì hạn|kkh|kh?ông thời hạn|khong ky han|demand(?: deposits?)?|on demand|"
    r"at call|call|no (?:fixed )?term|non[- ]?term|sight|overnight|instant(?: access)?|easy access|current|"
    r"täglich fällig|tagesgeld|sofort|à vue|a la vista|普通預金|普通|活期|0)",
    re.IGNORECASE,
)
_UNITS: Final[tuple[tuple[str, str], ...]] = (
    ("years", r"năm|years?|yrs?|jahren?|jahr|ans?|années?|años?|anni|anno|年|y|j"),
    (
        "months",
        r"tháng|thang|th|months?|mos?|mths?|monaten?|monate?|mois|mes(?:es)?|mesi|mese|[ヶかカケヵ箇]月|个月|個月|月|m|t",
    ),
    ("weeks", r"tuần|tuan|weeks?|wks?|wochen?|semaines?|semanas?|settiman[ae]|週間|週|周|w"),
    ("days", r"ngày|ngay|days?|tagen?|tage?|jours?|días?|giorn[oi]|日間|日|天|d|n"),
)
_PART = re.compile(
    r"(\d+(?:[.,]\d+)?)\s*-?\s*(?:"
    + "|".join(f"(?P<{unit}>{names})" for unit, names in _UNITS)
    + r")(?![^\W\d_])",
    re.IGNORECASE,
)
_PREFIX = re.compile(
    r"^(?:kỳ hạn|kì hạn|term|tenor|laufzeit|durée|plazo|festgeld|fixed)\s*:?\s*", re.IGNORECASE
)
_SUFFIX = re.compile(r"\s*(?:term|deposit|fixed|kỳ hạn|定期|もの)$", re.IGNORECASE)
_BARE = re.compile(r"\d+(?:[.,]\d+)?")
_OPEN = re.compile(
    r"trở lên|\+$|and (?:more|over|above)|or more|từ|dưới|under|over|above|less than|"
    r"unter|über|ab |bis|>|<|≥|≤",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\d\s*[^\d\s]*\s*(?:-|–|—|~|đến|to|bis|tới)\s*(?:dưới\s*)?\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """A term in months, or in days where it is no whole number of months.

    A week is 7 days. 30 days are not a month: banks offer both, side by side.
    """

    months: int | None = None
    days: int | None = None

    @property
    def code(self) -> str:
        """The form in keys, e.g. ``M006``, ``D007``; ``-`` without a term."""
        if self.days is not None:
            return f"D{self.days:05d}"
        return NO_TERM if self.months is None else f"M{self.months:04d}"

    @property
    def term_months(self) -> int | float | None:
        """The term in months; days at thirty to the month, to two decimals."""
        return months_of(self.code)


def months_of(code: str) -> int | float | None:
    """Return the months that a term's code stands for; None for `NO_TERM`."""
    if code == NO_TERM:
        return None
    number = int(code[1:])
    return number if code[0] == "M" else round(number / _DAYS_IN_MONTH, 2)


def parse_term(text: str, *, bare: TermUnit = "months") -> Term:
    """Read a term: ``6 tháng``, ``6M``, ``1 năm``, ``1 year 6 months``, ``2 weeks``, ``không kỳ hạn``.

    Args:
        text: what stood there.
        bare: unit of a number that stands alone.

    Raises:
        Unreadable: if it is no term, or a range of terms.
    """
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text))
    plain = " ".join(plain.split()).strip(" .:*")
    if not plain or re.fullmatch(r"[-–—/]+", plain):
        raise Unreadable(Reason.NO_TERM, "the term is missing")
    if _DEMAND.fullmatch(_SUFFIX.sub("", plain)) or _DEMAND.fullmatch(plain):
        return Term(months=0)
    if _BETWEEN.search(plain) or _OPEN.search(plain):
        raise Unreadable(Reason.TERM_IS_A_RANGE, f"{shorten(text)} is a range of terms, not one")
    plain = re.sub(
        r"\(\s*\d+\s*(?:ngày|days?|tage)\s*\)", "", plain, flags=re.IGNORECASE
    )  # 12 tháng (365 ngày)
    plain = _SUFFIX.sub("", _PREFIX.sub("", plain)).strip()
    if _BARE.fullmatch(plain):
        return _term([(plain, bare)], text)
    parts = [(found[1], str(found.lastgroup)) for found in _PART.finditer(plain)]
    if not parts or re.sub(r"[\s,&+]|and|và|und|et", "", _PART.sub("", plain)):
        raise Unreadable(
            Reason.TERM_UNREADABLE, f"{shorten(text)} is no term such as 6 months, 1Y or 2 weeks"
        )
    return _term(parts, text)


def _term(parts: list[tuple[str, str]], text: str) -> Term:
    months = days = Decimal(0)
    for number, unit in parts:
        try:
            count = Decimal(number.replace(",", "."))
        except InvalidOperation as error:
            raise Unreadable(Reason.TERM_UNREADABLE, f"{shorten(text)} has no number") from error
        months += count * {"years": 12, "months": 1}.get(unit, 0)
        days += count * {"weeks": 7, "days": 1}.get(unit, 0)
    if days and months:
        raise Unreadable(Reason.TERM_UNREADABLE, f"{shorten(text)} mixes months and days")
    if months > _LONGEST_MONTHS or days > _LONGEST_MONTHS * _DAYS_IN_MONTH:
        raise Unreadable(Reason.TERM_UNREADABLE, f"{shorten(text)} is longer than a hundred years")
    if days:
        return Term(days=int(days.to_integral_value(ROUND_HALF_UP)))
    if months != months.to_integral_value():
        raise Unreadable(Reason.TERM_UNREADABLE, f"{shorten(text)} is no whole number of months")
    return Term(months=int(months))


def term_code(value: str) -> str:
    """Return the code of a `term_months` that a client gives: months, or a term such as ``1W`` or ``7D``.

    Raises:
        InvalidInput: if it is neither.
    """
    try:
        return parse_term(value).code
    except Unreadable as error:
        raise InvalidInput(
            "term_months", value, "a whole number of months such as 6, or a term such as 2W or 7D"
        ) from error
