"""An event: articles about the same occurrence, and the ideas concluded from it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from sourcebook.records.article import Article, Sentiment
from sourcebook.records.base import NOT_SHOWN, Count, EpochSeconds, Place, Record, Time, View
from sourcebook.table import keys

ACTIVE: Final = "active"
"""Status of every event: by_status lists events by the time of their last article."""
MERGED: Final = "merged"
"""Status of one that a person has merged into another, which answers for it; it is in no list."""
DISSOLVED: Final = "dissolved"
"""Status of one that a person has left fewer than two articles; it is in no list."""


class Direction(StrEnum):
    """Which way an event points for its subjects."""

    UP = "up"
    DOWN = "down"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion(Record):
    """What was concluded from one state of an event."""

    subjects: Annotated[
        tuple[str, ...],
        "Tickers, those of most articles first; names from the headlines where there are none.",
    ]
    direction: Annotated[Direction, "Which way the event points for them."]
    score: Annotated[float, "The weighted sentiment behind the direction, from -1 to 1."]
    independent_sources: Annotated[Count, "Publishers that carry it."]
    articles: Annotated[Count, "Articles that it was concluded from."]
    velocity: Annotated[
        float, "Articles an hour, from the first to the last; of less than an hour, as of one."
    ]
    why: Annotated[str, "The same in words."]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventIdea(Conclusion):
    """A conclusion as it stands on its event."""

    time: Annotated[Time, "Of the state of the event that it was concluded from."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea(EventIdea):
    """What was concluded from one state of an event, and by which engine."""

    PLACE: ClassVar = Place(keys.event_idea, "ideas; 30 days after the event's last article")

    event_id: Annotated[str, "The event.", NOT_SHOWN]
    engine: Annotated[str, "The engine that concluded it, with its version."]
    inputs_digest: Annotated[str, "Of the state: the same gives the same idea.", NOT_SHOWN]
    ttl_timestamp: Annotated[EpochSeconds, "When it expires.", NOT_SHOWN]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMember(Record):
    """An article of an event, as its event shows it."""

    dedup_key: Annotated[str, "The article."]
    headline: Annotated[str, "The article's."]
    published_at: Annotated[Time, "The article's `timestamp`."]
    tickers: Annotated[tuple[str, ...], "The article's."]
    sources: Annotated[tuple[str, ...], "The article's."]
    sentiment: Annotated[Sentiment | None, "The article's."]
    score: Annotated[float | None, "The article's."]

    @classmethod
    def of(cls, article: Article) -> EventMember:
        """Return an article as a member of its event."""
        return cls(
            dedup_key=article.dedup_key,
            headline=article.headline,
            published_at=article.timestamp,
            tickers=article.matched_tickers,
            sources=article.sources,
            sentiment=article.sentiment,
            score=article.score,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Record):
    """Articles about the same occurrence, as grouping decided."""

    PLACE: ClassVar = Place(keys.event, "grouping; ideas, for the newest idea on it", (keys.STATUS_INDEX,))

    event_id: Annotated[str, "Its id, made of the dedup key of its founder."]
    headline: Annotated[str, "That of its earliest article."]
    tickers: Annotated[tuple[str, ...], "Of its articles."]
    member_count: Annotated[Count, "How many articles it has."]
    members: Annotated[tuple[str, ...], "Dedup keys of its articles.", NOT_SHOWN]
    first_member: Annotated[str, "Dedup key of its earliest article.", NOT_SHOWN]
    first_published_at: Annotated[Time, "When its earliest article was published."]
    created_at: Annotated[Time, "When grouping made it."]
    updated_at: Annotated[Time, "When grouping last added to it."]
    timestamp: Annotated[Time, "When its newest article was published.", NOT_SHOWN]
    status: Annotated[str, "`active`, by which events are listed.", NOT_SHOWN] = ACTIVE
    idea: Annotated[EventIdea | None, "The newest one; null in the moment before the first is made."] = None
    idea_digest: Annotated[str | None, "`inputs_digest` of the newest idea.", NOT_SHOWN] = None
    idea_time: Annotated[Time | None, "`time` of the newest idea.", NOT_SHOWN] = None
    taken_out: Annotated[
        tuple[str, ...], "Dedup keys of articles that a person has taken out for good.", NOT_SHOWN
    ] = ()
    merged_into: Annotated[str | None, "The event that answers for it.", NOT_SHOWN] = None
    revision: Annotated[
        int, "Raised by each change of its members, which is conditional on it.", NOT_SHOWN
    ] = 1
    ttl_timestamp: Annotated[EpochSeconds, "When it expires.", NOT_SHOWN]

    def shown(self) -> View:
        """Return what the API shows of it in lists."""
        return Record.shown(self) | {"last_published_at": self.timestamp}
