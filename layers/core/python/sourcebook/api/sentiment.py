"""What is felt about subjects: the operations below /api/v1."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field

from sourcebook.api.operations import Operation, of_topic
from sourcebook.api.parameters import PageParameters, Parameters, number, one_of
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.resources import SUBJECT
from sourcebook.api.responses import Response, listed, unpaged
from sourcebook.sentiment.cache import TTL
from sourcebook.sentiment.read import BUCKETS, SentimentReader
from sourcebook.sentiment.subjects import TOOL_ID
from sourcebook.sentiment.windows import HOURS_AT_MOST

HOURS_DEFAULT: Final = 24


class WindowParameters(Parameters):
    """How far back the mentions count."""

    hours: Annotated[int, number(1, HOURS_AT_MOST)] = Field(
        HOURS_DEFAULT,
        description="How far back. 1, 24, 168 and 720 are kept ready; any other number is counted when it is "
        "asked for.",
    )


class SeriesParameters(Parameters):
    """How far back a series goes, and how wide its buckets are."""

    hours: Annotated[int, number(1, HOURS_AT_MOST)] = Field(HOURS_DEFAULT, description="How far back.")
    bucket: Annotated[str, one_of(tuple(BUCKETS))] = Field("hour", description="Width of a bucket.")


def _reader(services: Services) -> SentimentReader:
    """Return what reads sentiment; made once, since it adds up the hits of several requests."""
    return SentimentReader.of(services.table, services.clock)


def _list_subjects(services: Services, request: Request) -> Response:
    return listed(services.once(_reader).subjects(**dict(PageParameters.of(request))))


def _get_sentiment(services: Services, request: Request) -> Response:
    tool_id = _tool_id(request)
    asked = WindowParameters.of(request)
    found = SUBJECT.found(services.once(_reader).sentiment(tool_id, asked.hours), tool_id)
    return Response(found, headers=_freshness(found, services.clock()))


def _get_sentiment_series(services: Services, request: Request) -> Response:
    tool_id = _tool_id(request)
    asked = SeriesParameters.of(request)
    found = SUBJECT.found(services.once(_reader).series(tool_id, asked.hours, asked.bucket), tool_id)
    return unpaged(found, tool_id=tool_id, hours=asked.hours, bucket=asked.bucket)


def _get_sentiment_cache_health(services: Services, request: Request) -> Response:  # noqa: ARG001 - as every operation
    return Response(services.once(_reader).cache_health())


def _tool_id(request: Request) -> str:
    tool_id = SUBJECT.name(request)
    if not TOOL_ID.fullmatch(tool_id):
        raise SUBJECT.missing(tool_id)
    return tool_id


def _freshness(found: dict[str, Any], now: datetime) -> dict[str, str]:
    """Return for how long a cached answer stays as good as it is: until its entry is stale."""
    if found["id"] is None or found["is_stale"]:
        return {}
    left = int(found["last_updated_ts"] + TTL.total_seconds() - now.timestamp())
    return {"cache-control": f"max-age={left}"} if left > 0 else {}


OPERATIONS: Final = of_topic(
    "Sentiment",
    Operation(
        route="GET /api/v1/tools",
        summary="The subjects whose sentiment is kept",
        description="Coding tools, companies and what else was loaded. The active ones by id, then the "
        "retired ones, of which only what was counted before can be read.",
        handle=_list_subjects,
        query=PageParameters,
        answers={200: "SubjectPage"},
    ),
    Operation(
        route="GET /api/v1/tools/{tool_id}/sentiment",
        summary="What the mentions of a subject in the last hours felt",
        description="The window is [`period_start_ts`, `period_end_ts`), to the second, by the articles' "
        "own `timestamp`. Percentages have one decimal and sum to 100.0; without mentions they, and the "
        "average, are 0.0. `average_sentiment` is the mean polarity, from -1 to 1. `is_cached` says "
        "whether the entry was there already; `is_stale`, whether it is older than 30 minutes, which only "
        "an entry is that could not be computed anew. Where `hours` is none of the four periods, `id`, "
        "`period`, `_ts` and `cached_at` are null. `cache-control` says for how many seconds an answer from "
        "the cache stays as good as it is.",
        handle=_get_sentiment,
        query=WindowParameters,
        answers={200: "Sentiment"},
    ),
    Operation(
        route="GET /api/v1/tools/{tool_id}/sentiment/series",
        summary="The same in whole hours or days, oldest first, for plotting",
        description="The last bucket is the present, unfinished one; those without mentions are there too, "
        "with zeros.",
        handle=_get_sentiment_series,
        query=SeriesParameters,
        answers={200: "SentimentSeries"},
    ),
    Operation(
        route="GET /api/v1/cache/health",
        summary="How the cache of sentiment does",
        description="`status` is `waiting` before the first refresh, `healthy` when the last one is no older "
        "than 30 minutes, and `degraded` otherwise. `total_entries` is how many there are now; "
        "`tools_refreshed` are those that the last refresh wrote. The counts are of this hour and the 23 "
        "before it; hits are added in batches of ten, so the newest few may be missing.",
        handle=_get_sentiment_cache_health,
        answers={200: "SentimentCacheHealth"},
    ),
)
