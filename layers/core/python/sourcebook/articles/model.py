"""An article: one story, with every source's own word on it. docs/articles.md describes the item."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sourcebook.events import UtcDatetime
from sourcebook.sources.model import HttpUrl
from sourcebook.validation import first_wrong

RETENTION: Final = timedelta(days=30)
"""An article expires this long after its first ingestion."""

TEXT_LIMIT: Final = 1_000
"""Characters of text kept for analysis."""

ATTRIBUTIONS_KEPT: Final = 200
"""Sources whose word is kept with one article; more are only counted, so that the item stays small."""

TAGS_KEPT: Final = 10
"""Tags of one article: each is an item of its own."""


class Status(StrEnum):
    """Where an article stands on its way through analysis."""

    PENDING = "pending"
    ANALYZED = "analyzed"
    ERROR = "error"


class Sentiment(StrEnum):
    """What an article feels."""

    POSITIVE = "positive"
    NEUTRAL = "neutral"
    NEGATIVE = "negative"


_NonEmpty = Annotated[str, Field(min_length=1)]


class IncomingArticle(BaseModel):
    """One source's word on a story, as an adapter hands it to ingestion.

    Attributes:
        source: id of the source.
        article_id: the source's own id of the article; with `source` it finds the article again when the
            source edits it.
        published_at: when the source says it was published; the time it was first seen if it does not say.
        crawled_at: when the source provided it.
        publishers: names under which the publisher may stand in its own headlines.
        source_name: name of the publisher or wire service.
        tickers: ticker symbols that the source names, upper case.
        tags: further subjects that the source names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True, defer_build=True)

    source: _NonEmpty
    article_id: Annotated[str, Field(min_length=1, max_length=600)]
    url: HttpUrl
    headline: Annotated[str, Field(min_length=1, max_length=2000)]
    published_at: UtcDatetime
    crawled_at: UtcDatetime
    publishers: tuple[str, ...] = ()
    source_name: Annotated[str, Field(max_length=200)] | None = None
    text: Annotated[str, Field(max_length=TEXT_LIMIT)] = ""
    tickers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = Field(default_factory=dict)


def parse_incoming(values: Mapping[str, Any]) -> IncomingArticle:
    """Check what an adapter has read.

    Raises:
        InvalidInput: naming the first field that breaks a rule.
    """
    try:
        return IncomingArticle.model_validate(values)
    except ValidationError as error:
        raise first_wrong(error, "article") from error


class SourceAttribution(BaseModel):
    """One source's word, kept in the map `source_attribution` under the source's id.

    Attributes:
        crawl_timestamp: when the source first provided the article.
        revised_at: when it last provided an edited one; absent if it never did.
        published_at: when the source says that it was published.
    """

    model_config = ConfigDict(extra="ignore", defer_build=True)

    article_id: str
    url: str
    crawl_timestamp: str
    original_headline: str
    source_name: str | None = None
    published_at: str | None = None
    revised_at: str | None = None


class Article(BaseModel):
    """An article as it is served: the item `dedup:<dedup_key>` / `ARTICLE`."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    source_id: str
    timestamp: str
    dedup_key: str
    headline: str
    normalized_headline: str
    sources: list[str]
    source_attribution: dict[str, SourceAttribution]
    status: Status
    sentiment: Sentiment | None = None
    score: float | None = None
    matched_tickers: list[str]
    tags: list[str] = []
    text_for_analysis: str | None = None
    metadata: dict[str, Any] | None = None
    event_id: str | None = None
    ttl_timestamp: int
    created_at: str
    updated_at: str
