"""What all parsers share: from the texts of an item to an entry, and the identity of entries."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from sourcebook.errors import shorten
from sourcebook.feeds._dates import DateReading, by_the_book, weigh_date
from sourcebook.feeds._text import shorten_text, text_of
from sourcebook.feeds.model import NOTHING_IN_IT, Draft, FeedEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

_MAX_TITLE = 1_000
_DERIVED_TITLE = 100
_COMPARED_TEXT = 20_000
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
    if "\n" in address:
        address = _LINE_BREAK.sub("", address)
    if address.startswith(("https://", "http://")):
        return address
    if address.startswith("www."):
        address = f"//{address}"
    scheme = _SCHEME.match(address)
    if scheme is not None and scheme[1].lower() in _NEVER_LINKS:
        return ""
    if not base or not address:
        return address
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def is_address(text: str) -> bool:
    """Return whether a guid can serve as a link: an absolute http address, or a path on the site."""
    return text.startswith(("https://", "http://")) or (text.startswith("/") and " " not in text)


def add_entry(
    draft: Draft,
    position: int,
    *,
    link: str,
    title: str,
    published: datetime | None,
    updated: datetime | None,
    id: str,  # noqa: A002
    summary: str,
    content: str = "",
    author: str = "",
    categories: tuple[str, ...] = (),
    language: str | None = None,
    enclosure: str = "",
    publisher: str | None = None,
    origin: str = "",
) -> None:
    """Add one item to `draft`, or the reason why it is left out.

    Args:
        draft: the feed being read.
        position: place of the item in its document, from 0.
        link: its own link, absolute, "" when it has none; a permalink guid counts as one.
        title: its own title as plain text, "" when it has none.
        published: aware UTC or None.
        updated: aware UTC or None.
        id: its own guid.
        summary: raw markup.
        content: raw markup.
        author: as the feed writes it.
        categories: terms.
        language: language tag.
        enclosure: address of the first enclosure.
        publisher: name of the feed that it was taken from.
        origin: its address at its publisher, where its link leads over another.
    """
    if len(title) > _MAX_TITLE:
        title = shorten_text(title, _MAX_TITLE)
        draft.warn(f"the title of item {position} was cut to {_MAX_TITLE} characters")
    if not link and title:
        # The page of a podcast episode is often missing; an attachment to an untitled note is not its page.
        link = enclosure
    derived = not title
    if derived:
        title = shorten_text(text_of(summary or content, _DERIVED_TITLE * 5), _DERIVED_TITLE)
        if not title:
            title = _title_of_address(enclosure)
        if not title:
            draft.skip(position, NOTHING_IN_IT)
            return
    draft.entries.append(
        FeedEntry(
            link,
            title,
            published,
            updated,
            id,
            summary,
            content,
            author or None,
            categories,
            language,
            enclosure,
            derived,
            publisher,
            _behind_redirect(link) if not origin and "=http" in link else origin,
        )
    )


def _behind_redirect(link: str) -> str:
    """Return the address in a link of a search engine that counts clicks, "" in any other link."""
    found = _REDIRECT.match(link)
    return unquote(found[1]) if found else ""


def read_date(draft: Draft, position: int, text: str) -> datetime | None:
    """Return a date of an item, None if it cannot be read; that, and any doubt about it, is reported."""
    moment = by_the_book(text)
    if moment is None and text:
        reading = weigh_date(text, draft.date_order)
        moment = reading.moment
        tell_of_date(draft, position, text, reading)
    return moment


def tell_of_date(draft: Draft, position: int, text: str, reading: DateReading) -> None:
    """Note what a date of an item says about the others; warn if it could not be read, or is in doubt."""
    draft.date_orders.add(reading.order)
    if reading.moment is None:
        because = f": {reading.doubt}" if reading.doubt else ""
        draft.warn(f"the date {shorten(text)} of item {position} cannot be read{because}")
    elif reading.doubt:
        draft.warn(f"the date {shorten(text)} of item {position} is in doubt: {reading.doubt}")


def _title_of_address(address: str) -> str:
    try:
        return urlsplit(address).path.rpartition("/")[2][:_DERIVED_TITLE]
    except ValueError:
        return ""


class EntryIdentity(NamedTuple):
    """How an entry is found again.

    Attributes:
        primary: what it is stored under.
        aliases: other names under which an earlier fetch may know it: its link when its guid is new
            (guids made from the slug of a headline change when the headline is edited), and its text
            with its time when both changed. A front page is no name of a story.
    """

    primary: str
    aliases: tuple[str, ...]


def entry_identity(entry: FeedEntry) -> str:
    """Return the identity of one entry on its own: guid, then link, then title and text.

    `identify` is better wherever the whole document is at hand, because only that shows a guid that
    several entries share.
    """
    if entry.id:
        return f"id:{entry.id}"
    address = entry.address
    return f"link:{address}" if address else _content_identity(entry, text_of(entry.summary, _COMPARED_TEXT))


class EntryFingerprint(NamedTuple):
    """An entry as it is recognized, and what all of that rests on.

    Attributes:
        identity: how it is found again.
        content: what changes when a reader would call the entry edited; see `content_fingerprint`.
        text: the plain text of its summary, from which both were made.
    """

    identity: EntryIdentity
    content: str
    text: str


def fingerprints(entries: Sequence[FeedEntry]) -> list[EntryFingerprint]:
    """Return identity, content and text of every entry of one document, in order."""
    texts = [text_of(entry.summary, _COMPARED_TEXT) for entry in entries]
    return [
        EntryFingerprint(identity, _content(entry, text), text)
        for entry, identity, text in zip(entries, _identify(entries, texts), texts, strict=True)
    ]


def identify(entries: Iterable[FeedEntry]) -> list[EntryIdentity]:
    """Return the identity of every entry of one document, in order.

    A guid that entries with different links or titles share says nothing, so those entries fall to
    their link, and to title and text when the link is shared as well. The same item listed twice
    keeps one identity.
    """
    entries = list(entries)
    return _identify(entries, [text_of(entry.summary, _COMPARED_TEXT) for entry in entries])


def _identify(entries: Sequence[FeedEntry], summaries: Sequence[str]) -> list[EntryIdentity]:
    ids = _shared((entry.id, (entry.address, entry.title)) for entry in entries)
    links = _shared_links(entries, summaries)
    texts = [_text_identity(entry, summary) for entry, summary in zip(entries, summaries, strict=True)]
    repeated_texts = Counter(texts)
    repeated_contents = _shared(
        (_content_identity(entry, summary), (str(entry.published),))
        for entry, summary in zip(entries, summaries, strict=True)
        if not entry.id or entry.id in ids
    )
    identities = []
    for entry, summary, text in zip(entries, summaries, texts, strict=True):
        ladder = []
        if entry.id and entry.id not in ids:
            ladder.append(f"id:{entry.id}")
        address = entry.address
        if address and address not in links and not (ladder and _is_front_page(address)):
            ladder.append(f"link:{address}")
        if not ladder:
            content = _content_identity(entry, summary)
            ladder.append(_dated(entry, summary) if content in repeated_contents else content)
        if text and repeated_texts[text] == 1:
            ladder.append(text)
        identities.append(EntryIdentity(ladder[0], tuple(ladder[1:])))
    return identities


def _shared_links(entries: Sequence[FeedEntry], summaries: Sequence[str]) -> set[str]:
    """Return the addresses that entries of different titles share, or of other texts and other times."""
    first: dict[str, tuple[FeedEntry, str]] = {}
    shared: set[str] = set()
    for entry, summary in zip(entries, summaries, strict=True):
        if address := entry.address:
            other, text = first.setdefault(address, (entry, summary))
            if entry.title != other.title or (entry.published != other.published and summary != text):
                shared.add(address)
    return shared


def _is_front_page(address: str) -> bool:
    _, _, path = address.partition("://")[2].partition("/")
    return not path.strip("/")


def _shared(pairs: Iterable[tuple[str, tuple[str, ...]]]) -> set[str]:
    """Return the keys that stand for different things."""
    first: dict[str, tuple[str, ...]] = {}
    return {key for key, value in pairs if key and first.setdefault(key, value) != value}


def _content_identity(entry: FeedEntry, summary: str) -> str:
    """Return an identity from title and text, and from the time where an entry has nothing else."""
    if not entry.id and not entry.address:
        return _dated(entry, summary)
    return f"content:{_digest(entry.title, summary)}"


def _dated(entry: FeedEntry, summary: str) -> str:
    return f"content:{_digest(entry.title, summary, entry.published.isoformat() if entry.published else '')}"


def _text_identity(entry: FeedEntry, summary: str) -> str:
    """Return an identity from time and text, "" when they are too little to tell entries apart."""
    if entry.published is None:
        return ""
    text = shorten_text(summary, 1_000)
    # A whole hour is often a mere date, or planned: then only a text of some length distinguishes entries.
    is_exact = entry.published.minute or entry.published.second
    if len(text) < (20 if is_exact else 80):
        return ""
    return f"text:{_digest(entry.published.isoformat(), text)}"


# Words that say when rather than what: they change at every poll in pages that print the time.
# Each alternative begins with the digit before the group, so that text is searched for digits only.
_CLOCK = re.compile(
    r"\d(?:"
    r"\d{3}-\d\d-\d\d[t ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?"
    r"|\d?:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?(?:\s(?:gmt|utc|[ecmp][sd]?t|cest|mez|mesz)\b)?"
    r"|\d{0,12}\s(?:seconds?|minutes?|mins?|hours?|hrs?|days?|weeks?|sekunden?|minuten?|stunden?|tag(?:en|e)?)\sago"
    r")"
)
_AGO = re.compile(r"\b(?:vor|il y a|hace)\s\d+\s\w+")
# What both of them need: most texts have none of it, and to look for that is quicker by far.
_MINUTES = re.compile(r":\d\d")
_AGES = ("vor ", "il y a ", "hace ")


def content_fingerprint(entry: FeedEntry) -> str:
    """Return 32 hex digits that change when a reader would call the entry edited.

    Made of title, link without query and fragment, and the text of summary and content. Not of markup
    (pixels and campaign links change at every poll), nor of the dates, because many feeds stamp every
    item with the time of the poll. Times of day and ages ("3 hours ago") are left out of the text for
    the same reason; other numbers stay, since "7 dead" for "5 dead" is an edit.
    """
    return _content(entry, text_of(entry.summary, _COMPARED_TEXT))


def _content(entry: FeedEntry, summary: str) -> str:
    link = entry.address.partition("#")[0].partition("?")[0]
    texts = [" ".join(entry.title.split()), summary]
    if entry.content and entry.content != entry.summary:
        texts.append(text_of(entry.content, _COMPARED_TEXT))
    words = " ".join(filter(None, texts)).casefold()
    whole = len(words)
    if "ago" in words or _MINUTES.search(words):
        words = _CLOCK.sub("", words)
    if any(age in words for age in _AGES):
        words = _AGO.sub("", words)
    if len(words) != whole:  # what was taken out has left spaces on both sides
        words = " ".join(words.split())
    return _digest(link, words)


def _digest(*parts: str) -> str:
    return sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:32]
