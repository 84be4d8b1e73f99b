"""What a heading says of the bare numbers under it: the unit of a term, a share, a period.

A declaration rules over a heading, and what stands beside a number over both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sourcebook.observations.words import TENORS, units

if TYPE_CHECKING:
    from sourcebook.observations.values import Unit

_TIMES: Final = frozenset("DWMY")
UNITS_OF_SIGNS: Final[dict[str, Unit]] = {"%": "percent", "‰": "per_mille", "‱": "basis_points"}
_LONGEST: Final = 300
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACKETS = re.compile(r"[(\[（【]([^()\[\]（）【】]*)[)\]）】]")
# What stands behind these is the unit of what stands before: "Laufzeit in Jahren", "Срок, лет".
_BEHIND = re.compile(r"[,/:]|\b(?:in|en|em|w|v|в|у|по)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_PER_MONTH = re.compile(r"\bp\. ?m\.|[%‰‱] ?p\.?m\b", re.IGNORECASE)
_PER_YEAR = re.compile(r"\bp\.? ?a\b|\bper annum\b|\bannual(?:ly)?\b|\bAPR\b|\bAPY\b|\bAER\b", re.IGNORECASE)
# Of a rate, or of when it is paid out: nobody can say.
MONTHLY = re.compile(
    r"\b(?:monthly|monatlich|mensual|mensuel|mensile|mensal|miesięczn|měsíčn|mesačn|mesečn|mjesečn|ежемесячн|"
    r"щомісячн|месячн|månatlig|månedlig|maandelijks|havi|lunar|aylık|bulanan|kuukausi)|hàng tháng|"
    r"[每毎]月|月[利息]|매월|월이율",
    re.IGNORECASE,
)
_SHORT: Final = 3


@dataclass(frozen=True, slots=True)
class RateHeading:
    """The meaning of a heading for the figures under it.

    Attributes:
        unit: of a number without a sign, by its name in `Unit`; None where it says none.
        per_month: whether the figures are per month.
        may_be_monthly: whether they may be, or may be paid out every month.
        several: whether it names several units, so that a bare number has none.
    """

    unit: Unit | None = None
    per_month: bool = False
    may_be_monthly: bool = False
    several: bool = False


NO_HEADING: Final = RateHeading()


def words_of_name(name: str) -> str:
    """Return the last name of a JMESPath expression as words: "Term Days" of ``product.termDays``."""
    found = _NAME.findall(name)
    return _CAMEL.sub(" ", found[-1]).strip() if found else ""


def term_units(heading: str, language: str | None = None) -> frozenset[str]:
    """Return the units that a heading gives to bare terms under it: some of ``D``, ``W``, ``M``, ``Y``."""
    text = " ".join(heading[:_LONGEST].split())
    if any(c.isdigit() for c in text):
        return frozenset()  # "Term 6 months" is a term, and "Kỳ hạn (30 ngày)" too
    pointed = [match[1] for match in _BRACKETS.finditer(text)] + _BEHIND.split(text)[1:] + [text]
    found: set[str] = set()
    for part in pointed:
        word = part.strip(" .()[]")
        found |= {TENORS[word.casefold()]} if word.casefold() in TENORS else _times(word, language)
    for word in _WORD.findall(text):
        if len(word) > _SHORT or not word.isascii():
            found |= _times(word, language)
    return frozenset(found)


def _times(word: str, language: str | None) -> frozenset[str]:
    return _TIMES & units(word, language, "after") if len(word) > 1 or not word.isascii() else frozenset()


def rate_heading(heading: str, language: str | None = None) -> RateHeading:
    """Return what a heading says of the figures under it."""
    text = " ".join(heading[:_LONGEST].split())
    shares = {sign for sign in UNITS_OF_SIGNS if sign in text}
    periods: set[str] = set()
    words = _WORD.findall(text)
    for word in words:
        shares |= units(word, language) & UNITS_OF_SIGNS.keys()
    for length in (2, 3):
        for at in range(len(words) - length + 1):
            run = " ".join(words[at : at + length])
            shares |= units(run, language) & UNITS_OF_SIGNS.keys()
            periods |= units(run, language, "per")
    for word in re.findall(r"/ ?([^\W\d_]+)", text):
        periods |= units(word, language) & _TIMES or units(f"/{word}", language, "per")
    if _PER_MONTH.search(text):
        periods.add("M")
    if _PER_YEAR.search(text):
        periods.add("Y")
    unit = UNITS_OF_SIGNS[shares.pop()] if len(shares) == 1 else None
    return RateHeading(
        unit=unit,
        per_month=periods == {"M"},
        may_be_monthly=not periods and MONTHLY.search(text) is not None,
        several=len(shares) > 1,
    )
