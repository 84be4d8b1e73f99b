"""What a parsed feed is: entries, the publisher's hints, and why a body is not a feed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

from sourcebook.errors import Terminal
from sourcebook.feeds.hints import FeedHints

if TYPE_CHECKING:
    from datetime import datetime

MOST_ENTRIES = 2_000
"""Entries of one document that are kept, the newest; real feeds hold ten to a thousand."""
MOST_ITEMS = 50_000
"""Items of one document that are looked at, the first; more only cost time."""
MOST_SKIPPED = 1_000
"""Most items left out that are reported one by one; the others are counted."""
MOST_WARNINGS = 50

OVER_THE_LIMIT = "over_the_limit"
SKIPPED = "skipped"
NOTHING_IN_IT = "it has neither a title nor a text"

ParserName = Literal["expat", "feedparser", "json", ""]
DateOrder = Literal["day", "month", "open", ""]
"""What stands first in a date in digits that ends in its year, if only that makes it a date; "open" if both
do, and it is another date then; "" for all other dates."""


class Cause(StrEnum):
    """Why a body gave no feed, or gave only a part of one. Written to the fetch history."""

    EMPTY = "empty"
    """No content, or nothing but white space."""
    HTML_PAGE = "html_page"
    """A web page."""
    CHALLENGED = "challenged"
    """A page that wants a person or a browser first (bot challenge, captcha)."""
    NOT_A_FEED = "not_a_feed"
    """Well-formed, or plain text, but no feed format that we know."""
    TRUNCATED = "truncated"
    """The body ends in the middle."""
    ENTITIES_REFUSED = "entities_refused"
    """It uses entities of its own that could grow without bound or read from elsewhere."""
    TOO_DEEP = "too_deep"
    """Elements nested deeper than any feed needs."""
    TOO_MANY_ELEMENTS = "too_many_elements"
    """More elements than any feed needs."""
    PARSE_FAILED = "parse_failed"
    """A feed by its first element, but damaged beyond what the parsers mend."""


class NotAFeed(Terminal):
    """A body that cannot be read as a feed.

    Attributes:
        cause: the machine-readable cause.
    """

    def __init__(self, cause: Cause, message: str) -> None:
        self.cause = cause
        super().__init__(message)


class Skipped(NamedTuple):
    """An item that was left out, so that the others could be kept.

    Attributes:
        position: its place in the feed, counted from 0.
        reason: why, in words.
    """

    position: int
    reason: str


class FeedEntry(NamedTuple):
    """One entry, as its feed states it. Markup in `summary` and `content` is neither cleaned nor resolved.

    A tuple, because it is made in a fifth of the time that a frozen dataclass takes.

    Attributes:
        link: absolute address of what the entry is about when the feed's address was known, "" when
            the entry names none. A guid that is a permalink stands in for it, then the enclosure of an
            item with a title (a podcast episode).
        origin: the publisher's own address of it where `link` leads over a service that counts clicks
            (`feedburner:origLink`), "" otherwise.
        title: plain text, never empty in a `ParsedFeed`. See `title_derived`.
        published: when the entry says it was published, aware UTC; None when it does not say or the
            form is unknown. May lie in the future.
        updated: when the entry says it was last changed, aware UTC, or None.
        id: the source's own guid or id, "" when it gives none. `marks_of` tells entries apart.
        summary: description or summary as HTML or text; the content when there is no description.
        content: full content as HTML or text, "" when the feed gives none beside the summary.
        author: name as given, or None.
        categories: terms in the feed's order, without repeats.
        enclosure: absolute address of the first attached file, "" without one.
        title_derived: the entry had no title; `title` holds the first words of its text.
        publisher: name of the feed that the entry came from when this feed passes it on (RSS and Atom
            `source`), or None.
    """

    link: str
    title: str
    published: datetime | None
    updated: datetime | None
    id: str
    summary: str
    content: str = ""
    author: str | None = None
    categories: tuple[str, ...] = ()
    enclosure: str = ""
    publisher: str | None = None
    origin: str = ""
    title_derived: bool = False

    @property
    def address(self) -> str:
        """The best address of the entry: its origin, its link, or its enclosure; "" without them."""
        return self.origin or self.link or self.enclosure


@dataclass(slots=True)
class ParsedFeed:
    """A feed; the parsers fill it.

    Attributes:
        parser: which parser read it, "" if none did.
        title: plain text, "" when the feed has none.
        link: address of the site, "" when the feed names none.
        language: language tag as given, or None.
        entries: in the feed's order.
        hints: what the publisher says about polling.
        warnings: what was mended or missing, one sentence each.
        skipped: items left out, with the reason; the first `MOST_SKIPPED` of them.
        left_out: how many items were left out besides those, by reason.
        cause: TRUNCATED when the body ended in the middle and the entries before that were kept.
        date_order: what stands first in dates that end in their year, "" when that is not known.
        date_orders: what the dates of its items show of it.
    """

    parser: ParserName = ""
    title: str = ""
    link: str = ""
    language: str | None = None
    entries: list[FeedEntry] = field(default_factory=list)
    hints: FeedHints = field(default_factory=FeedHints)
    warnings: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    cause: Cause | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    date_order: DateOrder = ""
    date_orders: set[DateOrder] = field(default_factory=set)

    def warn(self, sentence: str) -> None:
        """Add a warning; of very many only the first are kept."""
        if len(self.warnings) < MOST_WARNINGS:
            self.warnings.append(sentence)
        elif len(self.warnings) == MOST_WARNINGS:
            self.warnings.append("further warnings are left out")

    def takes(self, position: int, *, is_empty: bool) -> bool:
        """Return whether an item is worth reading; what is not is left out here, since it may come in masses.

        Args:
            position: place of the item in its document, from 0.
            is_empty: whether it holds nothing at all.
        """
        if position >= MOST_ITEMS:
            if position == MOST_ITEMS:
                self.warnings.append(
                    f"the document has more than {MOST_ITEMS} items; the others are not read"
                )
            self.left_out[OVER_THE_LIMIT] += 1
            return False
        if is_empty:
            self.skip(position, NOTHING_IN_IT)
            return False
        return True

    def skip(self, position: int, reason: str) -> None:
        """Leave an item out; of very many only the first are reported one by one."""
        if len(self.skipped) < MOST_SKIPPED:
            self.skipped.append(Skipped(position, reason))
        else:
            self.left_out[SKIPPED] += 1

    def keep_newest(self) -> None:
        """Leave out all but the newest `MOST_ENTRIES`; an entry without a date counts as the oldest."""
        entries = self.entries
        if len(entries) <= MOST_ENTRIES:
            return
        self.left_out[OVER_THE_LIMIT] += len(entries) - MOST_ENTRIES
        self.warnings.append(f"the document has {len(entries)} entries; the newest {MOST_ENTRIES} are read")
        moments = [moment.timestamp() if (moment := e.published or e.updated) else 0.0 for e in entries]
        newest = sorted(range(len(entries)), key=moments.__getitem__, reverse=True)[:MOST_ENTRIES]
        self.entries = [entries[n] for n in sorted(newest)]
