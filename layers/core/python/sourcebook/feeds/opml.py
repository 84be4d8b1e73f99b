"""OPML: the lists of feeds that feed readers exchange, versions 1.0 and 2.0.

Read strictly when the document is well-formed. One that is not is read outline by outline: what feed readers
write holds bare ampersands, unquoted attributes and encodings that are not the declared ones, and all of
that says clearly enough which feeds are meant.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit, urlunsplit
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from sourcebook.errors import InvalidInput, shorten
from sourcebook.sources.model import NAME_LENGTH, TAG_LENGTH, TAGS_AT_MOST

LARGEST: Final = 20_000_000
"""Longest document that is read, in characters."""
MOST_OUTLINES: Final = 100_000
"""Outlines of one document, folders included."""
NAMESPACE: Final = "urn:sourcebook:opml"
"""Of the attributes in which an export keeps what OPML has no word for, such as the priority."""

_DEEPEST: Final = 200
_FEED_TYPES: Final = frozenset({"rss", "rss1", "rss2", "rdf", "atom", "feed", "json", "jsonfeed"})
_REFERENCES_ELSEWHERE: Final = frozenset({"include", "link"})

_NOT_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ROOT: Final = re.compile(r"<opml\b", re.IGNORECASE)
_OUTLINE: Final = re.compile(r"<(/?)outline\b", re.IGNORECASE)
# Every repeat is bounded, so that no document makes the search slow.
_ATTRIBUTE: Final = re.compile(
    r"""([^\s=<>"'/]{1,60})\s{0,20}=\s{0,20}(?:"([^"]{0,8000})"|'([^']{0,8000})'|([^\s"'<>]{1,8000}))"""
)
_ONE_PIECE: Final = re.compile(r"""[^\s=<>"'/]+|\s+|.""", re.DOTALL)
_SPACE: Final = re.compile(r"\s+")
_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class OpmlFeed:
    """A feed that a document lists.

    Attributes:
        url: address of the feed, as given but for white space and ``feed:``.
        name: its title, "" when it has none.
        tags: its categories, and the names of the folders that it lies in, without repeats.
        feed_id, priority, enabled: what an export of ours adds; None when it is absent.
        line: line of its outline in the document, from 1.
    """

    url: str
    name: str = ""
    tags: tuple[str, ...] = ()
    feed_id: str | None = None
    priority: int | None = None
    enabled: bool | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class OpmlProblem:
    """An outline, or an attribute of one, that could not be taken.

    Attributes:
        line: line of the outline in the document, from 1.
        message: field, value and what would be right.
    """

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class OpmlDocument:
    """What an OPML document holds.

    Attributes:
        feeds: in the order of the document, each address once.
        problems: what was left out, and why; the others are in `feeds`.
        mended: what was wrong with the document as a whole, "" when it is well-formed.
    """

    feeds: tuple[OpmlFeed, ...]
    problems: tuple[OpmlProblem, ...] = ()
    mended: str = ""


def parse_opml(content: bytes | str) -> OpmlDocument:
    """Read an OPML document of version 1.0 or 2.0, or what is meant to be one.

    Names of elements and attributes may be in any case, `type` may be absent, and what is not well-formed is
    read outline by outline. An outline that cannot be taken is reported, and harms no other.

    Raises:
        InvalidInput: if it is not OPML, is too large, or has more than `MOST_OUTLINES` outlines.
    """
    # Here, because the API has them at its start for nothing else.
    from sourcebook.feeds._document import decode  # noqa: PLC0415
    from sourcebook.feeds._mend import REFERENCE, mend_reference  # noqa: PLC0415

    text = decode(content, None, []) if isinstance(content, bytes) else content
    if len(text) > LARGEST:
        raise InvalidInput("opml", text[:60], "an OPML document of at most 20 MB")
    text = _NOT_XML.sub("", text).lstrip("\ufeff \t\r\n")
    root = _ROOT.search(text)
    if root is None:
        raise InvalidInput("opml", text[:60], "a document whose first element is <opml>")
    # What stands before the root is not read: no entity that it declares can grow or read from elsewhere.
    lines_before = text.count("\n", 0, root.start())
    body = text[root.start() :]
    if (outlines := body.lower().count("<outline")) > MOST_OUTLINES:
        raise InvalidInput("opml", f"{outlines} outlines", f"at most {MOST_OUTLINES}; import it in parts")
    reading = _Reading()
    mended = ""
    try:
        _read_strictly(REFERENCE.sub(mend_reference, body), reading, lines_before)
    except expat.ExpatError as error:
        mended = f"{expat.ErrorString(error.code)}; read outline by outline"
        reading = _Reading()
        _read_loosely(body, reading, lines_before)
    return OpmlDocument(tuple(reading.feeds.values()), tuple(reading.problems), mended)


def declaration(feed: OpmlFeed) -> dict[str, object]:
    """Return the fields of the `SourceSpec` of a feed that a document lists."""
    own: dict[str, object] = {"priority": feed.priority, "enabled": feed.enabled}
    return {
        "source_id": feed.feed_id or source_id_for(feed.url),
        "url": feed.url,
        "name": feed.name,
        "tags": feed.tags,
        **{name: value for name, value in own.items() if value is not None},
    }


def write_opml(feeds: Iterable[OpmlFeed], *, title: str, now: datetime, version: str = "2.0") -> str:
    """Return an OPML document of these feeds.

    Version 2.0 also keeps what is ours, in a namespace that other readers ignore: reading it gives every feed
    back as it was declared. Version 1.0 has titles and addresses only.

    Args:
        feeds: in the order in which they are to be listed.
        title: of the document.
        now: the time that the document is from.
        version: "1.0" or "2.0".

    Raises:
        InvalidInput: if there is no such version.
    """
    if version not in {"1.0", "2.0"}:
        raise InvalidInput("version", version, "1.0 or 2.0")
    ours = version == "2.0"
    namespace = f' xmlns:sb="{NAMESPACE}"' if ours else ""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<opml version="{version}"{namespace}>',
        "  <head>",
        f"    <title>{html.escape(_legal(title), quote=False)}</title>",
        f"    <dateCreated>{format_datetime(now)}</dateCreated>",
        "  </head>",
        "  <body>",
        *(f"    {_outline(feed, ours=ours)}" for feed in feeds),
        "  </body>",
        "</opml>",
        "",
    ]
    return "\n".join(lines)


def source_id_for(url: str) -> str:
    """Return a readable, stable id for a feed that has no other: its host and a hash of its URL.

    Ways to write the same URL (capitals in scheme and host, the default port, a fragment) give the same id.
    """
    url = same_url(url)
    host = (host_of(url) or "feed").removeprefix("www.")
    readable = re.sub(r"[^a-z0-9]+", "-", host).strip("-")[:50].strip("-") or "feed"
    return f"{readable}-{sha256(url.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def same_url(url: str) -> str:
    """Return the one form of the ways to write a URL (RFC 3986, section 6.2.2 and 6.2.3, without escapes).

    What is no URL is returned as it is.
    """
    url = clean_url(url)
    try:
        parts = urlsplit(url)
        scheme, port = parts.scheme.lower(), parts.port
        host = (parts.hostname or "").lower()
    except ValueError:
        return url
    if not host or parts.username is not None:
        return url
    if ":" in host:
        host = f"[{host}]"
    authority = host if port in {None, _PORTS.get(scheme)} else f"{host}:{port}"
    return urlunsplit((scheme, authority, parts.path or "/", parts.query, ""))


def clean_url(url: str) -> str:
    """Return a feed's URL without white space around it and without the ``feed:`` that browsers once used."""
    url = url.strip()
    lowered = url[:13].lower()
    if lowered.startswith(("feed:http:", "feed:https:")):
        return url[5:]
    if lowered.startswith("feed://"):
        return f"http://{url[7:]}"
    return url


def host_of(url: str) -> str:
    """Return the host of a feed's URL in lower case, "" of what is no URL."""
    try:
        return urlsplit(clean_url(url)).hostname or ""
    except ValueError:
        return ""


@dataclass(slots=True)
class _Reading:
    """A document while it is being read; `open` and `close` are called for each outline."""

    feeds: dict[str, OpmlFeed] = field(default_factory=dict)
    problems: list[OpmlProblem] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    too_deep: int = 0

    def open(self, given: Mapping[str, str], line: int) -> None:
        attributes = {name.lower(): _SPACE.sub(" ", value).strip() for name, value in given.items()}
        name = attributes.get("title") or attributes.get("text") or ""
        kind = attributes.get("type", "").lower()
        url = attributes.get("xmlurl", "") or (attributes.get("url", "") if kind in _FEED_TYPES else "")
        if url:
            self._take(url, name, attributes, line)
            name = ""
        elif kind in _FEED_TYPES:
            shown = shorten(name or dict(list(attributes.items())[:3]))
            message = f"xmlUrl: missing from the outline {shown}; expected the address of the feed"
            self.problems.append(OpmlProblem(line, message))
        elif kind in _REFERENCES_ELSEWHERE and attributes.get("url"):
            where = shorten(attributes["url"])
            message = f"type: '{kind}' points to {where}; expected a feed: import that document by itself"
            self.problems.append(OpmlProblem(line, message))
        if len(self.folders) < _DEEPEST:
            self.folders.append(name)
        else:
            self.too_deep += 1

    def close(self) -> None:
        if self.too_deep:
            self.too_deep -= 1
        elif self.folders:
            self.folders.pop()

    def _take(self, url: str, name: str, attributes: Mapping[str, str], line: int) -> None:
        url = clean_url(url)
        identity = same_url(url)
        if identity in self.feeds:
            return
        priority = self._own("sb:priority", "[0-9]{1,4}", "0 to 9999", attributes, line)
        enabled = self._own("sb:enabled", "(?i:true|false)", "true or false", attributes, line)
        self.feeds[identity] = OpmlFeed(
            url=url,
            name="" if name == url else name[:NAME_LENGTH].strip(),
            tags=_tags(attributes.get("category", ""), self.folders),
            feed_id=attributes.get("sb:id") or None,
            priority=None if priority is None else int(priority),
            enabled=None if enabled is None else enabled.lower() == "true",
            line=line,
        )

    def _own(
        self, name: str, pattern: str, expected: str, attributes: Mapping[str, str], line: int
    ) -> str | None:
        """Return an attribute of ours, None if it is absent or, which is reported, not valid."""
        value = attributes.get(name)
        if value is None or re.fullmatch(pattern, value, re.ASCII):
            return value
        message = f"{name}: {shorten(value)} is not valid; expected {expected}; the feed is taken without"
        self.problems.append(OpmlProblem(line, message))
        return None


def _tags(category: str, folders: Iterable[str]) -> tuple[str, ...]:
    """Return the categories of an outline as they stand, then its folders in lower case.

    A category of OPML 2.0 may be a path, ``/Boston/Weather``; it is kept as one tag, without the first slash.
    """
    own = (
        part.strip().removeprefix("/").replace("%2C", ",").replace("%25", "%") for part in category.split(",")
    )
    around = (folder.lower() for folder in folders)
    found = (tag[:TAG_LENGTH].strip() for tag in (*own, *around))
    return tuple(distinct_tags(filter(None, found))[:TAGS_AT_MOST])


def distinct_tags(tags: Iterable[str]) -> list[str]:
    """Return stripped tags without repeats in any case; the first spelling of each is kept."""
    found: dict[str, str] = {}
    for tag in tags:
        found.setdefault(tag.casefold(), tag)
    return list(found.values())


def _read_strictly(text: str, reading: _Reading, lines_before: int) -> None:
    """Read a document by the XML parser.

    Raises:
        expat.ExpatError: if it is not well-formed.
    """
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True

    def start(name: str, attributes: dict[str, str]) -> None:
        if name.lower() == "outline":
            reading.open(attributes, parser.CurrentLineNumber + lines_before)

    def end(name: str) -> None:
        if name.lower() == "outline":
            reading.close()

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.Parse(text.encode(), True)


def _read_loosely(text: str, reading: _Reading, lines_before: int) -> None:
    """Read the outlines of a document that is not well-formed."""
    line, counted, position = lines_before + 1, 0, 0
    while match := _OUTLINE.search(text, position):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if match[1]:
            reading.close()
            position = match.end()
            continue
        attributes, position, closed = loose_attributes(text, match.end())
        reading.open(attributes, line)
        if closed:
            reading.close()


def loose_attributes(text: str, position: int, *, is_html: bool = False) -> tuple[dict[str, str], int, bool]:
    """Return the attributes from a position in a tag, the position behind it and whether it closes itself.

    Names are in lower case; of those that stand there twice, the first counts. In HTML, a slash at the end of
    a value without quotes belongs to the value.
    """
    found: dict[str, str] = {}
    while position < len(text):
        if match := _ATTRIBUTE.match(text, position):
            value = next(group for group in match.groups()[1:] if group is not None)
            position = match.end()
            in_tag = match[4] is not None and not is_html
            closes = in_tag and value.endswith("/") and text.startswith(">", position)
            found.setdefault(match[1].lower(), html.unescape(value[:-1] if closes else value))
            if closes:
                return found, position + 1, True
        elif text[position] == ">":
            return found, position + 1, text[position - 1] == "/"
        elif text[position] == "<":
            return found, position, True
        else:
            piece = _ONE_PIECE.match(text, position)
            position = piece.end() if piece else len(text)
    return found, position, True


def _outline(feed: OpmlFeed, *, ours: bool) -> str:
    name = feed.name or feed.url
    attributes = {"type": "rss", "text": name, "title": name, "xmlUrl": feed.url}
    if ours:
        enabled = None if feed.enabled is None else str(feed.enabled).lower()
        own = {
            "category": ",".join(tag.replace("%", "%25").replace(",", "%2C") for tag in feed.tags),
            "sb:id": feed.feed_id,
            "sb:priority": feed.priority,
            "sb:enabled": enabled,
        }
        attributes |= {key: str(value) for key, value in own.items() if value not in {None, ""}}
    written = " ".join(f"{key}={quoteattr(_legal(value))}" for key, value in attributes.items())
    return f"<outline {written}/>"


def _legal(text: str) -> str:
    return _NOT_XML.sub("", text)
