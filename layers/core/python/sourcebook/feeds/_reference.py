"""feedparser: the reference, and the fallback for damage that no strict parser reads."""

from __future__ import annotations

import xml.sax
import xml.sax.handler
from calendar import timegm
from datetime import UTC, datetime
from io import BytesIO
from time import thread_time
from typing import TYPE_CHECKING, Any

from feedparser.api import LooseFeedParser, StrictFeedParser

from sourcebook.feeds._document import check_tags
from sourcebook.feeds._entries import add_entry, is_address, resolve, tell_of_date
from sourcebook.feeds.dates import UNREADABLE, DateReading, weigh_date
from sourcebook.feeds.hints import read_hints
from sourcebook.feeds.model import Cause, FeedEntry, NotAFeed, ParsedFeed
from sourcebook.feeds.text import clean, plain_title, unescape, without_cdata

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourcebook.feeds._document import Document

_LONGEST = 4_000_000
_MAX_TAGS = 60_000
_MOST_CATEGORIES = 1_000
_CPU_SECONDS = 1.0


class _Bounded:
    """Ends a parser of feedparser's that has used up its CPU time: some of its steps are quadratic."""

    sanitize_html = resolve_relative_uris = False
    _calls = 0
    deadline = float("inf")
    """CPU time of this thread, in seconds, at which it ends."""

    def _tick(self) -> None:
        self._calls += 1
        if not self._calls & 0x3F and thread_time() > self.deadline:
            raise NotAFeed(
                Cause.PARSE_FAILED,
                f"feedparser used more than {_CPU_SECONDS} s of CPU time on the document; "
                "ask the publisher for a shorter feed, or to mend it",
            )

    def unknown_starttag(self, tag: str, attrs: list[tuple[str, str]]) -> None:
        """Count a start tag, then let feedparser handle it."""
        self._tick()
        super().unknown_starttag(tag, attrs)  # type: ignore[misc]

    def handle_data(self, text: str, escape: int = 1) -> None:
        """Count a piece of text, then let feedparser handle it."""
        self._tick()
        super().handle_data(text, escape)  # type: ignore[misc]

    def _add_tag(self, term: str, scheme: str | None, label: str | None) -> None:
        """Let feedparser keep a category, if it has not too many: it compares each with all before it."""
        self._tick()
        if len(self._get_context().get("tags", ())) < _MOST_CATEGORIES:  # type: ignore[attr-defined]
            super()._add_tag(term, scheme, label)  # type: ignore[misc]

    def handle_entityref(self, ref: str) -> None:
        """Count an entity reference, then let feedparser handle it."""
        self._tick()
        super().handle_entityref(ref)  # type: ignore[misc]

    def handle_charref(self, ref: str) -> None:
        """Count a character reference, then let feedparser handle it."""
        self._tick()
        super().handle_charref(ref)  # type: ignore[misc]


class _Strict(_Bounded, StrictFeedParser):  # type: ignore[misc]
    """feedparser over a strict XML parser."""


class _Loose(_Bounded, LooseFeedParser):  # type: ignore[misc]
    """feedparser over a parser of tag soup."""


def read_with_feedparser(document: Document, url: str, damage: str) -> ParsedFeed:
    """Read a document with feedparser, its cost bounded.

    feedparser has no limits of its own, so length, number of tags and depth are checked first, and its
    CPU time while it works. Charset and document type are done with, so its parsers are called directly;
    sanitizing and the resolving of addresses inside markup are left out. It resolves links against the
    document's own xml:base; what stays relative is resolved here against `url`, so that an id never
    depends on where a feed was fetched from.

    Args:
        document: what `read_document` returned.
        url: address of the feed, "" when unknown.
        damage: why it is not well-formed, so that only the loose parser is tried; "" if that is not known.

    Raises:
        NotAFeed: TOO_DEEP, TOO_MANY_ELEMENTS or PARSE_FAILED.
    """
    text = document.text()
    check_tags(text, _MAX_TAGS)
    if len(text) > _LONGEST:
        raise NotAFeed(
            Cause.PARSE_FAILED,
            f"the document has {len(text)} characters, more than the {_LONGEST} that feedparser is given; "
            "ask the publisher for a shorter feed, or to mend it",
        )
    if text.startswith("<?xml"):  # it may name another encoding
        text = text.partition("?>")[2]
    try:
        parsed = _parse(text, "", well_formed=not damage)
        # Bases that are relative themselves it resolves only from an absolute one.
        resolved = _parse(text, url, well_formed=not damage) if url and "xml:base" in text else parsed
    except (ValueError, LookupError, AttributeError, TypeError, AssertionError, RecursionError) as error:
        raise NotAFeed(
            Cause.PARSE_FAILED,
            f"feedparser gave up on the document ({type(error).__name__}); ask the publisher to mend it",
        ) from error
    stated = parsed.feeddata
    feed = ParsedFeed(
        "feedparser",
        title=plain_title(_string(stated, "title")),
        link=resolve(_string(stated, "link"), url),
        language=_string(stated, "language") or None,
        hints=read_hints(
            ttl=_string(stated, "ttl"),
            period=_string(stated, "sy_updateperiod"),
            frequency=_string(stated, "sy_updatefrequency"),
            hours=[_string(stated, "hour")] if "skiphours" in stated else (),
            days=[_string(stated, "day")] if "skipdays" in stated else (),
        ),
        warnings=[*document.warnings],
        date_order=document.date_order,
    )
    if damage:
        feed.warn(f"not well-formed ({damage}); read by feedparser")
    atom = str(parsed.version).startswith("atom")
    for position, (item, links) in enumerate(zip(parsed.entries, resolved.entries, strict=True)):
        _add(feed, position, item, links, url, atom=atom)
    return feed


def _parse(text: str, base: str, *, well_formed: bool) -> Any:  # noqa: ANN401 - feedparser has no types
    """Return a parser of feedparser's that has read `text`: the strict one, else the loose one."""
    deadline = thread_time() + _CPU_SECONDS
    if well_formed:
        strict = _Strict(base, None, "utf-8")
        strict.deadline = deadline
        reader = xml.sax.make_parser()  # noqa: S317 - the document type is gone, so nothing can expand
        reader.setFeature(xml.sax.handler.feature_namespaces, True)
        reader.setFeature(xml.sax.handler.feature_external_ges, False)
        reader.setContentHandler(strict)
        reader.setErrorHandler(strict)
        try:
            reader.parse(BytesIO(text.encode("utf-8", "replace")))
        except xml.sax.SAXException:
            pass
        else:
            return strict
    loose = _Loose(base, None, "utf-8", {})
    loose.deadline = deadline
    loose.feed(text)
    return loose


def _string(mapping: Mapping[str, object], key: str) -> str:
    value = dict.get(mapping, key)  # type: ignore[call-overload]
    return without_cdata(clean(value)) if isinstance(value, str) else ""


def _add(
    feed: ParsedFeed,
    position: int,
    item: Mapping[str, Any],
    resolved: Mapping[str, Any],
    url: str,
    *,
    atom: bool,
) -> None:
    guid = _string(item, "id")
    link = _string(resolved, "link")
    if _string(item, "link") == guid and not is_address(guid):
        link = ""
    enclosure = ""
    for other in resolved.get("links", ()):
        href = other.get("href") or ""
        if other.get("rel") == "enclosure":
            enclosure = enclosure or href
        elif not link and other.get("rel") == "alternate":
            link = href
    content = next((part.get("value") or "" for part in item.get("content", ())), "")
    content = without_cdata(content)
    title = _string(item, "title")
    literal = atom and (item.get("title_detail") or {}).get("type") == "text/plain"
    entry = FeedEntry(
        link=resolve(link, url),
        title=" ".join(unescape(title).split()) if literal else plain_title(title),
        published=_date(feed, position, item, "published"),
        updated=_date(feed, position, item, "updated"),
        id=guid,
        summary=_string(item, "summary") or content,
        content=content,
        author=_string(item, "author") or None,
        categories=tuple(dict.fromkeys(tag.get("term") for tag in item.get("tags", ()) if tag.get("term"))),
        enclosure=resolve(enclosure, url),
        publisher=_string(item.get("source") or {}, "title") or None,
        origin=resolve(_string(item, "feedburner_origlink") or _string(item, "pheedo_origlink"), url),
    )
    add_entry(feed, position, entry)


def _date(feed: ParsedFeed, position: int, item: Mapping[str, object], key: str) -> datetime | None:
    """Return a date by our own reading, else by feedparser's, which takes unknown zones for UTC."""
    text = _string(item, key)
    reading = weigh_date(text, feed.date_order)
    if reading == UNREADABLE:
        reading = DateReading(_date_of_feedparser(item, key))
    if text:
        tell_of_date(feed, position, text, reading)
    return reading.moment


def _date_of_feedparser(item: Mapping[str, object], key: str) -> datetime | None:
    parts = dict.get(item, f"{key}_parsed")  # type: ignore[call-overload]
    try:
        return datetime.fromtimestamp(timegm(parts), tz=UTC) if parts else None
    except (ValueError, OverflowError):
        return None
