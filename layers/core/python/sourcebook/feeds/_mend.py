"""Mends for what publishers commonly break, made only after the parser has refused a document."""

from __future__ import annotations

import html
import html.entities
import re
from xml.parsers.expat import errors
from xml.sax.saxutils import escape

from sourcebook.feeds.model import Cause, NotAFeed

CUT_OFF = frozenset(
    errors.codes[message]
    for message in (
        errors.XML_ERROR_NO_ELEMENTS,
        errors.XML_ERROR_UNCLOSED_TOKEN,
        errors.XML_ERROR_PARTIAL_CHAR,
        errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)
TEXT_BEHIND = errors.codes[errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
REFERENCE = re.compile(r"&(?:(#[0-9]{1,9}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{0,30});)?")
"""An ampersand, with what it names."""
_LOOSE = re.compile(
    rf"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|{REFERENCE.pattern}|<(?![A-Za-z_/!?])", re.DOTALL
)
_SURROGATES = re.compile(
    r"&#(5529[6-9]|55[3-9]\d\d|56[0-2]\d\d|563[01]\d|[xX][dD][89abAB][0-9a-fA-F]{2});"
    r"&#(5632\d|563[3-9]\d|56[4-9]\d\d|57[0-2]\d\d|573[0-3]\d|5734[0-3]|[xX][dD][c-fC-F][0-9a-fA-F]{2});"
)
_MOST = 100_000
_XML_ENTITIES = frozenset(("amp", "lt", "gt", "quot", "apos"))


def mend(text: str, warnings: list[str]) -> str:
    """Return a document that expat may read where it refused `text`; `text` itself when nothing was found.

    Mended are control characters, bare ampersands and angle brackets, entities of HTML, and references
    to characters that XML does not know. CDATA and comments stay as they are. Time is linear.

    Args:
        text: the document, without document type.
        warnings: what was mended is added.

    Raises:
        NotAFeed: PARSE_FAILED when there is more to mend than any feed needs.
    """
    mended, dropped = _CONTROL.subn("", text)
    if dropped:
        warnings.append(f"{dropped} control characters were dropped")
    mended, changed = _SURROGATES.subn(_of_surrogates, mended)

    def replace(match: re.Match[str]) -> str:
        nonlocal changed
        whole = match[0]
        replacement = "&lt;" if whole == "<" else whole
        if whole[0] == "&":
            replacement = mend_reference(match)
        changed += replacement != whole
        if changed > _MOST:
            raise NotAFeed(
                Cause.PARSE_FAILED,
                f"the document is damaged in more than {_MOST} places; ask the publisher to mend it",
            )
        return replacement

    mended = _LOOSE.sub(replace, mended)
    if changed:
        warnings.append(f"{changed} bare ampersands, angle brackets or foreign entities were mended")
    return mended if dropped or changed else text


def _of_surrogates(match: re.Match[str]) -> str:
    """Return the character for its two halves in UTF-16, which programs write as two references."""
    halves = b"".join(_code(name).to_bytes(2) for name in match.groups())
    return escape(halves.decode("utf-16-be", "ignore"))


def _code(name: str) -> int:
    return int(f"0{name}", 16) if name[0] in "xX" else int(name)


def mend_reference(match: re.Match[str]) -> str:
    """Return what stands in XML for a `REFERENCE`, as HTML would read it."""
    name = match[1]
    if name is None:
        return "&amp;"
    if name in _XML_ENTITIES:
        return match[0]
    if name[0] != "#":
        character = html.entities.html5.get(f"{name};")
        return html.escape(character) if character is not None else f"&amp;{name};"
    code = _code(name[1:])
    allowed = code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD
    return f"&#{code};" if allowed or 0x10000 <= code <= 0x10FFFF else ""
