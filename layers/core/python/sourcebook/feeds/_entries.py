"""What all parsers share: from the texts of an item to an entry."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

from sourcebook.errors import shorten
from sourcebook.feeds.dates import DateReading, by_the_book, weigh_date
from sourcebook.feeds.model import NOTHING_IN_IT, FeedEntry, ParsedFeed
from sourcebook.feeds.text import shorten_text, text_of

if TYPE_CHECKING:
    from datetime import datetime

_MAX_TITLE = 1_000
_DERIVED_TITLE = 100
_LINE_BREAK = re.compile(r"(?<!\s)\s*\n\s*")
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_REDIRECT = re.compile(
    r"https?://www\.(?:google\.[a-z.]{2,6}/url|bing\.com/news/apiclick\.aspx)\?(?:[^#]*&)?(?:url|q)=(https?(?::|%3a)[^&#]+)",
    re.IGNORECASE,
)
_NEVER_LINKS = frozenset(("javascript", "vbscript", "data", "about", "blob"))


def resolve(address: str, base: str) -> str:
    """Return `address` made absolute against `base`; "" when it is unusable or would run as a script.

    Where a line breaks, and a host without its scheme ("www.a.example/b"), are read as they are meant.
    """
    if not address:
        return ""
    if "\n" in address:
        address = _LINE_BREAK.sub("", address)
    if address.startswith(("https://", "http://")):
        return address
    if address.startswith("www."):
        address = f"//{address}"
    scheme = _SCHEME.match(address)
    if scheme is not None and scheme[1].lower() in _NEVER_LINKS:
        return ""
    if not base:
        return address
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def is_address(text: str) -> bool:
    """Return whether a guid can serve as a link: an absolute http address, or a path on the site."""
    return text.startswith(("https://", "http://")) or (text.startswith("/") and " " not in text)


def add_entry(feed: ParsedFeed, position: int, entry: FeedEntry) -> None:
    """Add an entry to `feed`, or the reason why it is left out.

    Args:
        feed: the one being read.
        position: place of its item in the document, from 0.
        entry: what the item states; its title may be "".
    """
    if not entry.title:
        title = shorten_text(text_of(entry.summary or entry.content, _DERIVED_TITLE * 5), _DERIVED_TITLE)
        title = title or _title_of_address(entry.enclosure)
        if not title:
            feed.skip(position, NOTHING_IN_IT)
            return
        entry = entry._replace(title=title, title_derived=True)
    elif not entry.link and entry.enclosure:
        # The page of a podcast episode is often missing; an attachment to an untitled note is not its page.
        entry = entry._replace(link=entry.enclosure)
    if len(entry.title) > _MAX_TITLE:
        entry = entry._replace(title=shorten_text(entry.title, _MAX_TITLE))
        feed.warn(f"the title of item {position} was cut to {_MAX_TITLE} characters")
    if not entry.origin and "=http" in entry.link:
        entry = entry._replace(origin=_behind_redirect(entry.link))
    feed.entries.append(entry)


def _behind_redirect(link: str) -> str:
    """Return the address in a link of a search engine that counts clicks, "" in any other link."""
    found = _REDIRECT.match(link)
    return unquote(found[1]) if found else ""


def read_date(feed: ParsedFeed, position: int, text: str) -> datetime | None:
    """Return a date of an item, None if it cannot be read; that, and any doubt about it, is reported."""
    moment = by_the_book(text)
    if moment is None and text:
        reading = weigh_date(text, feed.date_order)
        moment = reading.moment
        tell_of_date(feed, position, text, reading)
    return moment


def tell_of_date(feed: ParsedFeed, position: int, text: str, reading: DateReading) -> None:
    """Note what a date of an item says about the others; warn if it could not be read, or is in doubt."""
    feed.date_orders.add(reading.order)
    if reading.moment is None:
        because = f": {reading.doubt}" if reading.doubt else ""
        feed.warn(f"the date {shorten(text)} of item {position} cannot be read{because}")
    elif reading.doubt:
        feed.warn(f"the date {shorten(text)} of item {position} is in doubt: {reading.doubt}")


def _title_of_address(address: str) -> str:
    try:
        return urlsplit(address).path.rpartition("/")[2][:_DERIVED_TITLE]
    except ValueError:
        return ""
