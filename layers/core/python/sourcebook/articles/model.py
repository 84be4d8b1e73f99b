"""One source's report of a story, checked as it comes in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sourcebook.events import UtcDatetime
from sourcebook.sources.model import HttpUrl
from sourcebook.validation import first_wrong

TEXT_LIMIT: Final = 1_000
"""Characters of text kept for analysis."""

ATTRIBUTIONS_KEPT: Final = 200
"""Sources whose attribution is kept with one article; more are only counted, so that the item stays small."""

TAGS_KEPT: Final = 10
"""Tags of one article: each is an item of its own."""


_NonEmpty = Annotated[str, Field(min_length=1)]


class IncomingArticle(BaseModel):
    """One source's report of a story, as an adapter hands it to ingestion.

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
    metadata: Mapping[str, object] = Field(default_factory=dict)


def parse_incoming(values: Mapping[str, object]) -> IncomingArticle:
    """Check what an adapter has read.

    Raises:
        InvalidInput: naming the first field that breaks a rule.
    """
    try:
        return IncomingArticle.model_validate(values)
    except ValidationError as error:
        raise first_wrong(error, "article") from error
