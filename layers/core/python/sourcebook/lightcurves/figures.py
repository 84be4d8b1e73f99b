"""Numbers as observers' software and spreadsheets write them, and what stands where there is no number."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Final

from sourcebook.errors import InvalidInput

_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eEdD][+-]?\d{1,3})?", re.ASCII)
_MINUS: Final = str.maketrans("−–‐‑", "----")
_LONGEST: Final = 40
_BLANK: Final = frozenset(
    {
        *("", "-", "--", "---", "–", "—", "…", "...", ".", "~", "?", "*", "\\n", "#n/a", "#na", "#num!"),
        *"na n/a n.a. nan -nan +nan none null nil <null> (null) <na> nat".split(),
        *("inf", "-inf", "+inf", "infinity", "-infinity", "+infinity", "indef", "masked", "missing"),
        *("unknown", "undef", "undefined"),
    }
)
LIMIT_SIGNS: Final = tuple("<= >= << < > ≤ ≥ ≲ ≳ ⩽ ⩾ ＜ ＞ &lt; &gt; [".split())
"""Signs of an upper limit before a magnitude, the longer ones first. Observers write both < and > for
"fainter than", and visual observers ``[15.2``."""
_EXPECTED: Final = "a plain number such as 11.135 or, with a decimal comma, 11,135"


def is_blank(text: str) -> bool:
    """Whether a cell stands for "no value": empty, ``na``, ``-``, ``NaN``, ``inf`` and the like."""
    if not text:
        return True
    return len(text) <= 2 * _LONGEST and _is_blank(text)


@lru_cache(maxsize=4_096)
def _is_blank(text: str) -> bool:
    return text.strip().lower() in _BLANK


def is_placeholder(value: Decimal, *, shortest: int = 1) -> bool:
    """Whether a number is one that software writes for "no value": 99.99, 9.999, -99, -999 and the like.

    Args:
        value: the number.
        shortest: digits before the point that it has at least, for 9.99 may be a magnitude. Negative numbers
            may have fewer.
    """
    if not -1_000_000 < value < 1_000_000 or value.as_tuple().digits[0] != 9:
        return False
    whole, _, fraction = f"{abs(value):f}".partition(".")
    nines = whole + fraction.rstrip("0")
    return set(nines) == {"9"} and (value < 0 or len(whole) >= shortest)


def read_number(field: str, text: str) -> Decimal:
    """Read a number with a decimal point or a decimal comma; there are no thousands in astronomy.

    Raises:
        InvalidInput: if it is not one; ``1,234.5`` is none, for it may be meant in two ways.
    """
    plain = _plain(text)
    if len(plain) > _LONGEST or not _NUMBER.fullmatch(plain):
        raise InvalidInput(field, text, _EXPECTED)
    return Decimal(plain.replace(",", ".").upper().replace("D", "E"))


def looks_like_a_number(text: str) -> bool:
    """Whether `read_number` would read it."""
    plain = _plain(text)
    return len(plain) <= _LONGEST and _NUMBER.fullmatch(plain) is not None


def _plain(text: str) -> str:
    plain = text.strip()
    return plain if len(plain) > _LONGEST or plain.isascii() else plain.translate(_MINUS)


def split_sign(text: str) -> tuple[str, str]:
    """Return the sign of a limit before a number, or an empty one, and the text after it."""
    plain = text.strip()
    if plain[:1].isdigit():
        return "", plain
    for sign in LIMIT_SIGNS:
        if plain.startswith(sign):
            return sign, plain.removeprefix(sign).strip().removesuffix("]").rstrip()
    return "", plain
