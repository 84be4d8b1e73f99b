"""Analyzing anew: the articles of a subject, after its names, its engine or the model have changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.articles.analysis import Analyzer, reopen_analyzed
from sourcebook.articles.reanalysis_messages import DayOfArticles, Progress
from sourcebook.errors import InvalidInput, Retryable, SourcebookError
from sourcebook.records.article import Sentiment
from sourcebook.sentiment.windows import hour_of
from sourcebook.table import keys
from sourcebook.table.client import QueryPage, Table

_PAGE: Final = 100
_ARTICLES_AT_MOST: Final = 2_000
_TIME_TO_END: Final = 30.0
_SENTIMENTS: Final = tuple(sentiment.value for sentiment in Sentiment)
_INDEXES: Final = {True: ("tag", keys.TAG_INDEX), False: ("sentiment", keys.SENTIMENT_INDEX)}
"""Attribute and index by whether it is the articles of a tag that are wanted, or all."""


@dataclass(frozen=True, slots=True)
class Reanalyzer:
    """Analyzes the articles of a subject anew, as many as there is time for."""

    table: Table
    analyzer: Analyzer
    seconds_left: Callable[[], float] = lambda: float("inf")

    def run(self, part: DayOfArticles) -> Progress:
        """Do a part, or the beginning of it. Doing it again changes nothing.

        Raises:
            InvalidInput: if there is no such subject.
            TableBusy: if the table is not able to answer now.
        """
        if self.table.get(keys.subject(part.tool_id)) is None:
            raise InvalidInput("tool_id", part.tool_id, "a subject that is there: `sourcebook subjects list`")
        analyzed = failed = 0
        # An execution that began with an earlier version went through an index that no longer has all.
        place = _beginning(part) if not part.next or "status" in part.next else part.next
        seen: set[str] = set()
        while True:
            page = self._page(part, place)
            # A mention that stays as it was marks nothing, and may never have been counted: the subject may
            # be younger than the mention.
            self.analyzer.hours.mark((part.tool_id, hour_of(item["timestamp"])) for item in page.items)
            done, bad = self._analyze(page, seen)
            analyzed, failed = analyzed + done, failed + bad
            following = page.next_key or _after(place, self.table.shards)
            if following is None:
                return Progress(analyzed, failed, done=True, next={})
            place = following
            if analyzed + failed >= _ARTICLES_AT_MOST or self.seconds_left() < _TIME_TO_END:
                return Progress(analyzed, failed, done=False, next=place)

    def _page(self, part: DayOfArticles, place: Mapping[str, str]) -> QueryPage:
        """Return the articles of a part that come after a place: a key, or the beginning of a partition."""
        attribute, index = _INDEXES["tag" in place]
        condition = KeyCondition(attribute).eq(place[attribute]) & KeyCondition("timestamp").between(
            *part.bounds()
        )
        start = place if "timestamp" in place else None
        return self.table.query(condition, index=index, limit=_PAGE, start=start)

    def _analyze(self, page: QueryPage, seen: set[str]) -> tuple[int, int]:
        """Analyze the articles of a page, and return how many were and how many could not be.

        Args:
            page: entries of an index.
            seen: keys of articles that were analyzed anew; such a one may stand under another sentiment now.
        """
        found = {key for item in page.items if (key := keys.dedup_key_of(item["PK"]))} - seen
        seen |= found
        waiting = [key for key in sorted(found) if reopen_analyzed(self.analyzer.table, key)]
        outcomes = self.analyzer.analyze(waiting).values()
        if busy := next((outcome for outcome in outcomes if isinstance(outcome, Retryable)), None):
            raise busy
        failed = sum(isinstance(outcome, SourcebookError) for outcome in outcomes)
        return len(waiting) - failed, failed


def _beginning(part: DayOfArticles) -> Mapping[str, str]:
    return {"tag": part.tool_id} if part.scope == "mentions" else {"sentiment": _SENTIMENTS[0]}


def _after(place: Mapping[str, str], shards: keys.Shards) -> Mapping[str, str] | None:
    """Return the beginning of the partition after that of a place; None after the last one."""
    if "tag" in place:
        return None
    all_values = [value for sentiment in _SENTIMENTS for value in shards.read(sentiment)]
    following = (value for value in all_values if _rank(value) > _rank(place["sentiment"]))
    return next(({"sentiment": value} for value in following), None)


def _rank(stored: str) -> tuple[int, int]:
    """Return the place of a partition in their order: that of its sentiment, then its shard."""
    sentiment = keys.without_shard("sentiment", stored)
    return _SENTIMENTS.index(sentiment), keys.shard_in(sentiment)
