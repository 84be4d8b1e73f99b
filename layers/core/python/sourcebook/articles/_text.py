"""Characters first: a headline as plain lower-case text in one Unicode form."""

from __future__ import annotations

import html
import re
import unicodedata
from itertools import chain

MAX_CHARACTERS = 4096
"""How much of a headline is read. The longest real titles (whole posts in a title) are about half of this."""

# With its semicolon only: without one, "R&D&copy" and the like would be read as entities.
_ENTITY = re.compile(r"&(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});")
# Tags that occur in titles. An attribute needs its "=", so "a <b and c> d" keeps its words.
_ATTRIBUTES = r"""(?:\s+[a-z][a-z0-9-]*\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))*\s*/?"""
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|acronym|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|nobr|q|s|samp|small|span|strike|"
    rf"strong|sub|sup|tt|u|var|wbr){_ATTRIBUTES}>",
    re.IGNORECASE,
)
_BLOCK_TAG = re.compile(
    rf"</?(?:article|blockquote|br|center|div|h[1-6]|hr|img|li|ol|p|section|table|td|tr|ul){_ATTRIBUTES}>",
    re.IGNORECASE,
)

# Invisible although Unicode calls them letters or marks: grapheme joiner, Hangul fillers, Khmer inherent
# vowels, variation selectors (the second half of many emoji); and the enclosing keycap and its like.
_INVISIBLE = frozenset(
    chain(
        [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180F, 0x3164, 0xFFA0],
        range(0x180B, 0x180E),
        range(0x20DD, 0x20E5),
        range(0xFE00, 0xFE10),
        range(0xE0100, 0xE01F0),
    )
)
# NFKC would spell these out as letters ("Apple™" as "AppleTM").
_MARKS_OF_TRADE = frozenset([0x2120, 0x2122])


class _BeforeNfkc(dict[int, int | str | None]):
    """A table for `str.translate`, filled as characters are met: what NFKC would get wrong for us."""

    _MOST = 20_000

    def __missing__(self, code_point: int) -> int | str | None:
        result = self._decide(code_point)
        if len(self) < self._MOST:
            self[code_point] = result
        return result

    @staticmethod
    def _decide(code_point: int) -> int | str | None:
        character = chr(code_point)
        if (
            code_point in _INVISIBLE
            or code_point in _MARKS_OF_TRADE
            or unicodedata.category(character) == "Cf"
        ):
            return None
        decomposition = unicodedata.decomposition(character)
        if decomposition.startswith("<compat> 0020 "):
            return None  # a spacing accent, typed as an apostrophe: NFKC would break the word in two
        if decomposition.startswith("<fraction>"):
            return f" {character}"  # "5½" is "5 1/2", not "51/2"
        return code_point


_before_nfkc = _BeforeNfkc()
_WORD = re.compile(r"[^\W_]")


def clean(text: str) -> str:
    """Return text decoded, without markup, in NFKC and lower case, with single spaces.

    Lower case is the first of the seed's rules. It is applied here already so that a headline in capitals is
    prepared as the same headline in lower case is.
    """
    if len(text) > MAX_CHARACTERS:
        text = " ".join(text.split())[:MAX_CHARACTERS]
    text = without_entities(text)
    if "<" in text:
        text = _BLOCK_TAG.sub(" ", _INLINE_TAG.sub("", text))
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_before_nfkc))
    return " ".join(text.lower().split())[:MAX_CHARACTERS].rstrip()


def without_entities(text: str) -> str:
    """Return text with its entities decoded; those encoded twice too, as of feeds made from feeds."""
    for _ in range(2):
        if "&" not in text:
            break
        text = _ENTITY.sub(lambda entity: html.unescape(entity.group()), text)
    return text


def has_word(text: str) -> bool:
    """Return whether any letter or digit of any script is in `text`."""
    return _WORD.search(text) is not None
