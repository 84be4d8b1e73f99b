"""Reading what rate pages write: figures in percent, with all their ways of writing a number."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final, Literal

from sourcebook.errors import shorten

RAW_LIMIT: Final = 200
"""Characters of `raw_value` that are kept."""

PLAUSIBLE: Final = (Decimal(-25), Decimal(100))
"""Percent a year between which a rate is taken without a second thought."""

Unit = Literal["percent", "per_mille", "basis_points", "fraction"]
"""What a number without a sign of its own is meant in; ``fraction`` is 0.045 for 4.5 %."""

DecimalMark = Literal["auto", "point", "comma"]
"""What stands before the decimals. ``auto`` decides number by number."""

_FACTORS: Final = {
    "percent": Decimal(1),
    "per_mille": Decimal("0.1"),
    "basis_points": Decimal("0.01"),
    "fraction": Decimal(100),
}
_SHIFT_OF_MARKS: Final = {"‰": "per_mille", "bps": "basis_points", "bp": "basis_points", "%": "percent"}


class Warn(StrEnum):
    """Codes of `parse_warnings`: the figure was taken, and this is what was odd about it."""

    FOOTNOTE = "footnote"
    """A footnote mark stood beside the figure and was left out."""
    OPEN_RANGE = "open_range"
    """Only one end was given ("from 4.5", "up to 4.7"); the figure is that end."""
    RANGE_REVERSED = "range_reversed"
    """The larger end stood first."""
    SEPARATOR_AMBIGUOUS = "separator_ambiguous"
    """"4.500" could be 4.5 or 4500; the one that a rate can be was taken."""
    SEPARATOR_UNEXPECTED = "separator_unexpected"
    """The decimals stand after the other mark than the source declares."""
    MONTHLY = "monthly_rate"
    """The figure was per month; taken times twelve, the nominal rate per year."""
    IMPLAUSIBLE = "implausible"
    """Outside of what a rate can be expected to be."""


class Reason(StrEnum):
    """Why a value or a term gives no figure."""

    NO_VALUE = "no_value"
    NOT_A_NUMBER = "not_a_number"
    SEVERAL_NUMBERS = "several_numbers"
    VALUE_OUT_OF_RANGE = "value_out_of_range"
    NO_TERM = "no_term"
    TERM_UNREADABLE = "term_unreadable"
    TERM_IS_A_RANGE = "term_is_a_range"
    TERM_OF_A_LOAN = "term_of_a_loan"
    NO_BANK = "no_bank"
    NO_SERIES = "no_series"
    UNKNOWN_SERIES = "unknown_series"
    WRONG_NUMBER_OF_CELLS = "wrong_number_of_cells"
    MISSING_COLUMN = "missing_column"
    SECTION_HEADING = "section_heading"
    REPEATED = "repeated"


class Unreadable(Exception):
    """A text gives no figure.

    Attributes:
        reason: machine-readable.
        detail: the same in words, with what stood there.
    """

    def __init__(self, reason: Reason, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason.value}: {detail}")


@dataclass(frozen=True, slots=True)
class Rate:
    """A figure in percent.

    Attributes:
        low, high: the ends of a range, equal for a single figure; None where a range is open.
        value: the figure itself; the middle of a range, the known end of an open one.
        raw: what stood there, spaces collapsed, at most `RAW_LIMIT` characters.
        warnings: codes of `Warn`.
    """

    low: Decimal | None
    high: Decimal | None
    value: Decimal
    raw: str
    warnings: tuple[str, ...] = ()


_NOTHING = re.compile(
    r"(?:[-–—‐‑‒―−_.…/*·]+|n\s*/?\s*a\.?|n\.\s?a\.?|nil|none|null|nan|x|"
    r"k\.?\s?a\.?|không(?: có| áp dụng)?|unavailable)?",
    re.IGNORECASE,
)
_SUPERSCRIPTS = re.compile(r"[⁰¹²³⁴-⁹⁽⁾ⁱªº☆★†‡§¶]+")
_FOOTNOTE = re.compile(
    r"[*†‡§¶#]+(?:\d(?!\d))?"  # 4.5*, 4.5*1
    r"|\((?:\d{1,2}|[a-z*]|[ivx]{1,4})\)"  # 4.5 (1), (a), (*)
    r"|\[(?:\d{1,2}|[a-z*])\]",  # 4.5 [1]
    re.IGNORECASE,
)
_SPACES = re.compile(r"[\s\u200b\u2060\ufeff]+")
_PER_MONTH = re.compile(
    r"/\s*(?:1\s*)?(?:tháng|month|mo\b|monat|mois|mes|月)|p\.\s?m\.|per month|monthly|im monat", re.IGNORECASE
)
_PER_YEAR = re.compile(
    r"/\s*(?:1\s*)?(?:năm|year|yr|y\b|annum|jahr|an\b|año|ano|anno|年)|p\.?\s?a\.?(?!\w)|"
    r"per (?:annum|year)|annually|một năm|mỗi năm|im jahr|pro jahr|par an|年利",
    re.IGNORECASE,
)
_FROM = r"(?:từ|from|ab|von|starting(?: at)?|at least|min(?:imum|\.)?|à partir de|de|desde|tối thiểu|≥|>=|>)"
_UP_TO = (
    r"(?:lên đến|lên tới|đến|tới|up to|upto|to|bis(?: zu)?|"
    r"max(?:imum|\.)?|at most|jusqu'à|hasta|tối đa|≤|<=|<)"
)
_JOINT = rf"(?:-|~|〜|to|{_UP_TO}|and|và|und|à|a|y|until|\.{{2,3}})"
_NUMBER = r"[+-]?\d(?:[\d.,' ]*\d)?"
_UNIT = r"(?:\s*(?:%|‰|bps?\b|percent|prozent|phần trăm))?"
_SINGLE = re.compile(rf"({_NUMBER}){_UNIT}", re.IGNORECASE)
_RANGE = re.compile(
    rf"(?:{_FROM}\s*|between\s*|trong khoảng\s*)?({_NUMBER}){_UNIT}\s*{_JOINT}\s*({_NUMBER}){_UNIT}",
    re.IGNORECASE,
)
_OPEN_LOW = re.compile(
    rf"{_FROM}\s*({_NUMBER}){_UNIT}|({_NUMBER}){_UNIT}\s*(?:trở lên|and (?:more|above)|\+)", re.IGNORECASE
)
_OPEN_HIGH = re.compile(
    rf"{_UP_TO}\s*({_NUMBER}){_UNIT}|({_NUMBER}){_UNIT}\s*(?:trở xuống|or less)", re.IGNORECASE
)
_LABEL = re.compile(r"^(?:lãi suất|rate|interest|zins(?:satz)?|ls)\s*:?\s*", re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:(?P<mark>[.,' ])\d{3})(?:(?P=mark)\d{3})*")


def parse_rate(
    text: str,
    *,
    unit: Unit = "percent",
    decimal_mark: DecimalMark = "auto",
) -> Rate:
    """Read a figure as a page writes it.

    Single figures, ranges, open ranges; ``%``, ``‰`` or ``bps`` beside the number rule over `unit`. In
    ``1.234,5`` the last mark is the decimal one. A lone group of three digits (``4.500``) is read in the way
    that gives a rate within `PLAUSIBLE`. Footnote marks are left out; a figure per month is taken times 12.

    Args:
        text: what stood in the cell.
        unit: of a number without a sign.
        decimal_mark: what the source declares; a figure that contradicts it unmistakably is read as it is
            meant, with a warning.

    Raises:
        Unreadable: if there is no figure, or more than a range.
    """
    raw = " ".join(text.split())[:RAW_LIMIT]
    cleaned, warnings = _clean(text)
    if _NOTHING.fullmatch(_FOOTNOTE.sub("", cleaned).strip()):
        raise Unreadable(Reason.NO_VALUE, f"{shorten(raw)} stands for no value")
    cleaned, factor, per = _without_units(cleaned, unit)
    warnings += per
    low_text, high_text = _ends(cleaned, raw)
    notes: list[Warn] = []
    low = None if low_text is None else _number(low_text, decimal_mark, factor, notes)
    high = None if high_text is None else _number(high_text, decimal_mark, factor, notes)
    warnings += notes
    if low is not None and high is not None:
        if low > high:
            low, high = high, low
            warnings.append(Warn.RANGE_REVERSED)
        value = low if low == high else (low + high) / 2
    else:
        value = low if low is not None else high or Decimal(0)
        warnings.append(Warn.OPEN_RANGE)
    if any(not PLAUSIBLE[0] <= end <= PLAUSIBLE[1] for end in (low, high) if end is not None):
        warnings.append(Warn.IMPLAUSIBLE)
    return Rate(low, high, value, raw, tuple(dict.fromkeys(warning.value for warning in warnings)))


def _clean(text: str) -> tuple[str, list[Warn]]:
    """Return a text without footnote marks, in plain digits and signs."""
    warnings: list[Warn] = []
    # Before compatibility forms are resolved: they would turn the footnote of 4,5¹ into the number 4,51.
    without = _SUPERSCRIPTS.sub(" ", text)
    plain = unicodedata.normalize("NFKC", without.replace("‰", "\0")).replace("\0", "‰")
    plain = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in plain)
    plain = re.sub(r"[‐‑‒–—―−－]", "-", plain).replace("’", "'").replace("٪", "%").replace("٫", ",")
    plain = _SPACES.sub(" ", plain).strip()
    unmarked = _FOOTNOTE.sub(" ", plain)
    if (without != text or unmarked != plain) and re.search(r"\d", unmarked):
        warnings.append(Warn.FOOTNOTE)
        plain = unmarked
    return _SPACES.sub(" ", plain).strip(" ;:"), warnings


def _without_units(text: str, unit: Unit) -> tuple[str, Decimal, list[Warn]]:
    """Return the text without its period and label, the factor to percent a year, and what was odd."""
    found = next(
        (name for mark, name in _SHIFT_OF_MARKS.items() if re.search(rf"{mark}(?!\w)", text, re.IGNORECASE)),
        unit,
    )
    factor = _FACTORS[found]
    monthly = _PER_MONTH.search(text) is not None
    text = _LABEL.sub("", _PER_YEAR.sub(" ", _PER_MONTH.sub(" ", text)))
    text = _SPACES.sub(" ", text).strip(" ;:,./()")
    return text, factor * (12 if monthly else 1), [Warn.MONTHLY] if monthly else []


def _ends(text: str, raw: str) -> tuple[str | None, str | None]:
    if found := _SINGLE.fullmatch(text):
        return found[1], found[1]
    if found := _RANGE.fullmatch(text):
        return found[1], found[2]
    if found := _OPEN_LOW.fullmatch(text):
        return found[1] or found[2], None
    if found := _OPEN_HIGH.fullmatch(text):
        return None, found[1] or found[2]
    count = len(re.findall(r"\d+(?:[.,]\d+)?", text))
    if count > 1:
        raise Unreadable(Reason.SEVERAL_NUMBERS, f"{shorten(raw)} holds {count} numbers that are no range")
    raise Unreadable(Reason.NOT_A_NUMBER, f"{shorten(raw)} is no number and no range of two")


def _number(text: str, mark: DecimalMark, factor: Decimal, notes: list[Warn]) -> Decimal:
    """Return one number in percent.

    Raises:
        Unreadable: if its separators make no number.
    """
    digits = text.replace(" ", "").replace("'", "")
    spaced = digits != text
    if spaced and not re.fullmatch(r"[+-]?\d{1,3}(?:[ ']\d{3})+(?:[.,]\d+)?", text):
        raise Unreadable(Reason.SEVERAL_NUMBERS, f"{shorten(text)} is more than one number")
    points, commas = digits.count("."), digits.count(",")
    if not points and not commas:
        return Decimal(digits) * factor
    if points and commas:
        last = max(digits.rfind("."), digits.rfind(","))
        whole, thousands = digits[:last], "," if digits[last] == "." else "."
        if digits.count(digits[last]) > 1 or not re.fullmatch(
            rf"[+-]?\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+", whole
        ):
            raise Unreadable(Reason.NOT_A_NUMBER, f"{shorten(text)} mixes points and commas")
        _expect(mark, digits[last], notes)
        return Decimal(f"{whole.replace(thousands, '')}.{digits[last + 1 :]}") * factor
    separator = "." if points else ","
    if points + commas > 1:
        if not _GROUPED.fullmatch(digits):
            raise Unreadable(Reason.NOT_A_NUMBER, f"{shorten(text)} has several decimal marks")
        return Decimal(digits.replace(separator, "")) * factor
    as_decimal = Decimal(digits.replace(",", ".")) * factor
    if not _GROUPED.fullmatch(digits) or digits.lstrip("+-").startswith("0"):
        _expect(mark, separator, notes)
        return as_decimal
    # One group of three: 4.500. Where the source declares this mark for decimals there is no doubt.
    if mark == {".": "point", ",": "comma"}[separator]:
        return as_decimal
    as_thousands = Decimal(digits.replace(separator, "")) * factor
    if as_thousands <= PLAUSIBLE[1] or as_decimal > PLAUSIBLE[1]:
        notes.append(Warn.SEPARATOR_AMBIGUOUS)
        return as_thousands
    notes.append(Warn.SEPARATOR_AMBIGUOUS if mark == "auto" else Warn.SEPARATOR_UNEXPECTED)
    return as_decimal


def _expect(mark: DecimalMark, found: str, notes: list[Warn]) -> None:
    if mark != "auto" and mark != {".": "point", ",": "comma"}[found]:
        notes.append(Warn.SEPARATOR_UNEXPECTED)
