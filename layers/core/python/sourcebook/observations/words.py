"""Words for units of time and shares in the languages of CLDR.

`training/build_term_words.py` makes the list; it is loaded when the first word is looked up.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

Place = Literal["after", "before", "alone", "per"]
"""Where a word stands: ``6 months``, ``miezi 6``, ``שנתיים`` (two years), ``per month``."""

LONGEST_WORD: Final = 60
TENORS: Final = {"d": "D", "w": "W", "m": "M", "y": "Y"}
_FILE: Final = Path(__file__).parent / "data" / "term_words.json"
_KANA: Final = str.maketrans("ヶケヵカヵ箇", "かかかかかか")


def key(text: str) -> str:
    """Return the form in which words are compared: lower case, without dots and invisible characters."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    plain = "".join(c for c in plain if unicodedata.category(c) != "Cf")
    plain = " ".join(plain.replace("'", "’").split()).strip(". ")
    return plain.translate(_KANA) if plain.endswith("月") else plain


def language_of(tag: str | None) -> str | None:
    """Return the language of a BCP 47 tag such as ``de-CH``; None for none, or for no such tag."""
    primary = (tag or "").replace("_", "-").partition("-")[0].strip().casefold()
    return primary if primary.isascii() and primary.isalpha() and len(primary) in {2, 3} else None


def units(word: str, language: str | None = None, place: Place = "after") -> frozenset[str]:
    """Return the units that a word stands for.

    Args:
        word: as the page writes it.
        language: primary language of the page. What the word means there is what it means; a single letter
            that the language does not have means nothing.
        place: where the word stands.

    Returns:
        Some of ``D``, ``W``, ``M``, ``Y``, ``%``, ``‰`` and ``‱``; of `alone` with a count before it.
        Nothing for an unknown word; several where languages differ and `language` does not decide.
    """
    if len(word) > LONGEST_WORD:
        return frozenset()
    return _units(key(word), language, place)


@lru_cache(maxsize=4_096)
def _units(word: str, language: str | None, place: Place) -> frozenset[str]:
    entry = _entry(_tables()[place].get(word) or _tables_without_accents()[place].get(word, ""))
    if language is not None and (own := {unit for unit, names in entry.items() if language in names}):
        return frozenset(own)
    letter = word.removeprefix("/") if place == "per" else word
    if len(letter) == 1 and place in {"after", "per"}:
        if letter in TENORS:
            return frozenset(TENORS[letter])
        if language is not None and letter.isalpha() and letter.isascii():
            return frozenset()
    return frozenset(entry)


def _entry(text: str) -> dict[str, list[str]]:
    """Read ``M:de,en;W:kab``: languages by unit."""
    found: dict[str, list[str]] = {}
    for part in filter(None, text.split(";")):
        unit, names = part.split(":")
        found[unit] = [*found.get(unit, []), *names.split(",")]
    return found


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Mapping[str, str]]:
    content: dict[str, dict[str, str]] = json.loads(_FILE.read_text("utf-8"))
    return content


@lru_cache(maxsize=1)
def _tables_without_accents() -> Mapping[str, Mapping[str, str]]:
    """Return the words as they are typed without accents: ``thang``, ``anos``."""
    found: dict[str, dict[str, str]] = {}
    for place in ("after", "before", "alone", "per"):
        plain: dict[str, str] = {}
        for word, entry in _tables()[place].items():
            if word.isascii():
                continue
            bare = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
            bare = bare.replace("đ", "d")
            if bare.isascii():
                plain[bare] = ";".join(filter(None, (plain.get(bare), entry)))
        found[place] = plain
    return found
