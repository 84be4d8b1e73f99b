"""From markup to plain text in one pass, and the repair of text that was encoded twice.

Nothing here may cost more than a constant per character: every search that fails ends the scan.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "rp", "rt", "ruby", "s", "samp", "small",
    "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip
_HIDDEN = frozenset({"script", "style", "template", "noscript", "iframe", "svg", "math", "head"})
_BLOCK = frozenset({
    "address", "article", "aside", "audio", "blockquote", "body", "br", "button", "canvas", "caption",
    "center", "col", "colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt", "embed",
    "fieldset", "figcaption", "figure", "footer", "form", "frame", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hr", "html", "img", "input", "legend", "li", "link", "main", "map", "menu", "meta",
    "nav", "object", "ol", "option", "p", "param", "picture", "pre", "progress", "section", "select",
    "source", "summary", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "title", "tr",
    "track", "ul", "video",
})  # fmt: skip
_LEFT_BY = dict.fromkeys(_INLINE, "") | dict.fromkeys(_BLOCK, " ") | dict.fromkeys(_HIDDEN)
"""What known tags leave behind; None for those that hide what follows."""
_NAME = re.compile(r"/?([a-zA-Z][a-zA-Z0-9:-]{0,40})")
# A quoted value may hold ">"; a quote that is never closed is none.
_ATTRIBUTES = r"""(?:[^>=]++|=\s*+(?:"[^"]*"|'[^']*')?)*+"""
_TAG = re.compile(rf"</?([a-zA-Z][a-zA-Z0-9:-]{{0,40}}){_ATTRIBUTES}(?:>|\Z)")
_TAG_END = re.compile(rf"{_ATTRIBUTES}>")
_ESCAPED_TAG = re.compile(
    r"\s*+&lt;(?:p|div|br|a|img|span|h[1-6]|ul|ol|table|strong|b|em|i)\b.*&gt;", re.DOTALL
)
_CLOSE = {tag: re.compile(rf"</{tag}\b", re.IGNORECASE) for tag in _HIDDEN}
_LONG_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{8,};?")
# Sought in UTF-8, because a search that begins with one byte is quick and one for a range is not.
_C1 = re.compile(b"\xc2[\x80-\x9f]")
_CP1252 = {
    code: bytes((code,)).decode("cp1252")
    for code in range(0x80, 0xA0)
    if code not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}
_LEADING = re.compile("[\xc2-\xf4]")
"""What the first byte of a character of UTF-8 is read as."""
_FROM_CP1252 = {ord(character): code for code, character in _CP1252.items()}
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_MARKUP_PER_TEXT = 20
_LONGEST_TITLE = 20_000


def clean(text: str) -> str:
    """Return `text` without white space around it, repaired.

    UTF-8 that was read as Latin-1 and encoded again is undone, and C1 controls are read as Windows-1252,
    both as feedparser does it, field by field. Text that is right does not match: its non-ASCII
    characters would have to form valid UTF-8 by accident.
    """
    text = text.strip()
    if text.isascii():
        return text
    try:
        meant = text.encode("latin-1").decode()
    except UnicodeError:
        meant = text
    return meant.translate(_CP1252) if _C1.search(meant.encode()) else meant


def without_cdata(text: str) -> str:
    """Return text that was wrapped in CDATA and then escaped, without the wrapping."""
    if not text.startswith("<![CDATA["):
        return text
    return text[len("<![CDATA[") :].removesuffix("]]>").strip()


def once_encoded(text: str) -> str:
    """Return text as it was meant if its UTF-8 was read as Windows-1252 and encoded again, else as it is.

    feedparser leaves such text as it is, so `clean` does too: this is for what we make of an entry.
    """
    if not _LEADING.search(text):
        return text
    try:
        return text.translate(_FROM_CP1252).encode("latin-1").decode()
    except UnicodeError:
        return text


def unescape(text: str) -> str:
    """Return `text` with HTML character references resolved. Absurdly long ones are replaced."""
    if "&" not in text:
        return text
    if "&#" in text:
        text = _LONG_REFERENCE.sub("\ufffd", text)
    return html.unescape(text)


def _strip_markup(markup: str, *, keep_unknown: bool) -> str:
    """Return the text between the tags. Tags of blocks leave a space, tags inside words nothing."""
    plain = None if keep_unknown else _between_plain_tags(markup)
    return _tag_by_tag(markup, keep_unknown=keep_unknown) if plain is None else plain


def _tag_by_tag(markup: str, *, keep_unknown: bool) -> str:
    pieces: list[str] = []
    position = 0
    while (start := markup.find("<", position)) >= 0:
        pieces.append(markup[position:start])
        left, position = _read_tag(markup, start, keep_unknown=keep_unknown)
        pieces.append(left)
    pieces.append(markup[position:])
    return "".join(pieces)


def _between_plain_tags(markup: str) -> str | None:
    """Return the text of what nearly all markup is, and in less time than tag by tag.

    None if some of it is no tag, hides what follows, or never ends.
    """
    if "<!" in markup or "<?" in markup or "<" in markup[markup.rfind(">") + 1 :]:
        return None
    pieces = _TAG.split(markup)
    left = [_LEFT_BY.get(name.lower(), " ") for name in pieces[1::2]]
    if None in left:
        return None
    pieces[1::2] = left
    return "".join(pieces)


def _read_tag(markup: str, start: int, *, keep_unknown: bool) -> tuple[str, int]:
    """Return what a tag leaves behind, and where the text goes on. What never ends swallows the rest."""
    name = _NAME.match(markup, start + 1)
    if name is None:
        if markup.startswith("<!--", start):
            return "", _behind(markup, "-->", start + 4)
        if markup.startswith(("<!", "<?"), start):
            return "", _behind(markup, ">", start)
        return "<", start + 1
    end = _TAG_END.match(markup, name.end())
    position = len(markup) if end is None else end.end()
    tag = name[1].lower()
    if keep_unknown and (end is None or tag not in _LEFT_BY):
        return markup[start:position], position
    left = _LEFT_BY.get(tag, " ")
    if left is not None:
        return left, position
    if markup[start + 1] != "/" and not markup.endswith("/>", start, position):
        close = _CLOSE[tag].search(markup, position)
        position = len(markup) if close is None else _behind(markup, ">", close.end())
    return " ", position


def _behind(markup: str, mark: str, start: int) -> int:
    found = markup.find(mark, start)
    return len(markup) if found < 0 else found + len(mark)


def text_of(markup: str, limit: int = 20_000) -> str:
    """Return the plain text of HTML, for reading and analysis.

    Scripts, styles and comments are left out, character references resolved, white space made single
    spaces. Time is linear in `limit`: of very long markup only the beginning is looked at.

    Args:
        markup: HTML or plain text.
        limit: most characters to return; longer text is cut at the end of a word.
    """
    text = markup[: limit * _MARKUP_PER_TEXT + 10_000]
    if "<" not in text and _ESCAPED_TAG.match(text):
        text = unescape(text)
    if "<" in text:
        text = _strip_markup(text, keep_unknown=False)
    return shorten_text(" ".join(unescape(text).split()), limit)


def plain_title(title: str) -> str:
    """Return a title as plain text: known HTML tags removed, references resolved, one line.

    Titles of RSS are HTML in practice and text by their specification, so words between angle
    brackets that are no HTML element stay.
    """
    title = title[:_LONGEST_TITLE]
    if "<" in title:
        title = _strip_markup(title, keep_unknown=True)
    return " ".join(unescape(title).split())


def author_name(author: str) -> str:
    """Return an author as plain text, without an address of mail if it has a name too."""
    author = plain_title(author)
    if author.endswith(")"):  # "ann@a.example (Ann)"
        address, _, name = author[:-1].partition("(")
    elif author.endswith(">"):  # "Ann <ann@a.example>"
        name, _, address = author[:-1].rpartition("<")
    else:
        return author
    is_address = "@" in address and " " not in address.strip()
    return name.strip(' "') or author if is_address else author


def shorten_text(text: str, limit: int) -> str:
    """Return `text` cut at the end of a word so that it has at most `limit` characters."""
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", 0, limit + 1)
    return text[: cut if cut > limit // 2 else limit].rstrip()


def text_member(mapping: Mapping[str, object], key: str) -> str:
    """Return a member as text that can be stored: numbers as they are written, since ids often are numbers.

    "" if there is none, or it is neither text nor number.
    """
    value = mapping.get(key)
    if isinstance(value, bool):
        return ""
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        return ""
    # Only unprintable characters can be unstorable, and printable text is recognized quickly.
    return value.strip() if value.isprintable() else _UNSTORABLE.sub("", value).strip()
