"""Overviews: what a reader wants to know at once, each in one call."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from sourcebook.api.observations import ONE_SERIES, SERIES, known, reader
from sourcebook.api.operations import Operation, of_topic
from sourcebook.api.parameters import PageParameters, Parameters, Text, number, one_of
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.responses import Response, listed, unpaged
from sourcebook.observations.best import best_rates, moves
from sourcebook.sentiment.ranking import HOURS_LIMIT, ORDERS, SubjectRanking
from sourcebook.sources.read import HEALTHS, FeedReader


class SourceParameters(PageParameters):
    """Which sources are asked for."""

    kind: Annotated[str, Field(min_length=1, max_length=40)] | None = Field(
        None, description="Only sources of this kind.", examples=["html_table"]
    )
    health: Annotated[str, one_of(HEALTHS)] | None = Field(
        None, description="`new` was never fetched, `failing` failed the last time."
    )


class RankingParameters(Parameters):
    """The window of a ranking, and what it goes by."""

    hours: Annotated[int, number(1, HOURS_LIMIT)] = Field(
        24, description="How long the window is; it is compared with as many hours before it."
    )
    order: Annotated[str, one_of(ORDERS)] = Field(
        ORDERS[0],
        description="`mentions`, the most first; `change` of the average sentiment, the largest first.",
    )


class BestRateParameters(Parameters):
    """Which series are asked for."""

    series_code: Text | None = SERIES


class MoveParameters(Parameters):
    """Which series is asked for, and over how long."""

    series_code: Text = ONE_SERIES
    days: Annotated[int, number(1, 366)] = Field(30, description="How long the period is.")


def _list_sources(services: Services, request: Request) -> Response:
    return listed(FeedReader(services.table, request.may_write).sources(**dict(SourceParameters.of(request))))


def _rank_subjects(services: Services, request: Request) -> Response:
    asked = RankingParameters.of(request)
    return Response(SubjectRanking(services.table, services.clock).rank(asked.hours, asked.order))


def _list_best_rates(services: Services, request: Request) -> Response:
    with known():
        return unpaged(best_rates(reader(services), series_code=BestRateParameters.of(request).series_code))


def _list_moves(services: Services, request: Request) -> Response:
    asked = MoveParameters.of(request)
    with known():
        return Response(moves(reader(services), series_code=asked.series_code, days=asked.days))


OPERATIONS: Final = of_topic(
    "Overviews",
    Operation(
        route="GET /sources",
        summary="The sources of every kind, and how they do",
        description="Feeds, news APIs, and the pages and files of figures: those polled by the day on which "
        "they are due, then the disabled ones. `articles` is how many its fetches brought: new ones, and "
        "those that another source had brought already. The values in the query of an address are shown to "
        "tokens that may write.",
        handle=_list_sources,
        query=SourceParameters,
        answers={200: "SourcePage"},
    ),
    Operation(
        route="GET /overviews/subjects",
        summary="The subjects by mentions, or by change of sentiment",
        description="The active subjects that were mentioned in the window [`start`, `end`). `change` is "
        "`average_sentiment` minus `average_before`, null without mentions before. The first 200 subjects by "
        "id are ranked; `left_out` says whether there are more.",
        handle=_rank_subjects,
        query=RankingParameters,
        answers={200: "SubjectRanking"},
        volatile=True,
    ),
    Operation(
        route="GET /overviews/rates",
        summary="The best rate of each series and term",
        description="The highest of a deposit and the lowest of a loan, among the figures of `GET /latest` "
        "that are not stale; `banks` are all that offer it.",
        handle=_list_best_rates,
        query=BestRateParameters,
        answers={200: "BestRates"},
        more_problems=(404,),
    ),
    Operation(
        route="GET /overviews/moves",
        summary="The rates of a series that have moved in a period",
        description="The first and the last figure of each bank and term within the last `days`, where they "
        "differ; the largest change first, whichever way it went. 500 banks and terms are looked at; "
        "`left_out` says whether there are more.",
        handle=_list_moves,
        query=MoveParameters,
        answers={200: "RateMoves"},
        more_problems=(404,),
    ),
)
