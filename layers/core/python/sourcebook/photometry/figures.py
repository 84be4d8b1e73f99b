"""Numbers as observers' software and spreadsheets write them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from sourcebook.errors import InvalidInput

_NUMBER: Final = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_MINUS: Final = str.maketrans("−–‐‑", "----")
_LONGEST: Final = 40
_NOTHING: Final = frozenset({"", "-", "--", "---", "na", "n/a", "nan", "none", "null", "nil", "…"})
_EXPECTED: Final = "a plain number such as 11.135 or, with a decimal comma, 11,135"


def is_blank(text: str) -> bool:
    """Whether a cell stands for "nothing": empty, ``na``, ``-``, ``NaN`` and the like."""
    return text.strip().lower() in _NOTHING


def read_number(field: str, text: str) -> Decimal:
    """Read a number with a decimal point or a decimal comma; there are no thousands in astronomy.

    Raises:
        InvalidInput: if it is not one; ``1,234.5`` is none, for it may be meant in two ways.
    """
    plain = text.strip().translate(_MINUS)
    if len(plain) > _LONGEST or not _NUMBER.fullmatch(plain):
        raise InvalidInput(field, text, _EXPECTED)
    return Decimal(plain.replace(",", "."))


def looks_like_a_number(text: str) -> bool:
    """Whether `read_number` would read it."""
    plain = text.strip().translate(_MINUS)
    return len(plain) <= _LONGEST and _NUMBER.fullmatch(plain) is not None
