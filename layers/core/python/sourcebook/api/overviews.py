"""Overviews: what a reader wants to know at once, each in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sourcebook.api.operations import Operation
from sourcebook.api.parameters import CURSOR, LIMIT, Choice, Text, Whole, page_size
from sourcebook.api.parts import Means
from sourcebook.api.requests import Request
from sourcebook.api.responses import NotFound, Response, listed, whole
from sourcebook.errors import shorten
from sourcebook.observations.best import best_rates, moves
from sourcebook.observations.read import ObservationReader, Unknown
from sourcebook.sentiment.ranking import HOURS_LIMIT, ORDERS, SubjectRanking
from sourcebook.sources.read import HEALTHS, FeedReader

_KIND: Final = Text(name="kind", description="Only sources of this kind.", longest=40, example="html_table")
_HEALTH: Final = Choice(
    name="health", description="`new` was never fetched, `failing` failed the last time.", values=HEALTHS
)
_HOURS: Final = Whole(
    name="hours",
    description="How long the window is; it is compared with as many hours before it.",
    least=1,
    most=HOURS_LIMIT,
    default=24,
)
_ORDER: Final = Choice(
    name="order",
    description="`mentions`, the most first; `change` of the average sentiment, the largest first.",
    values=ORDERS,
    default=ORDERS[0],
)
_SERIES: Final = Text(
    name="series_code",
    description="As `GET /series` has it; all series without it.",
    example="deposit_online",
)
_ONE_SERIES: Final = Text(
    name="series_code", description="As `GET /series` has it.", example="deposit_online", required=True
)
_DAYS: Final = Whole(name="days", description="How long the period is.", least=1, most=366, default=30)


@dataclass(frozen=True, slots=True)
class OverviewsApi:
    """What these operations read from."""

    sources: FeedReader
    subjects: SubjectRanking
    rates: ObservationReader


def make(means: Means) -> OverviewsApi:
    """Return the part of the API that answers overviews from the table of a request."""
    return OverviewsApi(FeedReader(means.table), SubjectRanking(means.table), ObservationReader(means.table))


def list_sources(api: OverviewsApi, request: Request) -> Response:
    """GET /sources."""
    return listed(
        api.sources.sources(
            kind=_KIND.of(request),
            health=_HEALTH.of(request),
            limit=page_size(request),
            cursor=CURSOR.of(request),
        )
    )


def rank_subjects(api: OverviewsApi, request: Request) -> Response:
    """GET /overviews/subjects."""
    return Response(api.subjects.rank(_HOURS.of(request) or 24, _ORDER.of(request) or ORDERS[0]))


def list_best_rates(api: OverviewsApi, request: Request) -> Response:
    """GET /overviews/rates."""
    try:
        return whole(best_rates(api.rates, series_code=_SERIES.of(request)))
    except Unknown as error:
        raise _no_series(error) from error


def list_moves(api: OverviewsApi, request: Request) -> Response:
    """GET /overviews/moves."""
    try:
        return Response(
            moves(api.rates, series_code=_ONE_SERIES.needed(request), days=_DAYS.of(request) or 30)
        )
    except Unknown as error:
        raise _no_series(error) from error


def _no_series(error: Unknown) -> NotFound:
    return NotFound(f"There is no series {shorten(error.value)}. GET /series lists them.")


_TOPIC: Final = "Overviews"

OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/sources",
        name="listSources",
        topic=_TOPIC,
        summary="The sources of every kind, and how they do",
        description="Feeds, news APIs, and the pages and files of figures: those polled by the time they are "
        "due, then the disabled ones. `articles` is how many its fetches brought: new ones, and those that "
        "another source had brought already.",
        act=list_sources,
        parameters=(_KIND, _HEALTH, LIMIT, CURSOR),
        answers={200: "SourcePage"},
    ),
    Operation(
        method="GET",
        path="/overviews/subjects",
        name="rankSubjects",
        topic=_TOPIC,
        summary="The subjects by mentions, or by change of sentiment",
        description="The active subjects that were mentioned in the window [`start`, `end`). `change` is "
        "`average_sentiment` minus `average_before`, null without mentions before. The first 200 subjects by "
        "id are ranked; `left_out` says whether there are more.",
        act=rank_subjects,
        parameters=(_HOURS, _ORDER),
        answers={200: "SubjectRanking"},
        volatile=True,
    ),
    Operation(
        method="GET",
        path="/overviews/rates",
        name="listBestRates",
        topic=_TOPIC,
        summary="The best rate of each series and term",
        description="The highest of a deposit and the lowest of a loan, among the figures of `GET /latest` "
        "that are not stale; `banks` are all that offer it.",
        act=list_best_rates,
        parameters=(_SERIES,),
        answers={200: "BestRates"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/overviews/moves",
        name="listMoves",
        topic=_TOPIC,
        summary="The rates of a series that have moved in a period",
        description="The first and the last figure of each bank and term within the last `days`, where they "
        "differ; the largest change first, whichever way it went. 500 banks and terms are looked at; "
        "`left_out` says whether there are more.",
        act=list_moves,
        parameters=(_ONE_SERIES, _DAYS),
        answers={200: "RateMoves"},
        problems=(404,),
    ),
)
