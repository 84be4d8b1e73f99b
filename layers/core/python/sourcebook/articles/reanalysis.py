"""Analyzing anew: the articles of a subject, after its names, its engine or the model have changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.articles.analysis import Analyzer, reopen_analyzed
from sourcebook.articles.model import Status
from sourcebook.clock import isoformat, parse_iso
from sourcebook.errors import InvalidInput, Retryable, SourcebookError
from sourcebook.sentiment.subjects import TOOL_ID
from sourcebook.sentiment.windows import hour_of
from sourcebook.table import keys
from sourcebook.table.client import QueryPage, Table

LAST_DAY: Final = 30
"""The day that is looked at last; it takes in whatever is older."""
SCOPES: Final = ("mentions", "all")

_PAGE: Final = 100
_ARTICLES_AT_MOST: Final = 2_000
_TIME_TO_END: Final = 30.0
_LOWEST: Final = "0"


@dataclass(frozen=True, slots=True)
class DayOfArticles:
    """A part of the work: the articles of one day, counted back from when the work began.

    Attributes:
        tool_id: whose articles.
        days_ago: 0 is the 24 hours before `started_at`; `LAST_DAY` takes in all that is older.
        scope: `mentions` for the articles that mention it; `all` for every article, which finds those
            that a new name of the subject occurs in.
        next: where an earlier call has stopped; empty at the beginning.
    """

    tool_id: str
    days_ago: int
    started_at: datetime
    scope: str = "mentions"
    next: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, event: Mapping[str, Any]) -> DayOfArticles:
        """Check an event.

        Raises:
            InvalidInput: naming the first field that is wrong.
        """
        tool_id, days_ago = event.get("tool_id"), event.get("days_ago")
        scope, place = event.get("scope", SCOPES[0]), event.get("next") or {}
        if not isinstance(tool_id, str) or not TOOL_ID.fullmatch(tool_id):
            raise InvalidInput("tool_id", tool_id, "the id of a subject")
        if not isinstance(days_ago, int) or not 0 <= days_ago <= LAST_DAY:
            raise InvalidInput("days_ago", days_ago, f"a whole number from 0 to {LAST_DAY}")
        if scope not in SCOPES:
            raise InvalidInput("scope", scope, f"one of {', '.join(SCOPES)}")
        if not isinstance(place, Mapping):
            raise InvalidInput("next", place, "what the call before has answered")
        try:
            started_at = parse_iso(str(event.get("started_at")))
        except ValueError as error:
            raise InvalidInput("started_at", event.get("started_at"), "an ISO 8601 time with zone") from error
        return cls(tool_id, days_ago, started_at, scope, place)

    def bounds(self) -> tuple[str, str]:
        """Return its first and last timestamp, both included."""
        end = self.started_at - timedelta(days=self.days_ago)
        first = _LOWEST if self.days_ago == LAST_DAY else isoformat(end - timedelta(days=1))
        return first, isoformat(end - timedelta(seconds=1))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call came.

    Attributes:
        analyzed: articles that were analyzed anew.
        failed: articles that could not be; those that can be later are, by the healing of forgotten ones.
        done: whether the day is finished.
        next: where to go on if it is not.
    """

    analyzed: int
    failed: int
    done: bool
    next: Mapping[str, str]


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
