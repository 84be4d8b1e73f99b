"""JSON Feed 1.0 and 1.1 (https://www.jsonfeed.org/version/1.1/), read leniently."""

from __future__ import annotations

import json
from typing import Any

from sourcebook.feeds._document import MAX_TAGS, Document, too_many_elements
from sourcebook.feeds._entries import add_entry, read_date, resolve
from sourcebook.feeds.model import Cause, FeedEntry, NotAFeed, ParsedFeed
from sourcebook.feeds.text import text_member


def read_json(read: Document, url: str) -> ParsedFeed:
    """Read a JSON Feed.

    Raises:
        NotAFeed: TRUNCATED, TOO_DEEP, PARSE_FAILED, or NOT_A_FEED for other JSON.
    """
    text = read.text()
    values = text.count("{") + text.count("[")
    if values > MAX_TAGS:
        if text.count("}") + text.count("]") < values // 2:
            raise _too_deep()
        raise too_many_elements(values, MAX_TAGS)
    try:
        document = json.loads(text, strict=False)
    except RecursionError as error:
        raise _too_deep() from error
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            raise NotAFeed(
                Cause.TRUNCATED, "the JSON ends in the middle; it will be asked for again"
            ) from error
        raise NotAFeed(
            Cause.PARSE_FAILED, f"the JSON is damaged at character {error.pos}; ask the publisher to mend it"
        ) from error
    except ValueError as error:
        raise NotAFeed(
            Cause.PARSE_FAILED, "the JSON holds a number beyond reading; ask the publisher to mend it"
        ) from error
    named = isinstance(document, dict) and "jsonfeed.org/version/" in text_member(document, "version")
    if named and document.get("items") is None:
        document["items"] = []  # how many programs write a list of nothing
    if not isinstance(document, dict) or not isinstance(document.get("items"), list):
        raise NotAFeed(
            Cause.NOT_A_FEED,
            "the body is JSON without a list of items; expected JSON Feed, so check the address",
        )
    feed = ParsedFeed("json", warnings=[*read.warnings], date_order=read.date_order)
    if not named:
        feed.warn("the JSON does not name its version of JSON Feed")
    base = text_member(document, "feed_url") or url
    feed.title = " ".join(text_member(document, "title").split())
    feed.link = resolve(text_member(document, "home_page_url"), base)
    feed.language = text_member(document, "language") or None
    _add_all(feed, document["items"], base)
    return feed


def _add_all(feed: ParsedFeed, items: list[Any], base: str) -> None:
    for position, item in enumerate(items):
        if not feed.takes(position, is_empty=item == {}):
            continue
        if isinstance(item, dict):
            _add(feed, position, item, base)
        else:
            feed.skip(position, "it is no JSON object")


def _too_deep() -> NotAFeed:
    return NotAFeed(Cause.TOO_DEEP, "the JSON nests too deep to be a feed; check the address")


def _add(feed: ParsedFeed, position: int, item: dict[str, object], base: str) -> None:
    content = text_member(item, "content_html") or text_member(item, "content_text")
    enclosure = _first_member(_objects(item.get("attachments")), "url")
    authors = _objects(item.get("authors")) or _objects([item.get("author")])
    tags = item.get("tags")
    entry = FeedEntry(
        link=resolve(text_member(item, "url") or text_member(item, "external_url"), base),
        title=" ".join(text_member(item, "title").split()),
        published=read_date(feed, position, text_member(item, "date_published")),
        updated=read_date(feed, position, text_member(item, "date_modified")),
        id=text_member(item, "id"),
        summary=text_member(item, "summary") or content,
        content=content,
        author=_first_member(authors, "name") or text_member(item, "author") or None,
        categories=tuple(dict.fromkeys(tag for tag in tags if isinstance(tag, str) and tag))
        if isinstance(tags, list)
        else (),
        enclosure=resolve(enclosure, base),
    )
    add_entry(feed, position, entry)


def _objects(value: object) -> list[dict[str, object]]:
    """Return the objects of a list; none of anything else."""
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _first_member(objects: list[dict[str, object]], key: str) -> str:
    """Return a member of the first object that has it as text, "" if none does."""
    return next(filter(None, (text_member(one, key) for one in objects)), "")
