"""The operations on observations: newest figures, history, and what there is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

from pydantic import Field

from sourcebook.api.operations import Operation, of_topic
from sourcebook.api.parameters import Cursor, Day, PageParameters, Parameters, Text, number
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.resources import Resource
from sourcebook.api.responses import Response, listed, unpaged
from sourcebook.observations.raw_read import RawReader
from sourcebook.observations.read import Unknown

SERIES: Final[Any] = Field(
    None, description="As `GET /series` has it; all series without it.", examples=["deposit_online"]
)
_NAMED: Final = {
    "series_code": Resource("series", "series_code", "GET /series lists them."),
    "bank_name": Resource("bank", "bank_name", "GET /banks lists them."),
}
ONE_SERIES: Final[Any] = Field(description="As `GET /series` has it.", examples=["deposit_online"])


class FigureParameters(Parameters):
    """Which figures are asked for."""

    series_code: Text | None = SERIES
    term_months: Text | None = Field(
        None,
        description="Months such as `6`, or a term such as `2W` or `7D`; all terms without it. A loan has "
        "none.",
        examples=["6"],
    )
    bank_name: Text | None = Field(
        None, description="As `GET /banks` has it; all banks without it.", examples=["Bến Xuân"]
    )


class LatestParameters(FigureParameters):
    """Which figures are asked for, and how old they may be."""

    max_age_days: Annotated[int, number(1, 3_660)] | None = Field(
        None,
        description="Figures last seen longer ago step back behind fresher ones, whatever their source "
        "declares.",
    )
    cursor: Cursor | None = Field(
        None, description="`next_cursor` of the answer before, with the same filters."
    )


class HistoryParameters(Parameters):
    """Whose history is asked for, and of which days."""

    bank_name: Text = Field(description="As `GET /banks` has it.", examples=["Bến Xuân"])
    series_code: Text = ONE_SERIES
    term_months: Text | None = Field(
        None,
        description="Months, or a term such as `2W`. A deposit series needs it; a loan has none.",
        examples=["6"],
    )
    first: Day | None = Field(None, alias="from", description="First day, included.", examples=["2026-01-06"])
    last: Day | None = Field(None, alias="to", description="Last day, included.", examples=["2026-11-27"])
    cursor: Cursor | None = Field(
        None, description="`next_cursor` of the answer before, with the same filters."
    )


class ObservationParameters(PageParameters, FigureParameters):
    """Which observations of the raw layer are asked for."""

    source_id: Annotated[str, Field(min_length=1, max_length=63)] | None = Field(
        None,
        description="Only what this source had, also where it is registered no more.",
        examples=["lai-suat-ben-xuan"],
    )
    since: Day | None = Field(None, description="First day, included.", examples=["2026-11-01"])
    until: Day | None = Field(None, description="Last day, excluded.", examples=["2026-12-01"])


def reader(services: Services) -> RawReader:
    """Return what these operations read from."""
    return RawReader(services.table, services.clock)


def _get_latest(services: Services, request: Request) -> Response:
    with known():
        return listed(reader(services).latest(**dict(LatestParameters.of(request))))


def _get_history(services: Services, request: Request) -> Response:
    with known():
        return Response(reader(services).history(**dict(HistoryParameters.of(request))))


def _list_observations(services: Services, request: Request) -> Response:
    with known():
        return listed(reader(services).figures(**dict(ObservationParameters.of(request))))


def _list_banks(services: Services, request: Request) -> Response:  # noqa: ARG001 - as every operation
    return unpaged(reader(services).banks())


def _list_series(services: Services, request: Request) -> Response:  # noqa: ARG001 - as every operation
    return unpaged(reader(services).series())


def _get_meta(services: Services, request: Request) -> Response:  # noqa: ARG001 - as every operation
    return Response(reader(services).meta())


@contextmanager
def known() -> Iterator[None]:
    """Answer 404 where the bank or the series is not known."""
    try:
        yield
    except Unknown as error:
        raise _NAMED[error.what].missing(error.value) from error


OPERATIONS: Final = of_topic(
    "Observations",
    Operation(
        route="GET /latest",
        summary="The newest figure of each bank, series and term",
        description="One row each, from the source that counts (docs/observations.md has the rule). "
        "`decided_by` says what put the winner before the next: `only_source`, `freshness`, `priority`, "
        "`scraped_at` or `sequence`. `term_months` and `term` are null for a loan. An answer ends, with a "
        "cursor, where it would become too large.",
        handle=_get_latest,
        query=LatestParameters,
        answers={200: "Latest"},
        more_problems=(404,),
    ),
    Operation(
        route="GET /history",
        summary="One figure a day of a bank, a series and a term",
        description="In the order of `scraped_at`: each day's figure is from the source that counts among "
        "those that had one that day. Days are those of the sources' own calendars. An answer has up to "
        "4,000 points: ten years fit into one. A bank without figures has no points.",
        handle=_get_history,
        query=HistoryParameters,
        answers={200: "History"},
        more_problems=(404,),
    ),
    Operation(
        route="GET /observations",
        summary="The figure of each source on each day",
        description="The raw layer, from which `GET /latest` and `GET /history` choose: nothing is left out "
        "of it. By series, term and bank; of each the oldest day first, and of a day the sources by id. "
        "`source_priority` is null where the source is registered no more. Days are those of the sources' "
        "own calendars; `first_seen_at` and `scraped_at` are when the figure was seen on that day first and "
        "last.",
        handle=_list_observations,
        query=ObservationParameters,
        answers={200: "ObservationPage"},
        more_problems=(404,),
    ),
    Operation(
        route="GET /banks",
        summary="The banks of which there are figures",
        handle=_list_banks,
        answers={200: "Banks"},
    ),
    Operation(
        route="GET /series",
        summary="The series of figures",
        description="`kind` is `deposit`, or `loan`, which has no terms.",
        handle=_list_series,
        answers={200: "SeriesList"},
    ),
    Operation(
        route="GET /meta/latest",
        summary="How fresh the figures are, and how each source's last scrape went",
        description="Of each source its last scrape that found a changed page or a new day: rows taken, "
        "rows dropped by reason, what was odd about the page (`notes`), what looked wrong (`anomaly`), and "
        "the hash under which the page is kept.",
        handle=_get_meta,
        answers={200: "Meta"},
    ),
)
