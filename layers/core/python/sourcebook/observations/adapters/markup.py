"""How much a page may hold, counted in its text before it is parsed.

Parsing HTML takes time and memory that grow with the square of what a page nests, of the attributes of one
element, and of elements such as `<b>` that are open at the same time. So these are counted first, by
expressions whose time grows with the length of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from sourcebook.observations.adapters.document import BadDocument, DocumentCause

MOST_TAGS: Final = 250_000
MOST_OPTIONS: Final = 10_000
MOST_UNENDED: Final = 10
MOST_NESTED: Final = 10_000
MOST_FORMATTED: Final = 1_000_000
MOST_ATTRIBUTES: Final = 500
MOST_ATTRIBUTES_ALTOGETHER: Final = 300_000

_SMALL: Final = 2_000
_PASSES: Final = 12
_VALUE = r"""(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=`]++)"""
_SIMPLE = rf"(?:\s++[a-zA-Z_:@][^\s\"'<>=/]*+(?:\s*+=\s*+{_VALUE})?+)*+\s*+"
_LEAF = re.compile(rf"<([a-zA-Z][a-zA-Z0-9]*+){_SIMPLE}>[^<]*+</\1\s*+>", re.IGNORECASE)
_EMPTY = re.compile(
    rf"<(?:br|img|input|hr|wbr|meta|link|col|area|base|source|track|embed){_SIMPLE}/?>|<!--[^<>\"'-]*+-->",
    re.IGNORECASE,
)
_DRAWING = re.compile(
    rf"<svg{_SIMPLE}>(?:[^<]++|<(?:path|circle|rect|line|polyline|polygon|ellipse|use|stop){_SIMPLE}/>|"
    rf"<g{_SIMPLE}>|</g>)*+</svg>",
    re.IGNORECASE,
)
_OPENED = re.compile(r"<([a-zA-Z][a-zA-Z0-9]*+)[^<>]*+")
_NO_CONTENT: Final = frozenset(
    "area base br col embed hr img input link meta source track wbr param keygen frame".split()
)
# The next of them, or the end of what holds them, ends each of these: they nest no deeper than that.
_ENDED_BY_OTHERS: Final = frozenset(
    "p li dd dt td th tr tbody thead tfoot option optgroup colgroup caption html head body".split()
)
_OPTION = re.compile("<option", re.IGNORECASE)
_FORMATTING: Final = frozenset("b big code em font i s small strike strong tt u".split())
_TAG = re.compile(
    r"""<[a-zA-Z][^\s/>]*+((?:[\s/]++|[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'>][^\s>]*+)?+)?+)*+)>"""
)
_ATTRIBUTE = re.compile(r"""[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'>][^\s>]*+)?+)?+""")
_COMMENT = re.compile(r"<!--(?:-?>|[^>]*?--!?>|.*?--!?>)", re.DOTALL)


def check_markup(text: str) -> None:
    """Raise BadDocument if the elements of a page, what they nest, or their attributes are too many."""
    tags = text.count("<")
    if tags > MOST_TAGS:
        raise _too_large(f"{tags} tags where {MOST_TAGS} are the most")
    _check_attributes(text)
    # Each option of a list is looked at again for the next one.
    if (options := sum(1 for _ in _OPTION.finditer(text))) > MOST_OPTIONS:
        raise _too_large(f"{options} options of lists, where {MOST_OPTIONS} are the most")
    if tags <= _SMALL:
        return
    # Whatever begins, holds text only, and ends, has ended: without it, what holds it can be seen to end too.
    rest, before = text, tags + 1
    for _ in range(_PASSES):
        rest = _LEAF.sub("", _EMPTY.sub("", _DRAWING.sub("", rest)))
        left = rest.count("<")
        if left <= _SMALL or left > before * 0.95:
            break
        before = left
    opened = Counter((found[1].casefold(), found[0]) for found in _OPENED.finditer(rest))
    nested = formatted = 0
    for (name, _), count in opened.items():
        nested += 0 if name in _NO_CONTENT or name in _ENDED_BY_OTHERS else count
        formatted += min(count, 3) if name in _FORMATTING else 0
    if nested > MOST_NESTED:
        raise _too_large(f"{nested} elements may be nested in each other, where {MOST_NESTED} are the most")
    if formatted * tags > MOST_FORMATTED:
        raise _too_large(f"{formatted} elements such as <b> may be open at the same time")


def _check_attributes(text: str) -> None:
    """Refuse a page with too many attributes, in one element or altogether."""
    # An attribute has a blank, a slash or a quotation mark before it.
    total = at = unended = 0
    while (at := text.find("<", at)) >= 0:
        if text.startswith("<!--", at):
            found = _COMMENT.match(text, at)
            at = found.end() if found else len(text)
            continue
        tag = _TAG.match(text, at)
        if tag is None:
            # A tag that does not end reaches to the end of the page, and looking for its end costs as much.
            if text[at + 1 : at + 2].isalpha():
                unended += 1
                if unended > MOST_UNENDED:
                    raise _too_large("tags that do not end")
            at += 1
            continue
        at = tag.end()
        if (held := len(tag[1])) < 2:
            continue
        count = held // 2
        if count > MOST_ATTRIBUTES or total + count > MOST_ATTRIBUTES_ALTOGETHER:
            count = sum(1 for _ in _ATTRIBUTE.finditer(tag[1]))
        else:
            count = tag[1].count("=") + 1
        total += count
        if count > MOST_ATTRIBUTES:
            raise _too_large(f"an element with {count} attributes, where {MOST_ATTRIBUTES} are the most")
        if total > MOST_ATTRIBUTES_ALTOGETHER:
            raise _too_large(f"more than {MOST_ATTRIBUTES_ALTOGETHER} attributes")


def _too_large(detail: str) -> BadDocument:
    return BadDocument(DocumentCause.TOO_LARGE, f"the page is too large to be read: {detail}")
