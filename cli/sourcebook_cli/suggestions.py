"""Suggestions of known names for an unknown one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from typing import Final

from sourcebook.errors import InvalidInput

_SHOWN: Final = 3
_ALIKE: Final = 0.6
_COMPARED: Final = 5_000


def unknown(field: str, value: str, known: Iterable[str], expected: str) -> InvalidInput:
    """Return the error for an unknown name, with the known names that are most like it.

    Args:
        field: as the caller knows it, such as ``SOURCE_ID`` or ``--bank``.
        value: the name.
        known: all that there are; the first 5,000 are compared.
        expected: what would be right, and which command lists it.
    """
    alike = similar(value, known)
    if not alike:
        return InvalidInput(field, value, expected)
    return InvalidInput(field, value, f"{expected}. Did you mean {' or '.join(alike)}?")


def similar(value: str, known: Iterable[str]) -> list[str]:
    """Return up to three of the known names that are most like a value, the most alike first.

    Case, accents and the kind of the separators do not count. A name that begins with the value, or has it
    as one of its words, is alike however long it is.
    """
    names: dict[str, str] = {}
    for name, _ in zip(known, range(_COMPARED), strict=False):
        names.setdefault(_plain(name), name)
    wanted = _plain(value)
    if not wanted:
        return []
    close = get_close_matches(wanted, names, n=_SHOWN, cutoff=_ALIKE)
    holding = [plain for plain in names if plain.startswith(wanted) or wanted in plain.split()]
    holding.sort(key=lambda plain: -SequenceMatcher(a=wanted, b=plain).ratio())
    return [names[plain] for plain in dict.fromkeys([*close, *holding])][:_SHOWN]


def _plain(name: str) -> str:
    apart = unicodedata.normalize("NFKD", name.casefold().replace("đ", "d"))
    letters = "".join(c if c.isalnum() else " " for c in apart if not unicodedata.combining(c))
    return " ".join(letters.split())
