"""Analyzing anew: the articles of a subject, after its names, its engine or the model have changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.articles.analysis import Analyzer, reopen_analyzed
from sourcebook.articles.reanalysis_messages import DayOfArticles, Progress
from sourcebook.errors import InvalidInput, Retryable, SourcebookError
from sourcebook.records.article import Status
from sourcebook.sentiment.windows import hour_of
from sourcebook.table import keys
from sourcebook.table.client import QueryPage, Table

_PAGE: Final = 100
_ARTICLES_AT_MOST: Final = 2_000
_TIME_TO_END: Final = 30.0


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
        place: Mapping[str, str] | None = part.next or None
        while True:
            page = self._page(part, place)
            # A mention that stays as it was marks nothing, and may never have been counted: the subject may
            # be younger than the mention.
            self.analyzer.hours.mark((part.tool_id, hour_of(item["timestamp"])) for item in page.items)
            done, bad = self._analyze(page)
            analyzed, failed = analyzed + done, failed + bad
            if page.next_key is None:
                return Progress(analyzed, failed, done=True, next={})
            place = page.next_key
            if analyzed + failed >= _ARTICLES_AT_MOST or self.seconds_left() < _TIME_TO_END:
                return Progress(analyzed, failed, done=False, next=place)

    def _page(self, part: DayOfArticles, place: Mapping[str, str] | None) -> QueryPage:
        attribute, value, index = (
            ("tag", part.tool_id, keys.TAG_INDEX)
            if part.scope == "mentions"
            else ("status", Status.ANALYZED.value, keys.STATUS_INDEX)
        )
        condition = KeyCondition(attribute).eq(value) & KeyCondition("timestamp").between(*part.bounds())
        return self.table.query(condition, index=index, limit=_PAGE, start=place)

    def _analyze(self, page: QueryPage) -> tuple[int, int]:
        found = (keys.dedup_key_of(item["PK"]) for item in page.items)
        waiting = [key for key in dict.fromkeys(found) if key and reopen_analyzed(self.analyzer.table, key)]
        outcomes = self.analyzer.analyze(waiting).values()
        if busy := next((outcome for outcome in outcomes if isinstance(outcome, Retryable)), None):
            raise busy
        failed = sum(isinstance(outcome, SourcebookError) for outcome in outcomes)
        return len(waiting) - failed, failed
