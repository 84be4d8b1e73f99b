"""How the entries of a document are told apart, and found again in a later one."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING

from sourcebook.feeds.seen import EntryMark
from sourcebook.feeds.text import shorten_text, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sourcebook.feeds.model import FeedEntry

_COMPARED_TEXT = 20_000
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


def marks_of(entries: Sequence[FeedEntry]) -> list[EntryMark]:
    """Return the mark of every entry of one document, in order.

    An entry is known by its guid, then its link, then its title and text. A guid that entries with
    different links or titles share says nothing, so those entries fall to their link, and to title and text
    when the link is shared as well. The same item listed twice keeps one identity.

    Its aliases are its link when its guid is new (guids made from the slug of a headline change when the
    headline is edited), and its text with its time when both changed. A front page is no name of a story.
    """
    summaries = [text_of(entry.summary, _COMPARED_TEXT) for entry in entries]
    ids = _shared((entry.id, (entry.address, entry.title)) for entry in entries)
    links = _shared_links(entries, summaries)
    texts = [_text_identity(entry, summary) for entry, summary in zip(entries, summaries, strict=True)]
    repeated_texts = Counter(texts)
    repeated_contents = _shared(
        (_content_identity(entry, summary), (str(entry.published),))
        for entry, summary in zip(entries, summaries, strict=True)
        if not entry.id or entry.id in ids
    )
    marks = []
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
        marks.append(
            EntryMark(ladder[0], _content(entry, summary), tuple(ladder[1:]), entry.published, summary)
        )
    return marks


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


def _content(entry: FeedEntry, summary: str) -> str:
    """Return 32 hex digits that change when a reader would call the entry edited.

    Made of title, link without query and fragment, and the text of summary and content. Not of markup
    (pixels and campaign links change at every poll), nor of the dates, because many feeds stamp every
    item with the time of the poll. Times of day and ages ("3 hours ago") are left out of the text for
    the same reason; other numbers stay, since "7 dead" for "5 dead" is an edit.
    """
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
