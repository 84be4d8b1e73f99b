"""Reading what rate pages write: figures in percent, with all their ways of writing a number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final, Literal

from sourcebook.errors import shorten
from sourcebook.observations.headings import MONTHLY, NO_HEADING, UNITS_OF_SIGNS, RateHeading
from sourcebook.observations.plain import DECIMAL, FOOTNOTE, MARKS, STRUCK, plain_text
from sourcebook.observations.words import units

RAW_LIMIT: Final = 200
"""Characters of `raw_value` that are kept."""

PLAUSIBLE: Final = (Decimal(-25), Decimal(100))
"""Percent a year between which a rate is taken without a second thought."""

USUAL: Final = (Decimal(-2), Decimal(40))
"""Percent a year between which a rate passes without a warning where its source declares no limits."""

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
_NAMES_OF_MARKS: Final = {".": "point", ",": "comma"}
_MOST_DIGITS: Final = 15


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
    MAYBE_MONTHLY = "maybe_monthly"
    """The heading says "monthly": of the rate, or of when it is paid out. It was taken as per year."""
    MONTHLY = "monthly_rate"
    """The figure was per month; taken times twelve, the nominal rate per year."""
    IMPLAUSIBLE = "implausible"
    """Outside of what a rate can be expected to be."""
    UNUSUAL = "unusual"
    """Outside of what rates usually are, and the source declares no limits."""
    CONDITION = "condition"
    """The text behind the figure names an amount of money that it holds for, and was left out."""
    STRUCK_OUT = "struck_out"
    """Text beside the figure is struck out on the page and was left out."""


class Reason(StrEnum):
    """Why a value or a term gives no figure."""

    NO_VALUE = "no_value"
    NO_RECORDS = "no_records"
    AMBIGUOUS_MEMBER = "said_twice"
    NOT_A_NUMBER = "not_a_number"
    SEVERAL_NUMBERS = "several_numbers"
    VALUE_OUT_OF_RANGE = "value_out_of_range"
    NO_TERM = "no_term"
    TERM_UNREADABLE = "term_unreadable"
    TERM_AMBIGUOUS = "term_ambiguous"
    TERM_IS_A_RANGE = "term_is_a_range"
    TERM_OF_A_LOAN = "term_of_a_loan"
    NO_BANK = "no_bank"
    NO_SERIES = "no_series"
    UNKNOWN_SERIES = "unknown_series"
    WRONG_NUMBER_OF_CELLS = "wrong_number_of_cells"
    MISSING_COLUMN = "missing_column"
    SECTION_HEADING = "section_heading"
    REPEATED = "repeated"
    NO_DATE = "no_date"
    NOT_YET = "not_yet"


class UnreadableValue(Exception):
    """A text gives no figure.

    Attributes:
        reason: machine-readable.
        detail: the same in words, beginning with what stood there where `about` says it.
    """

    def __init__(self, reason: Reason, problem: str, about: str | None = None) -> None:
        self.reason = reason
        self.detail = problem if about is None else f"{shorten(about)} {problem}"
        super().__init__(f"{reason.value}: {self.detail}")


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


_MINUS = re.compile(r"^minus (?=[\d.,])", re.IGNORECASE)
_NOTHING = re.compile(
    r"(?:[-_./·…]+|n ?/? ?a\.?|n\. ?a\.?|nil|none|null|nan|x|k\.? ?a\.?|không(?: có| áp dụng)?|unavailable)?",
    re.IGNORECASE,
)
_PER_MONTH = re.compile(r"\bp\. ?m\.|im monat", re.IGNORECASE)
_PER_YEAR = re.compile(
    r"\bp\.? ?a\.?(?!\w)|\b(?:per ann(?:um|o)|annual(?:ly)?|yearly|annu[oa]|annuel(?:le)?|anual|jährlich)\b|"
    r"một năm|mỗi năm|im jahr|(?<![\d ])年[利率]?",
    re.IGNORECASE,
)
_PER = re.compile(r"(?:/ ?|\ban? |\bl')(?:1 )?([^\W\d_][^\s\d/%‰()-]*)", re.IGNORECASE)
# What kind of rate it is; the number is the same.
_KIND_OF_RATE = re.compile(
    r"\b(?:(?:lãi suất|rate|interest|(?:soll|haben|jahres|nominal|effektiv|fest)?zins(?:satz|en)?|taux|"
    r"tasso|tasa|ls) ?:?|aer|ap[yr]|aprc|ear|t\.?a\.?e\.?(?:g\.?)?|t\.?i\.?n\.?|tna|gross|brutt?o|"
    r"brut|lordo|税引前|fixed|fest|fixe|fijo|fisso|gebunden(?:er?)?|variable|var\.|nominell(?:er?)?|nominale?|"
    r"eff(?:ekti(?:v|ver?)|ective|\.)|special(?: offer)?|new)(?!\w)",
    re.IGNORECASE,
)
_MONEY = r"(?:[$€£¥₫₹₩]|\b(?:usd|eur|gbp|aud|nzd|cad|sgd|hkd|chf|jpy|vnd)\b)"
# Behind the figure: "4.5% on the first $100,000", "2,5 % bis 50.000 €".
_CONDITION = re.compile(
    rf"(?<=[%‰‱])(.*?)(?=[^%‰‱]*{_MONEY}[^%‰‱]*$)(?:[(<>≤≥]|{_MONEY}|\b(?:for|on|if|when|with|over|from|above|below|"
    r"up to|min(?:imum|\.)?|max(?:imum|\.)?|balances?|deposits?|bei|ab|bis|für|pour|sur)(?!\w)).*$",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\W\d_](?:[^\d\s%‰‱/+<>=~()-]| (?=[^\W\d_]))*")
_FROM = (
    r"(?:từ|starting from|from|ab|von|starting(?: at)?|as low as|at least|(?:not?) less than|min(?:imum|\.)?|"
    r"mind(?:estens|\.)|à partir de|dès|de|desde|a partire da|dal?|tối thiểu|最低|≥|>=|>)"
)
_UP_TO = (
    r"(?:lên đến|lên tới|đến|tới|up to|upto|to|through|bis(?: zu)?|"
    r"max(?:imum|\.)?|höchstens|at most|as high as|(?:not?) more than|jusqu'à|hasta|fino (?:al?)|tối đa|"
    r"最[大高]|≤|<=|<)"
)
_JOINT = rf"(?: ?(?:-|~|to|{_UP_TO}|and|và|und|until|\.{{2,3}}) ?| (?:à|a|e|et|y) )"
_NUMBER = r"[+-]?(?:\d(?:[\d.,' ⎖]{0,24}\d)?|[.,⎖]\d{1,15})"
_SIGN = r" ?[%‰‱]?"
_SINGLE = re.compile(rf"%? ?({_NUMBER}){_SIGN}", re.IGNORECASE)
_RANGE = re.compile(
    rf"(?:(?:{_FROM}|between|zwischen|entre|tra|trong khoảng) ?)?"
    rf"({_NUMBER}){_SIGN}{_JOINT}({_NUMBER}){_SIGN}",
    re.IGNORECASE,
)
_OPEN_LOW = re.compile(
    rf"{_FROM} ?({_NUMBER}){_SIGN}|({_NUMBER}){_SIGN} ?(?:trở lên|(?:and|or) (?:more|above|higher)|以上|\+)",
    re.IGNORECASE,
)
_OPEN_HIGH = re.compile(
    rf"{_UP_TO} ?({_NUMBER}){_SIGN}|({_NUMBER}){_SIGN} ?(?:trở xuống|or (?:less|lower)|以下)", re.IGNORECASE
)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)?")
# 4.0999999999999996 is how programs write 4.1.
_FLOAT = re.compile(r"[+-]?\d{1,3}\.\d{12,22}")
_SPACED = re.compile(r"[+-]?\d{1,3}(?:[ ']\d{3})+(?:[.,⎖]\d+)?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?P<mark>[.,])\d{3}(?:(?P=mark)\d{3})*")
# 4⁵⁰ may be 4.50, and 4.¹ 4.1.
_RAISED_DECIMALS = re.compile(r"(?<![.,\d⎖])\d{1,3}[⁰¹²³⁴-⁹]{2}|\d[.,][⁰¹²³⁴-⁹](?![⁰¹²³⁴-⁹])")


def parse_rate(
    text: str,
    *,
    unit: Unit | None = None,
    decimal_mark: DecimalMark = "auto",
    language: str | None = None,
    heading: RateHeading = NO_HEADING,
) -> Rate:
    """Read a figure as a page writes it.

    Single figures, ranges, open ranges; a sign or word for a share beside the number rules over `unit`. In
    ``1.234,5`` the last mark is the decimal one. A lone group of three digits (``4.500``) is read in the way
    that gives a rate within `PLAUSIBLE`. Footnote marks are left out; a figure per month is taken times 12.

    Args:
        text: what stood in the cell.
        unit: of a number without a sign; None leaves it to the heading, and then it is percent.
        decimal_mark: what the source declares; a figure that contradicts it unmistakably is read as it is
            meant, with a warning.
        language: primary language of the page, for the words beside the number.
        heading: what stands over it says.

    Raises:
        UnreadableValue: if there is no figure, or more than a range, or the text is longer than `RAW_LIMIT`.
    """
    if len(text) > RAW_LIMIT and len(text := " ".join(text.split())) > RAW_LIMIT:
        raise UnreadableValue(Reason.NOT_A_NUMBER, "… is too long for a figure", text[:RAW_LIMIT])
    raw = " ".join(text.replace(STRUCK, "").split())
    if _RAISED_DECIMALS.search(text):
        raise UnreadableValue(
            Reason.SEVERAL_NUMBERS, f"{shorten(raw)}: raised digits may be decimals or a footnote"
        )
    cleaned, warnings = _clean(text)
    if _NOTHING.fullmatch(FOOTNOTE.sub("", cleaned).strip()):
        raise UnreadableValue(Reason.NO_VALUE, "stands for no value", raw)
    cleaned, factor, per = _without_units(cleaned, unit, language, raw, heading)
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
    """Return a text without footnote marks, in plain characters."""
    warnings: list[Warn] = []
    plain = _MINUS.sub("-", plain_text(text))
    unmarked = " ".join(FOOTNOTE.sub(" ", plain).split())
    if any(c.isdigit() for c in unmarked):
        if STRUCK in text:
            warnings.append(Warn.STRUCK_OUT)
        if (MARKS.search(text.replace(STRUCK, "")) and "⁄" not in text) or unmarked != plain:
            warnings.append(Warn.FOOTNOTE)
        plain = unmarked
    return plain.rstrip(" ;:↑↓▲▼").lstrip(" ;:"), warnings


def _without_units(
    text: str, unit: Unit | None, language: str | None, raw: str, heading: RateHeading
) -> tuple[str, Decimal, list[Warn]]:
    """Return the text without its period and label, the factor to percent a year, and what was odd.

    Raise UnreadableValue if it has two units or periods, or one that is neither a month nor a year.
    """
    periods: set[str] = set()

    def period(found: frozenset[str], otherwise: str) -> str:
        if not found:
            return otherwise
        periods.update(found)
        return " "

    def words(match: re.Match[str]) -> str:
        return _signs(match[0], language, periods)

    # Up to where it says for which amount of money the figure holds.
    shorter = _CONDITION.sub(r"\1", text)
    warnings = [Warn.CONDITION] if shorter != text else []
    text = _PER_YEAR.sub(lambda m: period(frozenset("Y"), m[0]), shorter)
    text = _PER_MONTH.sub(lambda m: period(frozenset("M"), m[0]), text)
    text = _PER.sub(lambda m: period(units(m[1], language) or units(f"/{m[1]}", language, "per"), m[0]), text)
    may_be_monthly = MONTHLY.search(text) is not None or heading.may_be_monthly
    text = _WORDS.sub(words, _without_kind(MONTHLY.sub(" ", text)))
    signs = {sign for sign in UNITS_OF_SIGNS if sign in text}
    if len(signs) > 1 or len(periods) > 1 or not periods <= set("YM"):
        raise UnreadableValue(Reason.NOT_A_NUMBER, "has several units, or one that is no rate's", raw)
    if not signs and unit is None and heading.several:
        raise UnreadableValue(Reason.NOT_A_NUMBER, "has no sign, and its heading names several", raw)
    factor = _FACTORS[UNITS_OF_SIGNS[signs.pop()] if signs else unit or heading.unit or "percent"]
    monthly = "M" in periods or (not periods and heading.per_month)
    if monthly:
        warnings.append(Warn.MONTHLY)
    elif may_be_monthly and not periods:
        warnings.append(Warn.MAYBE_MONTHLY)
    text = " ".join(text.split()).rstrip(" ;:,./()[]!。").lstrip(" ;:/()[]!")
    return text, factor * (12 if monthly else 1), warnings


def _without_kind(text: str) -> str:
    """Return the text without words for the kind of rate; with them where each of two figures has its own."""
    kinds = {" ".join(found.casefold().split()) for found in _KIND_OF_RATE.findall(text)}
    return text if len(kinds) > 1 and len(_FIGURE.findall(text)) > 1 else _KIND_OF_RATE.sub(" ", text)


def _signs(text: str, language: str | None, periods: set[str]) -> str:
    """Return a run of words with those for a share as signs, and without those for a period."""
    tokens = text.split(" ")
    kept: list[str] = []
    at = 0
    while at < len(tokens):
        for length in range(min(3, len(tokens) - at), 0, -1):
            word = " ".join(tokens[at : at + length])
            shares = {sign for sign in units(word.replace(".", ""), language) if sign in UNITS_OF_SIGNS}
            found = units(word, language, "per") if len(word) > 1 else frozenset()
            if len(shares) == 1:
                kept += shares
            elif found:
                periods.update(found)
            else:
                continue
            at += length
            break
        else:
            kept.append(tokens[at])
            at += 1
    return " ".join(kept)


def _ends(text: str, raw: str) -> tuple[str | None, str | None]:
    if found := _SINGLE.fullmatch(text):
        return found[1], found[1]
    if found := _RANGE.fullmatch(text):
        return found[1], found[2]
    if found := _OPEN_LOW.fullmatch(text):
        return found[1] or found[2], None
    if found := _OPEN_HIGH.fullmatch(text):
        return None, found[1] or found[2]
    count = len(_FIGURE.findall(text))
    if count > 1:
        raise UnreadableValue(Reason.SEVERAL_NUMBERS, f"holds {count} numbers that are no range", raw)
    raise UnreadableValue(Reason.NOT_A_NUMBER, "is no number and no range of two", raw)


def _number(text: str, mark: DecimalMark, factor: Decimal, notes: list[Warn]) -> Decimal:
    """Return one number in percent.

    Raise UnreadableValue if its separators make no number, or it has more digits than any rate.
    """
    if sum(c.isdigit() for c in text) > _MOST_DIGITS:
        if not _FLOAT.fullmatch(text):
            raise UnreadableValue(Reason.NOT_A_NUMBER, "has more digits than any rate", text)
        text = f"{round(Decimal(text), 10).normalize():f}"
    digits = text.replace(" ", "").replace("'", "")
    if digits != text and not _SPACED.fullmatch(text):
        raise UnreadableValue(Reason.SEVERAL_NUMBERS, "is more than one number", text)
    marks = [c for c in digits if c in f".,{DECIMAL}"]
    if not marks or marks == [DECIMAL]:
        return Decimal(digits.replace(DECIMAL, ".")) * factor
    separator = marks[-1]
    if len(marks) > 1:
        alike = len(set(marks)) == 1
        whole, _, decimals = digits.rpartition(separator)
        if DECIMAL in marks or not _GROUPED.fullmatch(digits if alike else whole):
            raise UnreadableValue(Reason.NOT_A_NUMBER, "has several decimal marks", text)
        if alike:
            return Decimal(digits.replace(separator, "")) * factor
        _expect(mark, separator, notes)
        return Decimal(f"{whole.replace(marks[0], '')}.{decimals}") * factor
    as_decimal = Decimal(digits.replace(",", ".")) * factor
    if not _GROUPED.fullmatch(digits) or digits.lstrip("+-").startswith("0"):
        _expect(mark, separator, notes)
        return as_decimal
    # One group of three: 4.500. Where the source declares this mark for decimals there is no doubt.
    if mark == _NAMES_OF_MARKS[separator]:
        return as_decimal
    as_thousands = Decimal(digits.replace(separator, "")) * factor
    if as_thousands <= PLAUSIBLE[1] or as_decimal > PLAUSIBLE[1]:
        notes.append(Warn.SEPARATOR_AMBIGUOUS)
        return as_thousands
    notes.append(Warn.SEPARATOR_AMBIGUOUS if mark == "auto" else Warn.SEPARATOR_UNEXPECTED)
    return as_decimal


def _expect(mark: DecimalMark, found: str, notes: list[Warn]) -> None:
    if mark != "auto" and mark != _NAMES_OF_MARKS[found]:
        notes.append(Warn.SEPARATOR_UNEXPECTED)
