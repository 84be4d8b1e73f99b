"""Text from outside made fit for a terminal: what moves its cursor, or hides or turns text, is escaped."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Final

_UNSEEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""What has no picture though its category is that of a letter or a mark."""


def is_printable(character: str) -> bool:
    """Return whether a terminal shows a character, and does nothing else.

    Not so for controls (C0, DEL, C1), for what turns the direction of text or has no width, for the ends of
    lines and paragraphs, and for halves of characters.
    """
    if character.isascii():
        return character.isprintable()
    return unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} and character not in _UNSEEN


def as_escape(character: str) -> str:
    r"""Return the escape of a character as Python and most terminals' manuals write it, such as \x1b."""
    return character.encode("unicode_escape").decode("ascii")


def as_json_escape(character: str) -> str:
    r"""Return the escape of a character in JSON: \u and four digits, for each of its halves."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def as_xml_reference(character: str) -> str:
    """Return the reference to a character in XML."""
    return f"&#x{ord(character):x};"


def printable(text: str, escape: Callable[[str], str] = as_escape, *, keep: str = "") -> str:
    """Return text in which every character is one that a terminal shows.

    Args:
        text: from anywhere.
        escape: how another character is written.
        keep: characters that stay as they are, such as the line ends of a text of several lines.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if is_printable(c) or c in keep else escape(c) for c in text)
