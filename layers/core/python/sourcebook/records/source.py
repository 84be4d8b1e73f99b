"""A source: what a person has declared of it, what polling has learned, and its fetches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from sourcebook.records.base import (
    NOT_SHOWN,
    PROJECTED,
    Count,
    EpochSeconds,
    Place,
    Record,
    Time,
    View,
    shown_as,
)
from sourcebook.table import keys

SLOW_FETCH: Final = 5.0
"""Seconds after which a fetch counts as slow."""

_HOURS_OF_A_WEEK: Final = 168


class Health(StrEnum):
    """How a source is doing, in one word."""

    NEW = "new"
    HEALTHY = "healthy"
    FAILING = "failing"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnySource(Record):
    """What the API shows of a source of any kind."""

    source_id: Annotated[str, "Its id.", PROJECTED]
    kind: Annotated[str, "Which adapter fetches it.", PROJECTED] = "feed"
    host: Annotated[str, "Of its URL: sources of one host are fetched politely.", PROJECTED, NOT_SHOWN] = ""
    name: Annotated[str | None, "What it was named, else what it calls itself."] = None
    url: Annotated[str, "Where it is fetched."]
    enabled: Annotated[bool, "Whether it is polled; a disabled one may be probed."] = True
    priority: Annotated[
        int,
        "The lower number is fetched first, and wins where sources disagree; 999 if not given.",
        PROJECTED,
    ] = 999
    created_at: Annotated[datetime, "When it was registered."]
    next_fetch_time: Annotated[datetime, "When it is due, or to be probed.", PROJECTED]
    last_fetch_at: Annotated[datetime | None, "When it was last fetched."] = None
    last_success_at: Annotated[datetime | None, "When it was last fetched well.", PROJECTED] = None
    last_change_at: Annotated[datetime | None, "When something in it was last new."] = None
    last_cause: Annotated[str | None, "What came of the last fetch."] = None
    last_error: Annotated[str | None, "Why the last fetch failed, in words."] = None
    consecutive_errors: Annotated[Count, "Fetches that failed, one after the other."] = 0
    fetch_count: Annotated[Count, "Fetches so far."] = 0

    @property
    def health(self) -> Health:
        """Return the source's health."""
        if not self.enabled:
            return Health.DISABLED
        if self.consecutive_errors:
            return Health.FAILING
        return Health.HEALTHY if self.last_success_at else Health.NEW


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(AnySource):
    """A source with the state that polling keeps.

    Its item is kept below 1 kB, so that an unchanged poll costs two write units: one for it, and one for its
    entry in the index, which stays in its place until the day of the next fetch is another one.
    """

    PLACE: ClassVar = Place(
        keys.source, "the command line and the API (declaration), fetch (state)", (keys.ELIGIBILITY_INDEX,)
    )

    tags: Annotated[tuple[str, ...], "Given to all its articles."] = ()
    interval_minutes: Annotated[int, "The longest time between two fetches."] = 15
    options: Annotated[Mapping[str, object], "What only its kind knows.", NOT_SHOWN] = field(
        default_factory=dict
    )
    title: Annotated[str | None, "What it calls itself, if it was given no name.", NOT_SHOWN] = None
    etag: Annotated[str | None, "Validator of the last answer.", NOT_SHOWN] = None
    last_modified: Annotated[str | None, "Validator of the last answer.", NOT_SHOWN] = None
    body_hash: Annotated[str | None, "Digest of the last body.", NOT_SHOWN] = None
    validators_stuck: Annotated[bool, "Whether its validators do not change with it.", NOT_SHOWN] = False
    full_fetch_at: Annotated[datetime | None, "When it was last fetched in full.", NOT_SHOWN] = None
    broken_count: Annotated[int, "Failures in a row that will not mend themselves.", NOT_SHOWN] = 0
    unchanged_since: Annotated[datetime | None, "Since when nothing in it was new."] = None
    previous_url: Annotated[str | None, "Where it was before it moved."] = None
    unchanged_count: Annotated[Count, "Fetches since then that found nothing new."] = 0
    last_entries: Annotated[Count, "Entries of its document, when it last changed."] = 0
    created_total: Annotated[Count, "Articles that it was the first to bring."] = 0
    merged_total: Annotated[Count, "Articles that another source had brought already."] = 0
    rate: Annotated[float, "Entries an hour that are expected."] = 0.0
    rate_lately: Annotated[float, "Entries an hour, lately.", NOT_SHOWN] = 0.0
    entries_together: Annotated[float, "Entries that come at once.", NOT_SHOWN] = 1.0
    histogram: Annotated[bytes | None, "Publications by the hour of the week.", NOT_SHOWN] = None
    entries_counted: Annotated[int, "Entries in the histogram.", NOT_SHOWN] = 0
    hint_minutes: Annotated[int, "The interval that it asks for itself, 0 for none."] = 0
    skip: Annotated[Mapping[str, tuple[int, ...]] | None, "Hours, days to leave it alone.", NOT_SHOWN] = None
    circuit: Annotated[Mapping[str, object] | None, "Of its circuit breaker.", NOT_SHOWN] = None
    redirect_url: Annotated[str | None, "Where it is redirected to for good.", NOT_SHOWN] = None
    redirect_count: Annotated[int, "How often in a row.", NOT_SHOWN] = 0
    observed_day: Annotated[str | None, "The day of its newest figures.", NOT_SHOWN] = None

    @property
    def shown_name(self) -> str | None:
        """The name that it was given, else what it calls itself; None without either."""
        return self.name or self.title or None

    @property
    def articles(self) -> int:
        """Return how many articles the source has brought."""
        return self.created_total + self.merged_total

    def shown(self) -> View:
        """Return what the API shows of it if it is a feed."""
        return {
            "feed_id": self.source_id,
            "health": self.health.value,
            **{name: value for name, value in Record.shown(self).items() if name != "source_id"},
            "name": self.shown_name,
            "avg_articles_per_fetch": articles_per_fetch(self.articles, self.fetch_count),
            "publications_by_hour": publications_by_hour(self.histogram),
        }

    def shown_in_short(self) -> View:
        """Return what the API shows of it whatever its kind."""
        return shown_as(self, AnySource) | {
            "health": self.health.value,
            "name": self.shown_name,
            "articles": self.articles,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch(Record):
    """One fetch that changed something or failed, under the due time that it was made for."""

    PLACE: ClassVar = Place(keys.source_fetch, "fetch, if something changed or failed; 30 days")

    source_id: Annotated[str, "The source.", NOT_SHOWN]
    fetched_at: Annotated[Time | None, "When it ended."] = None
    verdict: Annotated[str | None, "What it is for the schedule."] = None
    cause: Annotated[str | None, "Why, in one word."] = None
    message: Annotated[str | None, "Why, in words."] = None
    http_status: Annotated[int | None, "Of the last answer."] = None
    entries: Annotated[Count | None, "Entries of the document."] = None
    created: Annotated[Count | None, "Articles that are new."] = None
    merged: Annotated[Count | None, "Articles that another source had brought already."] = None
    updated: Annotated[Count | None, "Articles that this source has edited."] = None
    rejected: Annotated[Count | None, "Entries that could not be taken."] = None
    rejections: Annotated[tuple[str, ...] | None, "Which, and why."] = None
    dropped: Annotated[Mapping[str, Count] | None, "Rows that could not be taken, by reason."] = None
    warnings: Annotated[tuple[str, ...] | None, "What was mended or is in doubt."] = None
    duration_ms: Annotated[Count | None, "How long it took."] = None
    ttl_timestamp: Annotated[EpochSeconds, "When it expires.", NOT_SHOWN]


def articles_per_fetch(articles: int, fetches: int) -> float:
    """Return how many articles a fetch has brought on average, to two decimals; 0 before the first fetch."""
    return round(articles / fetches, 2) if fetches else 0.0


def publications_by_hour(histogram: bytes | None) -> list[int]:
    """Return how many entries were published in each hour of the day (UTC), 24 numbers.

    Older entries weigh less, so it is the proportion of the numbers that says something.
    """
    counts = bytes(histogram or b"")
    if len(counts) != _HOURS_OF_A_WEEK:
        counts = bytes(_HOURS_OF_A_WEEK)
    return [sum(counts[hour::24]) for hour in range(24)]
