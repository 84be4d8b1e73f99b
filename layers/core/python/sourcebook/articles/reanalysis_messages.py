"""Request and result of the task that analyzes articles anew. Free of pydantic, as the API is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal, Self

from sourcebook.clock import isoformat
from sourcebook.errors import InvalidInput
from sourcebook.messages import TaskRequest, TaskResult
from sourcebook.sentiment.subjects import TOOL_ID

LAST_DAY: Final = 30
"""The day that is looked at last; it takes in whatever is older."""

_LOWEST: Final = "0"


@dataclass(frozen=True, slots=True)
class Progress(TaskResult):
    """The progress of one call.

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
class DayOfArticles(TaskRequest):
    """A part of the work: the articles of one day, counted back from when the work began.

    Attributes:
        tool_id: whose articles.
        days_ago: 0 is the 24 hours before `started_at`; `LAST_DAY` takes in all that is older.
        scope: `mentions` for the articles that mention it; `all` for every article, which finds those
            that a new name of the subject occurs in.
        next: where an earlier call has stopped; empty at the beginning.
    """

    function = "reanalyze_articles"
    results = (Progress,)
    tool_id: str
    days_ago: int
    started_at: datetime
    scope: Literal["mentions", "all"] = "mentions"
    next: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_json(cls, value: object, within: str = "") -> Self:
        """Return the request of a payload. Raise InvalidInput naming the first field that is wrong."""
        request = super(DayOfArticles, cls).of_json(value, within)
        if not TOOL_ID.fullmatch(request.tool_id):
            raise InvalidInput("tool_id", request.tool_id, "the id of a subject")
        if not 0 <= request.days_ago <= LAST_DAY:
            raise InvalidInput("days_ago", request.days_ago, f"a whole number from 0 to {LAST_DAY}")
        return request

    def bounds(self) -> tuple[str, str]:
        """Return its first and last timestamp, both included."""
        end = self.started_at - timedelta(days=self.days_ago)
        first = _LOWEST if self.days_ago == LAST_DAY else isoformat(end - timedelta(days=1))
        return first, isoformat(end - timedelta(seconds=1))
