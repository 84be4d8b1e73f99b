"""What a parsed feed is: entries, the publisher's hints, and why a body is not a feed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

from sourcebook.errors import Terminal

if TYPE_CHECKING:
    from collections.abc import Mapping
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

ParserName = Literal["expat", "feedparser", "json"]
DateOrder = Literal["day", "month", "open", ""]
"""What stands first in a date in digits that ends in its year, if only that makes it a date; "open" if both
do, and it is another date then; "" for all other dates."""

_PERIOD_MINUTES = {
    "hourly": 60,
    "daily": 24 * 60,
    "weekly": 7 * 24 * 60,
    "monthly": 30 * 24 * 60,
    "yearly": 365 * 24 * 60,
}


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
        title: plain text, never empty. See `title_derived`.
        published: when the entry says it was published, aware UTC; None when it does not say or the
            form is unknown. May lie in the future.
        updated: when the entry says it was last changed, aware UTC, or None.
        id: the source's own guid or id, "" when it gives none. Use `identify` to tell entries apart.
        summary: description or summary as HTML or text; the content when there is no description.
        content: full content as HTML or text, "" when the feed gives none beside the summary.
        author: name as given, or None.
        categories: terms in the feed's order, without repeats.
        language: language tag of the entry, or None when it states none of its own.
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
    language: str | None = None
    enclosure: str = ""
    title_derived: bool = False
    publisher: str | None = None
    origin: str = ""

    @property
    def address(self) -> str:
        """The best address of the entry: its origin, its link, or its enclosure; "" without them."""
        return self.origin or self.link or self.enclosure


@dataclass(frozen=True, slots=True)
class FeedHints:
    """What the publisher says about polling. Only statements, no policy.

    Attributes:
        ttl_minutes: RSS `ttl`.
        skip_hours: RSS `skipHours`, hours of the day in UTC, 0 to 23, ascending.
        skip_days: RSS `skipDays`, 0 is Monday, ascending.
        update_period: `sy:updatePeriod` in lower case (hourly, daily, weekly, monthly, yearly).
        update_frequency: `sy:updateFrequency`, updates in one period, 1 or more.
        self_link: the feed's own address as it states it, "" when it does not.
        hub_links: WebSub hubs.
    """

    ttl_minutes: int | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()
    update_period: str | None = None
    update_frequency: int | None = None
    self_link: str = ""
    hub_links: tuple[str, ...] = ()

    @property
    def interval_minutes(self) -> int | None:
        """Minutes between updates by the syndication module (period ÷ frequency), None when not stated."""
        minutes = _PERIOD_MINUTES.get(self.update_period or "")
        if minutes is None:
            return None
        return max(1, minutes // max(1, self.update_frequency or 1))


@dataclass(frozen=True, slots=True)
class ParsedFeed:
    """A feed that was read.

    Attributes:
        title: plain text, "" when the feed has none.
        link: address of the site, "" when the feed names none.
        language: language tag as given, or None.
        entries: in the feed's order.
        hints: what the publisher says about polling.
        parser: which parser read it.
        warnings: what was mended or missing, one sentence each.
        skipped: items left out, with the reason; the first `MOST_SKIPPED` of them.
        left_out: how many items were left out besides those, by reason.
        cause: TRUNCATED when the body ended in the middle and the entries before that were kept.
    """

    title: str
    link: str
    language: str | None
    entries: tuple[FeedEntry, ...]
    hints: FeedHints
    parser: ParserName
    warnings: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    cause: Cause | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Draft:
    """A feed while it is being read; the parsers fill it and `parse_feed` freezes it.

    Attributes:
        date_order: what stands first in dates that end in their year, "" when that is not known.
        date_orders: what the dates of its items show of it.
    """

    title: str = ""
    link: str = ""
    language: str | None = None
    entries: list[FeedEntry] = field(default_factory=list)
    hints: FeedHints = field(default_factory=FeedHints)
    warnings: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    cause: Cause | None = None
    left_out: dict[str, int] = field(default_factory=dict)
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
            self.left_out[OVER_THE_LIMIT] = self.left_out.get(OVER_THE_LIMIT, 0) + 1
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
            self.left_out[SKIPPED] = self.left_out.get(SKIPPED, 0) + 1

    def freeze(self, parser: ParserName) -> ParsedFeed:
        """Return the finished feed, with the newest `MOST_ENTRIES` of its entries."""
        entries = self.entries
        if len(entries) > MOST_ENTRIES:
            over = len(entries) - MOST_ENTRIES
            self.left_out[OVER_THE_LIMIT] = self.left_out.get(OVER_THE_LIMIT, 0) + over
            self.warnings.append(
                f"the document has {len(entries)} entries; the newest {MOST_ENTRIES} are read"
            )
            entries = _newest(entries, MOST_ENTRIES)
        return ParsedFeed(
            title=self.title,
            link=self.link,
            language=self.language,
            entries=tuple(entries),
            hints=self.hints,
            parser=parser,
            warnings=tuple(self.warnings),
            skipped=tuple(self.skipped),
            cause=self.cause,
            left_out=self.left_out,
        )


def _newest(entries: list[FeedEntry], most: int) -> list[FeedEntry]:
    """Return the newest entries in the order of the document; one without a date counts as the oldest."""
    moments = [moment.timestamp() if (moment := e.published or e.updated) else 0.0 for e in entries]
    newest = sorted(range(len(entries)), key=moments.__getitem__, reverse=True)[:most]
    return [entries[n] for n in sorted(newest)]
