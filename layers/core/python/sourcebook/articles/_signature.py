"""The tokens of a headline whose meaning lies in their punctuation, which normalization takes away.

"1.5%" and "15%", "-3%" and "3%", "9/11" and "911", "C++" and "C" normalize alike and mean different things.
A token is written in one way however it was typed, and left out when its punctuation carries nothing: a plain
whole number, a thousands separator, the hyphen of "COVID-19".
"""

from __future__ import annotations

import re

_DASHES = r"\-−–‒"  # the hyphen escaped: it stands in character classes
_JOINTS = rf":/⁄{_DASHES}"
_CURRENCY = "$¢£¤¥֏؋৲৳૱௹฿៛₠-⃀"

# Every pattern that is searched for begins with a character class: `re` then skips to the first candidate.
_NUMBER = re.compile(
    rf"\d+(?:[.,٫٬'’{_JOINTS}]\d+)*(?P<rate>\s?[%‰٪])?(?P<currency>\s?[{_CURRENCY}](?!\s?[{_DASHES}]?\.?\d))?"
)
_BEFORE_NUMBER = re.compile(
    rf"(?P<minus>(?<![\w%)\]}}{_DASHES}—―])[{_DASHES}])?(?P<currency>[{_CURRENCY}]\s?)?(?P<inner>[{_DASHES}])?"
    r"(?P<point>(?<![\w.])\.)?$"
)
_MAY_STAND_BEFORE_NUMBER = re.compile(rf"[{_CURRENCY}{_DASHES}.]")
_REACH = 5  # a minus sign, a currency, a space, a minus sign, a point

_WORD_MARK = re.compile(
    r"[+#♯.−–‐‑-](?:(?<=[+#♯])|(?<=\.)[^\W\d_]|(?<=[abc].)(?:[\s,.;:!?)\]]|$)|(?<=re.)sign)"
)
_WORD = re.compile(
    r"""
      (?<!\w)(?!lgbt)[^\W\d_]\w*(?:\+\+|\+(?!\w))
    | (?<!\w)[^\W\d_][#♯](?![^\W\d_])
    | (?<![\w.])\.[^\W\d_]\w*
    | (?<!\w)(?:a{1,3}|b{1,3}|c{1,3})[-−–](?=[\s,.;:!?)\]]|$)
    | (?<!\w)re[-‐‑]sign(?:s|ed|ing)?(?!\w)
    """,
    re.VERBOSE,
)

_SPLIT_JOINTS = re.compile(rf"([{_JOINTS}])")
_WRITTEN_MARKS = str.maketrans("⁄−–‒‐‑٫٬’٪♯", "/-----.,'%#")
_APOSTROPHE_GROUPS = re.compile(r"(?!0)\d{1,3}(?:'\d{3})+(?:\.\d+)?")
_COMMA_GROUPS = re.compile(r"(?!0)(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})(?:\.\d+)?")
_DOT_GROUPS = re.compile(r"(?!0)\d{1,3}(?:(?:\.\d{3}){2,}(?:,\d+)?|\.\d{3},\d+)")
_DECIMAL_COMMA = re.compile(r"\d+,\d+")


def signature_of(prepared: str) -> str:
    """Return the tokens of a prepared, lower-case headline in their order, separated by single spaces."""
    tokens = [(match.start(), _quantity(prepared, match)) for match in _NUMBER.finditer(prepared)]
    if _WORD_MARK.search(prepared):
        tokens += [(match.start(), match[0].translate(_WRITTEN_MARKS)) for match in _WORD.finditer(prepared)]
        tokens.sort()
    return " ".join(token for _, token in tokens if token)


def _quantity(text: str, match: re.Match[str]) -> str:
    start, end = match.span()
    before = None
    if _MAY_STAND_BEFORE_NUMBER.search(text, max(0, start - _REACH), start):
        before = _BEFORE_NUMBER.search(text, max(0, start - _REACH), start)
    rate, currency = match["rate"] or "", match["currency"] or ""
    number = text[start : end - len(rate) - len(currency)]
    if not number.isdigit():
        number = "".join(
            piece.translate(_WRITTEN_MARKS) if index % 2 else _plain_number(piece)
            for index, piece in enumerate(_SPLIT_JOINTS.split(number))
        )
    minus = ""
    if before:
        minus = "-" if before["minus"] or (before["inner"] and before["currency"]) else ""
        currency = before["currency"] or currency
        number = f"0.{number}" if before["point"] else number
    if not (minus or rate or currency) and number.isdigit():
        return ""
    return f"{minus}{currency.strip()}{number}{rate.strip().translate(_WRITTEN_MARKS)}"


def _plain_number(text: str) -> str:
    """Return a number without thousands separators and with a point for its decimals.

    A comma before exactly three digits separates thousands (also Indian groups), any other single comma is a
    decimal comma. A single point is a decimal point; points separate thousands only where that is the only
    reading ("1.234.567", "1.234,56"). Anything else (versions, dates, lists) stays as written.
    """
    if text.isdigit():
        return text
    text = text.translate(_WRITTEN_MARKS)
    if _APOSTROPHE_GROUPS.fullmatch(text):
        return text.replace("'", "")
    if _COMMA_GROUPS.fullmatch(text):
        return text.replace(",", "")
    if _DOT_GROUPS.fullmatch(text):
        return text.replace(".", "").replace(",", ".")
    if _DECIMAL_COMMA.fullmatch(text):
        return text.replace(",", ".")
    return text
