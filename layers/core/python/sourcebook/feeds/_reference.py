"""feedparser: the reference, and the fallback for damage that no strict parser reads."""

from __future__ import annotations

from calendar import timegm
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

import feedparser

from sourcebook.feeds._dates import parse_date
from sourcebook.feeds._document import check_tags
from sourcebook.feeds._entries import add_entry, is_address, resolve
from sourcebook.feeds._hints import Hints
from sourcebook.feeds._text import clean, plain_title
from sourcebook.feeds.model import Cause, Draft, FeedHints, NotAFeed

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST = 4_000_000
_MAX_TAGS = 60_000


def read_with_feedparser(text: str, url: str, warnings: list[str]) -> Draft:
    """Read a document with feedparser, its cost bounded by what it is given.

    feedparser has no limits of its own, so length, number of tags and depth are checked first. It
    resolves addresses against the document's own xml:base; what stays relative is resolved here against
    `url`, so that an id never depends on where a feed was fetched from.

    Args:
        text: the document, as `read_document` returns it.
        url: address of the feed, "" when unknown.
        warnings: what was mended so far.

    Raises:
        NotAFeed: TOO_DEEP, TOO_MANY_ELEMENTS or PARSE_FAILED.
    """
    check_tags(text, _MAX_TAGS)
    if len(text) > _LONGEST:
        raise NotAFeed(
            Cause.PARSE_FAILED,
            f"the document has {len(text)} characters, more than the {_LONGEST} that the tolerant parser is given; "
            "ask the publisher for a shorter feed, or to mend it",
        )
    if text.startswith("<?xml"):  # it may name another encoding
        text = text.partition("?>")[2]
    body = BytesIO(b'<?xml version="1.0" encoding="utf-8"?>\n' + text.encode("utf-8", "replace"))
    try:
        parsed = feedparser.parse(body, sanitize_html=False, resolve_relative_uris=False)
    except (ValueError, LookupError, AttributeError, TypeError, AssertionError, RecursionError) as error:
        raise NotAFeed(
            Cause.PARSE_FAILED,
            f"feedparser gave up on the document ({type(error).__name__}); ask the publisher",
        ) from error
    draft = Draft(warnings=warnings)
    feed = parsed.feed
    draft.title = plain_title(_string(feed, "title"))
    draft.link = resolve(_string(feed, "link"), url)
    draft.language = _string(feed, "language") or None
    draft.hints = _hints(feed, url)
    for position, item in enumerate(parsed.entries):
        _add(draft, position, item, url)
    return draft


def _string(mapping: Mapping[str, Any], key: str) -> str:
    value = dict.get(mapping, key)  # type: ignore[call-overload]
    return clean(value) if isinstance(value, str) else ""


def _add(draft: Draft, position: int, item: Mapping[str, Any], url: str) -> None:
    guid = _string(item, "id")
    link = _string(item, "link")
    if link == guid and not is_address(link):
        link = ""
    enclosure = ""
    for other in item.get("links", ()):
        href = other.get("href") or ""
        if other.get("rel") == "enclosure":
            enclosure = enclosure or href
        elif not link and other.get("rel") == "alternate":
            link = href
    content = next((part.get("value") or "" for part in item.get("content", ())), "")
    detail = item.get("title_detail") or {}
    title = _string(item, "title")
    literal = detail.get("type") == "text/plain" and "<" not in title
    add_entry(
        draft,
        position,
        link=resolve(link, url),
        title=" ".join(title.split()) if literal and "&" not in title else plain_title(title),
        published=_date(item, "published"),
        updated=_date(item, "updated"),
        id=guid,
        summary=_string(item, "summary") or content,
        content=content,
        author=_string(item, "author") or None,
        categories=tuple(dict.fromkeys(tag.get("term") for tag in item.get("tags", ()) if tag.get("term"))),
        language=None,
        enclosure=resolve(enclosure, url),
        publisher=_string(item.get("source") or {}, "title") or None,
    )


def _date(item: Mapping[str, Any], key: str) -> datetime | None:
    text = _string(item, key)
    moment = parse_date(text)
    if moment is not None or not text:
        return moment
    parts = dict.get(item, f"{key}_parsed")  # type: ignore[call-overload]
    try:
        return datetime.fromtimestamp(timegm(parts), tz=UTC) if parts else None
    except (ValueError, OverflowError):
        return None


def _hints(feed: Mapping[str, Any], url: str) -> FeedHints:
    hints = Hints()
    for link in feed.get("links", ()):
        hints.link(link.get("rel") or "", resolve(link.get("href") or "", url))
    hints.ttl = _string(feed, "ttl")
    hints.period = _string(feed, "sy_updateperiod")
    hints.frequency = _string(feed, "sy_updatefrequency")
    hints.hours = [_string(feed, "hour")] if "skiphours" in feed else []
    hints.days = [_string(feed, "day")] if "skipdays" in feed else []
    return hints.freeze()
