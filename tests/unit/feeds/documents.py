"""Small feed documents for tests."""

from __future__ import annotations

from sourcebook.feeds.model import FeedEntry, ParsedFeed
from sourcebook.feeds.parse import parse_feed

URL = "https://news.example/feeds/main.xml"

NAMESPACES = (
    'xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:media="http://search.yahoo.com/mrss/" '
    'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"'
)


def rss(*items: str, channel: str = "", declaration: str = '<?xml version="1.0" encoding="UTF-8"?>') -> bytes:
    """Return an RSS 2.0 document with these items."""
    inner = "".join(f"<item>{item}</item>" for item in items)
    return (
        f'{declaration}<rss version="2.0" {NAMESPACES}><channel><title>Harbour News</title>'
        f"<link>https://news.example/</link>{channel}{inner}</channel></rss>"
    ).encode()


def atom(*entries: str, feed: str = "", attributes: str = "") -> bytes:
    """Return an Atom 1.0 document with these entries."""
    inner = "".join(f"<entry>{entry}</entry>" for entry in entries)
    return (
        f'<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom" {attributes}>'
        f"<title>Harbour News</title><id>urn:feed</id>{feed}{inner}</feed>"
    ).encode()


def entries_of(body: bytes, url: str = URL) -> list[FeedEntry]:
    """Return the entries of a document."""
    return parse_feed(body, url=url).entries


def entry_of(body: bytes, url: str = URL) -> FeedEntry:
    """Return the only entry of a document."""
    (entry,) = entries_of(body, url)
    return entry


def both_ways(body: bytes, url: str = URL) -> tuple[ParsedFeed, ParsedFeed]:
    """Return what the fast way and the reference make of a document."""
    return parse_feed(body, url=url), parse_feed(body, url=url, mode="reference")
