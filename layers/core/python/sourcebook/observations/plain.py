"""Text of a page in plain characters: digits, signs and spaces in one form, marks of footnotes apart."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import Final

DECIMAL: Final = "\u2396"
"""Stands in `plain_text` for a decimal mark that can be nothing else."""

STRUCK: Final = "\u0336"
"""Stands in a cell's text for what the page strikes out."""

RAISED: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
LOWERED: Final = "₀₁₂₃₄₅₆₇₈₉"
MARKS = re.compile(r"[⁰¹²³⁴-⁹⁽⁾ⁱªº₀-₉①-⑳☆★†‡§¶®©™℠ⓘℹ\ufe0f\u0336]+")
"""Raised and lowered marks, which `plain_text` leaves out."""
_ARROWS: Final = "▲△▼▽"
"""Before a figure a minus in Japan, and its way up or down elsewhere; other pictures mean nothing."""
FOOTNOTE = re.compile(
    r"(?<=[\w%. )])[*†‡§¶#^]+\d(?![\d.,%])|[*†‡§¶#^]+"  # 4.5*1, 4.5*, **4.5
    r"|\((?:\d{1,2}|[a-z*]|[ivx]{1,4})\)"  # 4.5 (1), (a), (*)
    r"|\[(?:\d{1,2}|[a-z*])\]",  # 4.5 [1]
    re.IGNORECASE,
)
"""A mark of a footnote in plain characters."""

_DASHES: Final = dict.fromkeys(map(ord, "‐‑‒–—―−－﹣－"), "-")
_SIGNS: Final = {
    **_DASHES,
    ord("’"): "'",
    ord("٪"): "%",
    ord("٫"): DECIMAL,
    ord("٬"): "'",
    ord("〜"): "~",
    ord("～"): "~",
}
_GLYPHS: Final = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_GLYPH = re.compile(rf"(?<![\d.,/])(\d{{1,4}})?[ \u00a0\u2009\u202f]?([{_GLYPHS}])(?![\d.,])")
_FRACTION = re.compile(r"(?<![\d.,/])(\d{1,4}) (\d{1,2})[/⁄](\d{1,2})(?![\d.,/])")
_BUILT = re.compile(r"(?<![\d.,/])(\d{1,4})? ?([⁰¹²³⁴-⁹]{1,2})[/⁄]([₀-₉]{1,2})(?![\d.,])")
_RAISED_DECIMALS = re.compile(r"(?<=\d[.,])[⁰¹²³⁴-⁹]{2,4}")
_MIDDLE_DOT = re.compile(r"(?<=\d)·(?=\d)")
_OF_RAISED: Final = str.maketrans(RAISED + LOWERED, "01234567890123456789")


def plain_text(text: str) -> str:
    """Return a short text in plain characters.

    Spaces are collapsed, invisible characters left out; digits of any script are ASCII, dashes and signs have
    one form; fractions are decimals after `DECIMAL`. Raised marks become a space: they are footnotes.
    """
    plain = "".join(c for c in text if not _means_nothing(c))
    plain = _BUILT.sub(
        lambda m: _decimal(m[1], m[2].translate(_OF_RAISED), m[3].translate(_OF_RAISED)), plain
    )
    plain = _GLYPH.sub(lambda m: _decimal(m[1], *unicodedata.normalize("NFKC", m[2]).split("⁄")), plain)
    plain = _RAISED_DECIMALS.sub(lambda m: m[0].translate(_OF_RAISED), plain)
    # Before compatibility forms are resolved: they would turn the footnote of 4,5¹ into the number 4,51.
    plain = _MIDDLE_DOT.sub(DECIMAL, MARKS.sub(" ", plain))
    plain = unicodedata.normalize("NFKC", plain.replace("‰", "\0").replace("‱", "\1"))
    plain = plain.replace("\0", "‰").replace("\1", "‱")
    plain = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in plain).translate(_SIGNS)
    plain = " ".join(plain.split())
    return _FRACTION.sub(lambda m: _decimal(m[1], m[2], m[3], m[0]), plain)


def _means_nothing(character: str) -> bool:
    category = unicodedata.category(character)
    picture = category == "So" and character not in _ARROWS and not MARKS.match(character)
    return picture or category == "Cf"


def _decimal(whole: str | None, numerator: str, denominator: str, otherwise: str | None = None) -> str:
    if not 0 < int(numerator) < int(denominator):
        return otherwise if otherwise is not None else f"{whole or ''} {numerator}/{denominator}"
    part = f"{(Decimal(numerator) / Decimal(denominator)).normalize():.6f}".rstrip("0")
    return f"{whole or 0}{DECIMAL}{part[2:]}"
