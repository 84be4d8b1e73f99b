"""The operations on observations: newest figures, history, and what there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sourcebook.api.operations import Operation
from sourcebook.api.parameters import CURSOR, LIMIT, Cursor, Day, Text, Whole, page_size
from sourcebook.api.parts import Means
from sourcebook.api.requests import Request
from sourcebook.api.responses import NotFound, Response, listed, whole
from sourcebook.errors import shorten
from sourcebook.observations.raw_read import RawReader
from sourcebook.observations.read import ObservationReader, Unknown

_SERIES: Final = Text(
    name="series_code",
    description="As `GET /series` has it; all series without it.",
    example="deposit_online",
)
_TERM: Final = Text(
    name="term_months",
    description="Months such as `6`, or a term such as `2W` or `7D`; all terms without it. A loan has none.",
    example="6",
)
_BANK: Final = Text(
    name="bank_name", description="As `GET /banks` has it; all banks without it.", example="Bến Xuân"
)
_AGE: Final = Whole(
    name="max_age_days",
    description="Figures last seen longer ago step back behind fresher ones, whatever their source declares.",
    least=1,
    most=3_660,
)
_MORE: Final = Cursor(description="`next_cursor` of the answer before, with the same filters.")
_ONE_BANK: Final = Text(
    name="bank_name", description="As `GET /banks` has it.", example="Bến Xuân", required=True
)
_ONE_SERIES: Final = Text(
    name="series_code", description="As `GET /series` has it.", example="deposit_online", required=True
)
_ONE_TERM: Final = Text(
    name="term_months",
    description="Months, or a term such as `2W`. A deposit series needs it; a loan has none.",
    example="6",
)
_FROM: Final = Day(name="from", description="First day, included.", example="2026-01-06")
_TO: Final = Day(name="to", description="Last day, included.", example="2026-11-27")
_SOURCE: Final = Text(
    name="source_id",
    description="Only what this source had, also where it is registered no more.",
    longest=63,
    example="lai-suat-ben-xuan",
)
_SINCE: Final = Day(name="since", description="First day, included.", example="2026-11-01")
_UNTIL: Final = Day(name="until", description="Last day, excluded.", example="2026-12-01")


def make(means: Means) -> RawReader:
    """Return what these operations act by."""
    return RawReader(means.table)


def get_latest(reader: ObservationReader, request: Request) -> Response:
    """GET /latest."""
    return _found(
        lambda: Response(
            reader.latest(
                series_code=_SERIES.of(request),
                term_months=_TERM.of(request),
                bank_name=_BANK.of(request),
                max_age_days=_AGE.of(request),
                cursor=_MORE.of(request),
            )
        )
    )


def get_history(reader: ObservationReader, request: Request) -> Response:
    """GET /history."""
    return _found(
        lambda: Response(
            reader.history(
                bank_name=_ONE_BANK.needed(request),
                series_code=_ONE_SERIES.needed(request),
                term_months=_ONE_TERM.of(request),
                first=_FROM.of(request),
                last=_TO.of(request),
                cursor=_MORE.of(request),
            )
        )
    )


def list_observations(reader: RawReader, request: Request) -> Response:
    """GET /observations."""
    return _found(
        lambda: listed(
            reader.figures(
                bank_name=_BANK.of(request),
                series_code=_SERIES.of(request),
                term_months=_TERM.of(request),
                source_id=_SOURCE.of(request),
                since=_SINCE.of(request),
                until=_UNTIL.of(request),
                limit=page_size(request),
                cursor=CURSOR.of(request),
            )
        )
    )


def list_banks(reader: ObservationReader, request: Request) -> Response:  # noqa: ARG001 - as every operation
    """GET /banks."""
    return whole(reader.banks())


def list_series(reader: ObservationReader, request: Request) -> Response:  # noqa: ARG001 - as every operation
    """GET /series."""
    return whole(reader.series())


def get_meta(reader: ObservationReader, request: Request) -> Response:  # noqa: ARG001 - as every operation
    """GET /meta/latest."""
    return Response(reader.meta())


def _found(read: Callable[[], Response]) -> Response:
    try:
        return read()
    except Unknown as error:
        where = {"series_code": "/series", "bank_name": "/banks"}[error.what]
        raise NotFound(f"There is no {error.what} {shorten(error.value)}. GET {where} lists them.") from error


_TOPIC: Final = "Observations"

OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/latest",
        name="getLatest",
        topic=_TOPIC,
        summary="The newest figure of each bank, series and term",
        description="One row each, from the source that counts (docs/observations.md has the rule). "
        "`decided_by` says what put the winner before the next: `only_source`, `freshness`, `priority`, "
        "`scraped_at` or `sequence`. `term_months` and `term` are null for a loan. An answer ends, with a "
        "cursor, where it would become too large.",
        act=get_latest,
        parameters=(_SERIES, _TERM, _BANK, _AGE, _MORE),
        answers={200: "Latest"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/history",
        name="getHistory",
        topic=_TOPIC,
        summary="One figure a day of a bank, a series and a term",
        description="In the order of `scraped_at`: each day's figure is from the source that counts among "
        "those that had one that day. Days are those of the sources' own calendars. An answer has up to "
        "4,000 points: ten years fit into one. A bank without figures has no points.",
        act=get_history,
        parameters=(_ONE_BANK, _ONE_SERIES, _ONE_TERM, _FROM, _TO, _MORE),
        answers={200: "History"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/observations",
        name="listObservations",
        topic=_TOPIC,
        summary="The figure of each source on each day",
        description="The raw layer, from which `GET /latest` and `GET /history` choose: nothing is left out "
        "of it. By series, term and bank; of each the oldest day first, and of a day the sources by id. "
        "`source_priority` is null where the source is registered no more. Days are those of the sources' "
        "own calendars; `first_seen_at` and `scraped_at` are when the figure was seen on that day first and "
        "last.",
        act=list_observations,
        parameters=(_SERIES, _TERM, _BANK, _SOURCE, _SINCE, _UNTIL, LIMIT, CURSOR),
        answers={200: "ObservationPage"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/banks",
        name="listBanks",
        topic=_TOPIC,
        summary="The banks of which there are figures",
        act=list_banks,
        answers={200: "Banks"},
    ),
    Operation(
        method="GET",
        path="/series",
        name="listSeries",
        topic=_TOPIC,
        summary="The series of figures",
        description="`kind` is `deposit`, or `loan`, which has no terms.",
        act=list_series,
        answers={200: "SeriesList"},
    ),
    Operation(
        method="GET",
        path="/meta/latest",
        name="getMeta",
        topic=_TOPIC,
        summary="How fresh the figures are, and how each source's last scrape went",
        description="Of each source its last scrape that found a changed page or a new day: rows taken, "
        "rows dropped by reason, what was odd about the page (`notes`), what looked wrong (`anomaly`), and "
        "the hash under which the page is kept.",
        act=get_meta,
        answers={200: "Meta"},
    ),
)
