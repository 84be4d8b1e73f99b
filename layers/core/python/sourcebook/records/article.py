"""An article: one story, with the attribution of each source; its mentions; its aliases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from sourcebook.messages import SchemaRule
from sourcebook.records.base import NOT_SHOWN, EpochSeconds, LeftOut, Place, Record, Time, View
from sourcebook.schema import DIGEST
from sourcebook.table import keys
from sourcebook.table.codec import Item

RETENTION: Final = timedelta(days=30)
"""An article expires this long after its first ingestion."""

_NOT_OF_OLDER: Final = frozenset({"PK", "SK", "GSI1PK", "GSI1SK", "entity_type", "schema_version"})


class Status(StrEnum):
    """Where an article stands on its way through analysis.

    Two kinds of items have no status, so by_status does not hold them: one with a sentiment is analyzed, and
    by_sentiment has it; one without is new and pending. It gets the status, and its place in by_status, if
    it still waits when the table's stream is read (docs/decisions/0476).
    """

    PENDING = "pending"
    ERROR = "error"
    ANALYZED = "analyzed"
    JOINED = "joined"
    """A person has joined it to another, which answers for it; it is in no list."""


class Sentiment(StrEnum):
    """The class that analysis gives a text."""

    POSITIVE = "positive"
    NEUTRAL = "neutral"
    NEGATIVE = "negative"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAttribution(Record):
    """One source's report of a story."""

    article_id: Annotated[str, "The source's own id of the article."]
    url: Annotated[str | None, "The article at this source."] = None
    crawl_timestamp: Annotated[Time, "When the source first provided it."]
    original_headline: Annotated[str, "The headline as this source has it."]
    published_at: Annotated[Time | None, "When the source says that it was published."] = None
    source_name: Annotated[str | None, "The publisher or wire service."] = None
    revised_at: Annotated[Time | None, "When the source last provided an edited one."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement(Record):
    """What analysis found of a text, or of one subject of a text that names several."""

    label: Annotated[Sentiment, "Its class."]
    score: Annotated[float, "How sure the engine is, from 0 to 1."]
    polarity: Annotated[float, "From -1 to 1."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Article(Record):
    """One story of one day, with the attribution of each source."""

    PLACE: ClassVar = Place(
        keys.article,
        "fetch (create, merge), analyze (status); 30 days",
        (keys.STATUS_INDEX, keys.SENTIMENT_INDEX),
    )

    source_id: Annotated[str, "`dedup:` and the dedup key, as the seed's model has it."]
    timestamp: Annotated[Time, "Orders articles: when it was published, or its crawl if that is earlier."]
    dedup_key: Annotated[
        Annotated[str, SchemaRule({"pattern": f"^{DIGEST}$"})],
        "Digest of the normalized headline and the day: the article's id.",
    ]
    headline: Annotated[str, "As its first source has it, entities decoded."]
    normalized_headline: Annotated[str, "What equal stories have in common."]
    signature: Annotated[str | None, "Numbers and names that need their punctuation.", NOT_SHOWN] = None
    sources: Annotated[tuple[str, ...], "Ids of its sources, the earliest crawl first."]
    source_attribution: Annotated[
        Mapping[str, SourceAttribution], "The attribution of each source, by its id."
    ]
    attributions_omitted: Annotated[int | None, "Sources beyond those that are kept.", NOT_SHOWN] = None
    status: Annotated[
        Status, "Where it stands on its way through analysis.", LeftOut(Status.ANALYZED, beside="sentiment")
    ] = Status.PENDING
    sentiment: Annotated[Sentiment | None, "What analysis found in headline and text."] = None
    score: Annotated[float | None, "How sure the engine is, from 0 to 1."] = None
    matched_tickers: Annotated[tuple[str, ...], "Ticker symbols that sources gave."] = ()
    tags: Annotated[tuple[str, ...], "Tags that sources gave, and the subjects found in the text."] = ()
    subjects: Annotated[
        tuple[str, ...] | None, "Subjects found in the text, by their first place.", NOT_SHOWN
    ] = None
    subject_sentiments: Annotated[
        Mapping[str, Judgement] | None, "Where the text names several subjects.", NOT_SHOWN
    ] = None
    text_for_analysis: Annotated[str | None, "The beginning of the text, at most 1,000 characters."] = None
    text_source: Annotated[str | None, "The source that the text is of.", NOT_SHOWN] = None
    metadata: Annotated[Mapping[str, object] | None, "Further fields of its first source."] = None
    event_id: Annotated[str | None, "The event that it belongs to."] = None
    polarity: Annotated[float | None, "From -1 to 1.", NOT_SHOWN] = None
    engine: Annotated[str | None, "The engine that analyzed it, with its version.", NOT_SHOWN] = None
    analyzed_at: Annotated[Time | None, "When it was analyzed.", NOT_SHOWN] = None
    error_reason: Annotated[str | None, "Why its analysis failed.", NOT_SHOWN] = None
    ttl_timestamp: Annotated[EpochSeconds, "When it expires."]
    created_at: Annotated[Time, "When its first source provided it."]
    updated_at: Annotated[Time, "When a source last added to it."]
    joined_into: Annotated[str | None, "The article that answers for it.", NOT_SHOWN] = None
    split_off: Annotated[
        Mapping[str, str] | None, "Articles that have the words of sources split off from it.", NOT_SHOWN
    ] = None
    kept_alone: Annotated[
        str | None, "The decision of a person by which grouping leaves it alone.", NOT_SHOWN
    ] = None
    revision: Annotated[
        int, "Raised by every merge; merges and analysis are conditional on it.", NOT_SHOWN
    ] = 1

    @property
    def all_tags(self) -> tuple[str, ...]:
        """The tags that its sources gave it, and the subjects found in its text."""
        return tuple(sorted({*self.tags, *(self.subjects or ())}))

    @property
    def judgement(self) -> Judgement:
        """What analysis found of it. Raises ValueError if it was not analyzed."""
        if self.sentiment is None or self.score is None or self.polarity is None:
            raise ValueError(f"article {self.dedup_key} is not analyzed")
        return Judgement(label=self.sentiment, score=self.score, polarity=self.polarity)

    @property
    def mentions(self) -> list[View]:
        """What is felt about each tag: `is_own` where it was judged by itself; none before the analysis."""
        if self.sentiment is None:
            return []
        own = self.subject_sentiments or {}
        felt = {tag: own.get(tag) for tag in self.all_tags}
        return [
            {
                "tag": tag,
                "sentiment": (judged.label if judged else self.sentiment).value,
                "score": judged.score if judged else self.score,
                "is_own": judged is not None,
            }
            for tag, judged in felt.items()
        ]

    def to_new_item(self) -> Item:
        """Return the item of an article that has just come: by_status does not hold it yet."""
        item = self.to_item(keys.article(self.dedup_key))
        del item["status"]
        return item

    def shown(self) -> View:
        """Return what the API shows of it."""
        return Record.shown(self) | {"tags": list(self.all_tags), "mentions": self.mentions}


def status_of(item: Item) -> str:
    """Return the status of an article's item."""
    return str(item.get("status") or (Status.ANALYZED if "sentiment" in item else Status.PENDING))


def is_analyzed(item: Item) -> bool:
    """Whether an item is that of an analyzed article."""
    return status_of(item) == Status.ANALYZED


@dataclass(frozen=True, slots=True)
class OlderArticle:
    """An article of the older key format: without a dedup key, with the fields it was stored with."""

    stored: Item

    def shown(self) -> View:
        """Return what the API shows of it."""
        return {name: value for name, value in self.stored.items() if name not in _NOT_OF_OLDER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention(Record):
    """A tag of an analyzed article: what by_tag answers with.

    Its class is called `label`: an attribute `sentiment` would put it into by_sentiment, beside the articles.
    """

    PLACE: ClassVar = Place(
        keys.article_tag, "analyze, conditional on the article's revision", (keys.TAG_INDEX,)
    )

    tag: Annotated[str, "The tag, or the subject's id."]
    timestamp: Annotated[Time, "The article's."]
    label: Annotated[Sentiment, "The class of the article, or its subject's own."]
    score: Annotated[float, "How sure the engine is, from 0 to 1."]
    polarity: Annotated[float, "From -1 to 1."]
    engine: Annotated[str | None, "The engine that judged it, such as minilm-l6-2."] = None
    headline: Annotated[str, "The article's."]
    revision: Annotated[int, "The article's, when it was written."]
    ttl_timestamp: Annotated[EpochSeconds, "When it expires, as its article does."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleAlias(Record):
    """By a source's own id of an article, the article."""

    PLACE: ClassVar = Place(keys.article_alias, "fetch; 30 days")

    dedup_key: Annotated[str, "The article."]
    ttl_timestamp: Annotated[EpochSeconds, "When it expires."]
