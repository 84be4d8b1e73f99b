"""A sample of what the fast parser read, read by feedparser too: do they still agree?

feedparser takes some thirty times as long. So the comparison is made when a round of polling has been
committed, of one document of a round at most, and of none that is large.
"""

from __future__ import annotations

import html
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from sourcebook.feeds.model import FeedEntry, ParsedFeed

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger, Metrics

_LARGEST: Final = 1_000_000
"""Bytes of a document that feedparser reads in about a second; larger ones are not sampled."""
_FIELDS: Final = ("link", "title", "time", "id")


class Agreement(NamedTuple):
    """How the two parsers' readings of one document compare.

    Attributes:
        source_id: of the feed.
        entries: entries that either of them found.
        disagreeing: those among them that differ in a field, or that only one of them found.
        by_field: entries that differ, by field: link, title, time, id; "entry" for those that one lacks.
        reason: why feedparser read nothing; empty when it did.
    """

    source_id: str
    entries: int
    disagreeing: int
    by_field: Mapping[str, int] = {}
    reason: str = ""


@dataclass(slots=True)
class ParserSample:
    """The documents of one round that are read again.

    Attributes:
        percent: of the documents that the fast parser read, 0 to 100.
        random: numbers from 0 to 1.
        most: documents of one round; further ones are left alone, whatever the percentage.
    """

    percent: float
    random: Callable[[], float] = random.random
    most: int = 1
    _taken: list[Callable[[], Agreement]] = field(default_factory=list)

    def offer(
        self, source_id: str, feed: ParsedFeed, size: int, read_again: Callable[[], ParsedFeed]
    ) -> None:
        """Take a document into the sample, if it is its turn.

        Args:
            source_id: of the feed.
            feed: what the fast parser read.
            size: bytes of the document.
            read_again: reads the same document with feedparser.
        """
        if feed.parser != "expat" or size > _LARGEST or len(self._taken) >= self.most:
            return
        if self.random() * 100 < self.percent:
            self._taken.append(partial(_compare, source_id, feed.entries, read_again))

    def compare(self) -> list[Agreement]:
        """Read the sample again and compare; the sample is empty afterwards."""
        taken, self._taken = self._taken, []
        return [compare() for compare in taken]


def _compare(source_id: str, ours: list[FeedEntry], read_again: Callable[[], ParsedFeed]) -> Agreement:
    try:
        theirs = read_again().entries
    except Exception as error:  # noqa: BLE001 - a comparison never harms the round that it comes after
        # What feedparser does not read is a disagreement too: switching to it would lose the feed.
        reason = f"{type(error).__name__}: {error}"
        return Agreement(source_id, len(ours), len(ours), {"entry": len(ours)}, reason)
    if len(ours) == len(theirs):
        pairs: list[tuple[FeedEntry | None, FeedEntry | None]] = list(zip(ours, theirs, strict=True))
    else:
        by_key = {_key(entry): entry for entry in theirs}
        pairs = [(entry, by_key.pop(_key(entry), None)) for entry in ours]
        pairs += [(None, entry) for entry in by_key.values()]
    differing = [_differing(one, other) for one, other in pairs]
    by_field = Counter(name for names in differing for name in names)
    return Agreement(source_id, len(pairs), sum(map(bool, differing)), dict(by_field))


def _differing(one: FeedEntry | None, other: FeedEntry | None) -> tuple[str, ...]:
    if one is None or other is None:
        return ("entry",)
    return tuple(name for name, a, b in zip(_FIELDS, _compared(one), _compared(other), strict=True) if a != b)


def _compared(entry: FeedEntry) -> tuple[object, ...]:
    """Return the fields by which a difference would give another article.

    Summaries differ on purpose, and the year 1 is no date to us.
    """
    title = "".join(html.unescape(entry.title).split())
    moment = entry.published or entry.updated
    return entry.link, title, moment if moment and moment.year > 1 else None, entry.id


def _key(entry: FeedEntry) -> str:
    return entry.id or entry.address or entry.title


def report_agreement(agreements: list[Agreement], logger: Logger, metrics: Metrics) -> None:
    """Count a sample in the metrics of the function, and log each document on which the parsers disagree."""
    if not agreements:
        return
    for name, count in (
        ("ParserDocumentsSampled", len(agreements)),
        ("ParserDocumentsDisagreed", sum(bool(found.disagreeing) for found in agreements)),
        ("ParserEntriesSampled", sum(found.entries for found in agreements)),
        ("ParserEntriesDisagreed", sum(found.disagreeing for found in agreements)),
    ):
        metrics.add_metric(name, "Count", count)
    for found in agreements:
        if found.disagreeing:
            logger.warning("parsers_disagree", extra=found._asdict())
