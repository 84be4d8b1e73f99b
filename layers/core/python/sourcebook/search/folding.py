"""Text as it is indexed and asked for: without case and accents, in words separated by blanks.

Scripts that write no blanks between words (Chinese, Japanese, Thai …), and Korean, whose words are found
by their parts, become single characters. A run of them is asked for as a phrase, so any part of it is found.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_SINGLE: Final = re.compile(
    "["
    "\u3005\u3007\u3040-\u30ff\u3105-\u312f\u31f0-\u31ff"  # kana, bopomofo, the signs that repeat a character
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese characters
    "\u1100-\u11ff\uac00-\ud7a3"  # Korean
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "]"
)
# Nobody looks for a part of an address, and no two articles share one.
_ADDRESS: Final = re.compile(r"https?://\S+")
# Marks of Latin, Greek and Cyrillic letters, of Hebrew and of Arabic, and the Arabic stretch. In other
# scripts a mark is a vowel or makes another letter, and stays.
_MARKS: Final = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\u0640]"
)
_LETTERS: Final = str.maketrans(
    {"đ": "d", "ð": "d", "ø": "o", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)


def fold(text: str) -> str:
    """Return a text as it is indexed: `Nguyễn Đình` and `nguyen dinh` are the same."""
    apart = unicodedata.normalize("NFKD", _ADDRESS.sub(" ", text)).casefold()
    plain = _MARKS.sub("", apart).translate(_LETTERS)
    return _SINGLE.sub(r" \g<0> ", unicodedata.normalize("NFC", plain))


def words(text: str) -> list[str]:
    """Return the words of a text, folded; the index separates them in the same way."""
    return fold(text).translate(_ONLY_WORDS).split()


def _of_word(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LN" or category in {"Co", "Mn", "Mc"}


class _OnlyWords(dict[int, str]):
    """A table for `str.translate` that learns each character when it first meets it."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = found = character if _of_word(character) else " "
        return found


_ONLY_WORDS: Final = _OnlyWords()
