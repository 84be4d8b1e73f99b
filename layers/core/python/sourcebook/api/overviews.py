"""Overviews: what a reader wants to know at once, each in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sourcebook.api.operations import Operation
from sourcebook.api.parameters import CURSOR, LIMIT, Choice, Text, Whole, page_size
from sourcebook.api.parts import Means
from sourcebook.api.queues import DeadLetters
from sourcebook.api.requests import Request
from sourcebook.api.responses import NotFound, Response, listed, whole
from sourcebook.articles.overview import HOURS_LIMIT as PAST_HOURS_LIMIT
from sourcebook.articles.overview import ORDERS as SOURCE_ORDERS
from sourcebook.articles.overview import IngestionOverview
from sourcebook.clients import on_demand
from sourcebook.errors import shorten
from sourcebook.observations.best import best_rates, moves
from sourcebook.observations.read import ObservationReader, Unknown
from sourcebook.sentiment.ranking import HOURS_LIMIT, ORDERS, SubjectRanking
from sourcebook.sources.read import HEALTHS, FeedReader
from sourcebook.table.client import aws_config

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

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
_PAST: Final = Whole(
    name="hours", description="How many hours back.", least=1, most=PAST_HOURS_LIMIT, default=24
)
_SOURCES_BY: Final = Choice(
    name="order",
    description="What is largest in the first source: articles, their mean age, its slowest fetch, errors.",
    values=SOURCE_ORDERS,
    default=SOURCE_ORDERS[0],
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
    ingestion: IngestionOverview
    dead_letters: DeadLetters


def make(means: Means) -> OverviewsApi:
    """Return the part of the API that answers overviews from the table of a request."""
    return OverviewsApi(
        FeedReader(means.table),
        SubjectRanking(means.table),
        ObservationReader(means.table),
        IngestionOverview(means.table),
        DeadLetters.from_environment(on_demand(_queues), means.environ),
    )


def _queues() -> SQSClient:
    import boto3  # noqa: PLC0415 - seldom needed

    return boto3.client("sqs", config=aws_config())


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


def list_source_overviews(api: OverviewsApi, request: Request) -> Response:
    """GET /overviews/sources."""
    hours, order = _PAST.of(request) or 24, _SOURCES_BY.of(request) or SOURCE_ORDERS[0]
    return Response(api.ingestion.sources(hours, order))


def list_batches(api: OverviewsApi, request: Request) -> Response:
    """GET /overviews/ingestion."""
    return Response(api.ingestion.batches(_PAST.of(request) or 24))


def list_dead_letters(api: OverviewsApi, request: Request) -> Response:  # noqa: ARG001 - as every operation
    """GET /overviews/dead-letters."""
    return whole(api.dead_letters.waiting())


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
        path="/overviews/sources",
        name="listSourceOverviews",
        topic=_TOPIC,
        summary="What each source brought of late, how old it was, and how fast it answered",
        description="`mean_age_seconds` is from the publication of its articles to their fetching. `fetches` "
        "are those that changed something or failed; one of more than five seconds makes a source `slow`. "
        "The first 200 sources that are due and the newest 2,000 articles are looked at; `left_out` says "
        "whether there are more.",
        act=list_source_overviews,
        parameters=(_PAST, _SOURCES_BY),
        answers={200: "SourceOverviews"},
        volatile=True,
    ),
    Operation(
        method="GET",
        path="/overviews/ingestion",
        name="listBatches",
        topic=_TOPIC,
        summary="The runs of ingestion, and how often two sources told the same",
        description="The counts are of all runs of the window; `items` are the newest hundred. A run over "
        "unchanged sources leaves no record. `collision_rate` is `collisions_detected` by "
        "`articles_fetched`, which counts articles that the source had not told before.",
        act=list_batches,
        parameters=(_PAST,),
        answers={200: "IngestionBatches"},
        volatile=True,
    ),
    Operation(
        method="GET",
        path="/overviews/dead-letters",
        name="listDeadLetters",
        topic=_TOPIC,
        summary="What failed for good and waits for a person",
        description="About how many messages wait in the dead-letter queue of each job, and the command that "
        "sends them back to work.",
        act=list_dead_letters,
        answers={200: "DeadLetterQueues"},
        volatile=True,
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
