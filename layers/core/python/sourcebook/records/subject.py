"""A subject, which the data model calls a tool, and what is felt about it: its cached sentiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, TypeAlias

from sourcebook.messages import SchemaRule
from sourcebook.records.base import NOT_SHOWN, Count, Place, Record, Time, View, shown_as
from sourcebook.table import keys
from sourcebook.table.codec import Item

Percentage: TypeAlias = Annotated[float, SchemaRule({"minimum": 0, "maximum": 100})]
Average: TypeAlias = Annotated[float, SchemaRule({"minimum": -1, "maximum": 1})]


@dataclass(frozen=True, slots=True)
class Subject(Record):
    """Something that articles speak of, such as a coding tool or a company.

    Its `tool_id` is also the tag that its mentions carry. A company's is its ticker, since that is the tag
    under which sources of market news already speak of it.
    """

    PLACE: ClassVar = Place(keys.subject, "the command line", (keys.ELIGIBILITY_INDEX,), entity="Tool")

    tool_id: Annotated[str, "Id of the subject."]
    name: Annotated[str, "For people."]
    kind: Annotated[str, "tool, company or topic: which words count as context for an ambiguous name."] = (
        "topic"
    )
    aliases: Annotated[tuple[str, ...], "Names by which articles call it, besides `name`."] = ()
    ticker: Annotated[str | None, "Its symbol, as sources of market news give it."] = None
    ambiguous: Annotated[
        tuple[str, ...],
        "Those of its names that also mean something else and count in context only; common words do anyway.",
        NOT_SHOWN,
    ] = ()
    cues: Annotated[tuple[str, ...], "Words that are context for its ambiguous names.", NOT_SHOWN] = ()
    excluded: Annotated[
        tuple[str, ...], "Phrases that contain one of its names and mean something else.", NOT_SHOWN
    ] = ()
    active: Annotated[bool, "Whether it is looked for in articles and its sentiment kept up to date."] = True

    @property
    def place(self) -> keys.EligibilityKey:
        """Return its place in EligibilityIndex."""
        return (keys.active_subject if self.active else keys.retired_subject)(self.tool_id)

    def item(self) -> Item:
        """Return the item that holds it."""
        return self.to_item(keys.subject(self.tool_id), self.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionCounts(Record):
    """How many mentions there were, by what they feel."""

    total_mentions: Annotated[Count, "Mentions of all sentiments."]
    positive_count: Annotated[Count, "Mentions that are positive."]
    negative_count: Annotated[Count, "Mentions that are negative."]
    neutral_count: Annotated[Count, "Mentions that are neutral."]
    average_sentiment: Annotated[Average, "Their mean polarity, from -1 to 1; 0 without mentions."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentimentBucket(MentionCounts):
    """The mentions of an hour or a day."""

    start: Annotated[Time, "When it begins."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentimentFigures(MentionCounts):
    """The mentions of a window."""

    positive_percentage: Annotated[
        Percentage, "Positive mentions in percent, to a tenth; the three sum to 100."
    ]
    negative_percentage: Annotated[Percentage, "Negative mentions in percent, to a tenth."]
    neutral_percentage: Annotated[Percentage, "Neutral mentions in percent, to a tenth."]

    def figures(self) -> View:
        """Return the figures. DynamoDB makes 0 of 0.0: fractions are fractions again."""
        found = shown_as(self, SentimentFigures)
        return found | {name: float(found[name]) for name in _FRACTIONS}


_FRACTIONS: Final = ("positive_percentage", "negative_percentage", "neutral_percentage", "average_sentiment")


@dataclass(frozen=True, slots=True, kw_only=True)
class SentimentCacheEntry(SentimentFigures):
    """A subject's sentiment in a period, computed ahead so that one read answers."""

    PLACE: ClassVar = Place(keys.cache_entry, "the refresh; the API on a miss")

    id: Annotated[str | None, "Subject and period; null of hours that are no period."] = None
    tool_id: Annotated[str, "The subject."]
    period: Annotated[str | None, "HOUR_1, HOUR_24, DAY_7 or DAY_30; null of other hours."] = None
    period_start_ts: Annotated[int, "When it begins, in seconds since 1970."]
    period_end_ts: Annotated[int, "When it ends, excluded."]
    last_updated_ts: Annotated[int, "When it was computed."]
    _ts: Annotated[int | None, "The same; null of hours that are no period."] = None

    def shown(self) -> View:
        """Return what the API shows of it."""
        return Record.shown(self) | self.figures()


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheMetadata(Record):
    """How the cache of sentiment does: the last refresh, and the reads of this hour and the 23 before."""

    PLACE: ClassVar = Place(keys.cache_metadata, "the refresh")

    id: Annotated[str, "metadata."] = "metadata"
    last_refresh_ts: Annotated[int | None, "When the last one ended, in seconds since 1970."] = None
    last_refresh_duration_ms: Annotated[int | None, "How long it took."] = None
    total_entries: Annotated[Count, "Entries that there are."] = 0
    cache_hits_24h: Annotated[Count, "Answers from the cache."] = 0
    cache_misses_24h: Annotated[Count, "Answers that had to be computed."] = 0
    cache_hit_rate: Annotated[float, "Of all answers, from 0 to 1."] = 0.0
    error_count_24h: Annotated[Count, "Computations that failed."] = 0
    tools_refreshed: Annotated[tuple[str, ...], "Subjects that the last refresh wrote."] = ()
    _ts: Annotated[int | None, "As `last_refresh_ts`."] = None
