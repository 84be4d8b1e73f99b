"""The operations of the catalogue: novae, what ran for them, and what waits for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sourcebook.api.forms import UUID, ChoiceField, Form, TextField, TextsField
from sourcebook.api.operations import Access, Body, Operation
from sourcebook.api.parameters import CURSOR, LIMIT, Choice, Day, Degrees, Text, Whole, page_size
from sourcebook.api.parts import Means
from sourcebook.api.requests import Request
from sourcebook.api.responses import Conflict, NotFound, Response, listed
from sourcebook.api.workflows import CANDIDATE, WorkflowsApi
from sourcebook.api.workflows import make as make_workflows
from sourcebook.errors import InvalidInput, shorten
from sourcebook.novae.coordinates import Position
from sourcebook.novae.listing import STATUSES as NOVA_STATUSES
from sourcebook.novae.listing import NovaList, Wanted
from sourcebook.novae.names import NAME_LIMIT
from sourcebook.novae.read import NovaReader
from sourcebook.novae.review import DECISIONS, OVERRIDES, AlreadyReviewed, ReviewDesk
from sourcebook.runs.read import STATUSES, RunReader

_ARCSECONDS_UNTOLD: Final = 10.0
_LARGEST_RADIUS: Final = 2.0

_NAME: Final = Text(
    name="name",
    description="Any name in any spelling. Not together with a place or with filters of the list.",
    longest=NAME_LIMIT,
    example="V1324 Sco",
)
_RA: Final = Degrees(name="ra", description="Right ascension, ICRS, in degrees.", least=0, most=360)
_DEC: Final = Degrees(name="dec", description="Declination, ICRS, in degrees.", least=-90, most=90)
_RADIUS: Final = Degrees(
    name="radius",
    description="How far around the place to look, in degrees; ten arcseconds without it.",
    least=0,
    most=_LARGEST_RADIUS,
)
_ANY_STATUS: Final = "ANY"
_NOVA_STATUS: Final = Choice(
    name="status",
    description="Only novae that count, or those that were merged into another, or deprecated.",
    values=(*NOVA_STATUSES, _ANY_STATUS),
    default="ACTIVE",
)
_YEAR: Final = Whole(name="year", description="Only those discovered in this year.", least=1, most=9999)
_CONSTELLATION: Final = Text(
    name="constellation",
    description="Only those that lie in this constellation, such as `Sco`, `Scorpius` or `Scorpii`.",
    longest=40,
)
_PREFIX: Final = Text(
    name="prefix", description="What the primary name begins with, such as `V13`, in any case.", longest=40
)
_SINCE: Final = Day(name="discovered_since", description="Only those discovered on this day or later.")
_HAS_SPECTRA: Final = Choice(
    name="has_spectra", description="Whether there is a valid spectrum.", values=("true", "false")
)
_HAS_PHOTOMETRY: Final = Choice(
    name="has_photometry", description="Whether there is a measurement.", values=("true", "false")
)
_FILTERS: Final = (
    *(_NOVA_STATUS, _YEAR, _CONSTELLATION, _PREFIX, _SINCE, _HAS_SPECTRA, _HAS_PHOTOMETRY),
    *(LIMIT, CURSOR),
)
_BY_NAME: Final = frozenset({"name"})
_BY_PLACE: Final = frozenset({"ra", "dec", "radius"})
_BY_FILTERS: Final = frozenset(parameter.name for parameter in _FILTERS)
_STATUS: Final = Choice(name="status", description="How far the run is.", values=STATUSES)
_WORKFLOW: Final = Text(
    name="workflow",
    description="Only runs of this workflow.",
    longest=64,
    pattern="[a-z][a-z_]{0,63}",
    expected="the name of a workflow such as initialize_nova",
    example="initialize_nova",
)
_REVIEW: Final = Choice(
    name="review",
    description="What waits for a person, or what has been decided.",
    values=("pending", "decided"),
    default="pending",
)
_INITIALIZE: Final = Form((CANDIDATE,), example={"candidate_name": "V1324 Sco"})
_DECISION: Final = Form(
    (
        ChoiceField(
            name="decision",
            description="`CLEARED_RETRY_APPROVED` starts the workflow again, which then takes the decision "
            "for granted; `CLEARED_TERMINAL` closes the case; `MERGED` makes the candidate a name of "
            "`nova_id`.",
            values=DECISIONS,
        ),
        TextField(
            name="reviewer",
            description="How you call yourself; how you signed in is kept beside it.",
            longest=100,
        ),
        TextField(
            name="nova_id",
            description="With `MERGED`: the nova to merge into.",
            longest=36,
            pattern=UUID,
            expected="the id of a nova, a UUID in lower case; GET /novae?name= finds it",
            required=False,
        ),
        TextField(name="note", description="Why.", longest=1_000, required=False),
        TextsField(
            name="overrides",
            description="With the approved new try of a spectrum: what its file does not say, or says "
            "wrongly.",
            names=OVERRIDES,
            required=False,
        ),
    ),
    example={"decision": "CLEARED_TERMINAL", "reviewer": "Ada", "note": "A symbiotic star."},
)


@dataclass(frozen=True, slots=True)
class CatalogApi:
    """What these operations read from and act by."""

    novae: NovaReader
    list: NovaList
    runs: RunReader
    desk: ReviewDesk
    workflows: WorkflowsApi


def make(means: Means) -> CatalogApi:
    """Make it."""
    return CatalogApi(
        NovaReader(means.table),
        NovaList(means.table),
        RunReader(means.table),
        ReviewDesk(means.table, means.start),
        make_workflows(means),
    )


def find_novae(catalog: CatalogApi, request: Request) -> Response:
    """GET /novae."""
    given = set(request.query)
    if len([ways for ways in (_BY_NAME, _BY_PLACE, _BY_FILTERS) if ways & given]) > 1:
        raise InvalidInput(
            "name", request.query.get("name"), "either a name, or a place, or filters of the list; not two"
        )
    if (name := _NAME.of(request)) is not None:
        return Response(catalog.novae.by_name(name))
    if _BY_PLACE & given:
        position = Position(_RA.needed(request), _DEC.needed(request))
        radius = _RADIUS.of(request)
        return Response(catalog.novae.near(position, _ARCSECONDS_UNTOLD / 3600 if radius is None else radius))
    status = _NOVA_STATUS.of(request) or _NOVA_STATUS.default
    wanted = Wanted(
        status=None if status == _ANY_STATUS else status,
        year=_YEAR.of(request),
        constellation=_CONSTELLATION.of(request),
        prefix=_PREFIX.of(request),
        since=None if (day := _SINCE.of(request)) is None else day.isoformat(),
        spectra=_yes(_HAS_SPECTRA.of(request)),
        photometry=_yes(_HAS_PHOTOMETRY.of(request)),
    )
    return listed(catalog.list.page(wanted, limit=page_size(request), cursor=CURSOR.of(request)))


def _yes(word: str | None) -> bool | None:
    return None if word is None else word == "true"


def get_nova(catalog: CatalogApi, request: Request) -> Response:
    """GET /novae/{nova_id}."""
    return Response(_nova(catalog, request))


def list_nova_runs(catalog: CatalogApi, request: Request) -> Response:
    """GET /novae/{nova_id}/job-runs."""
    nova_id = _nova(catalog, request)["nova_id"]
    return listed(catalog.runs.of_nova(nova_id, limit=page_size(request), cursor=CURSOR.of(request)))


def initialize_nova(catalog: CatalogApi, request: Request) -> Response:
    """POST /novae."""
    return catalog.workflows.run("initialize_nova", _INITIALIZE.read(request.json()), request)


def list_runs(catalog: CatalogApi, request: Request) -> Response:
    """GET /job-runs."""
    page = catalog.runs.page(
        status=_STATUS.of(request),
        workflow=_WORKFLOW.of(request),
        limit=page_size(request),
        cursor=CURSOR.of(request),
    )
    return listed(page)


def get_run(catalog: CatalogApi, request: Request) -> Response:
    """GET /job-runs/{job_run_id}."""
    job_run_id = request.path.get("job_run_id", "")
    run = catalog.runs.get(job_run_id)
    if run is None:
        raise NotFound(f"There is no job run {shorten(job_run_id)}. GET /job-runs lists them.")
    return Response(run)


def list_quarantine(catalog: CatalogApi, request: Request) -> Response:
    """GET /quarantine."""
    reviewed = _REVIEW.of(request) == "decided"
    page = catalog.desk.page(reviewed=reviewed, limit=page_size(request), cursor=CURSOR.of(request))
    return listed(page)


def get_quarantined(catalog: CatalogApi, request: Request) -> Response:
    """GET /quarantine/{quarantine_id}."""
    quarantine_id = request.path.get("quarantine_id", "")
    case = catalog.desk.get(quarantine_id)
    if case is None:
        raise _no_case(quarantine_id)
    return Response(case)


def review_quarantined(catalog: CatalogApi, request: Request) -> Response:
    """POST /quarantine/{quarantine_id}/review."""
    quarantine_id = request.path.get("quarantine_id", "")
    told = _DECISION.read(request.json())
    try:
        case = catalog.desk.review(
            quarantine_id,
            told["decision"],
            reviewer=told["reviewer"],
            caller=request.caller,
            nova_id=told.get("nova_id"),
            note=told.get("note"),
            overrides=told.get("overrides"),
        )
    except AlreadyReviewed as error:
        raise Conflict(str(error), error.field) from error
    if case is None:
        raise _no_case(quarantine_id)
    return Response(case)


def _nova(catalog: CatalogApi, request: Request) -> dict[str, Any]:
    nova_id = request.path.get("nova_id", "")
    nova = catalog.novae.get(nova_id)
    if nova is None:
        raise NotFound(
            f"There is no nova {shorten(nova_id)}. GET /novae?name= finds one by any of its names."
        )
    return nova


def _no_case(quarantine_id: str) -> NotFound:
    return NotFound(f"There is no quarantined case {shorten(quarantine_id)}. GET /quarantine lists them.")


_NOVAE: Final = "Novae"
_RUNS: Final = "Workflows and their runs"
_QUARANTINE: Final = "Quarantine"

OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/job-runs",
        name="listJobRuns",
        topic=_RUNS,
        summary="Executions of workflows, newest first",
        description="`lost` is true for a run that should have ended long ago: it was aborted. docs/runs.md "
        "says what the other fields mean.",
        act=list_runs,
        parameters=(_STATUS, _WORKFLOW, LIMIT, CURSOR),
        answers={200: "JobRunPage"},
    ),
    Operation(
        method="GET",
        path="/job-runs/{job_run_id}",
        name="getJobRun",
        topic=_RUNS,
        summary="One execution with its attempts",
        description="`attempts` are in the order in which they began, at most 1,000; `attempts_left_out` "
        "says whether there are more.",
        act=get_run,
        answers={200: "JobRun"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/novae",
        name="findNovae",
        topic=_NOVAE,
        summary="Novae by name, by place, or all of them",
        description="Give `name`; or `ra` and `dec` with or without `radius`; or neither, and get the list "
        "of all novae by their primary names, which the other parameters narrow. By name the answer has "
        "`match`: `NONE`, `ONE`, or `AMBIGUOUS` with every nova that the name may mean. By place each nova "
        "has `separation_arcsec`, the nearest first, at most 100; `left_out` counts the others. A page of "
        "the list may be short and have a `next_cursor` all the same.",
        act=find_novae,
        parameters=(_NAME, _RA, _DEC, _RADIUS, *_FILTERS),
        answers={200: "NovaSearch"},
    ),
    Operation(
        method="POST",
        path="/novae",
        name="initializeNova",
        topic=_NOVAE,
        summary="Make a name a nova",
        description="Starts `initialize_nova`, as `POST /workflows/initialize_nova/executions` does, and "
        "answers with the run to watch. Running it again for a name changes nothing that is right.",
        act=initialize_nova,
        access=Access.WRITE,
        body=Body(form=_INITIALIZE),
        answers={202: "StartedRun"},
    ),
    Operation(
        method="GET",
        path="/novae/{nova_id}",
        name="getNova",
        topic=_NOVAE,
        summary="One nova with its names",
        description="A merged nova is given as it is, with `merged_into`.",
        act=get_nova,
        answers={200: "Nova"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/novae/{nova_id}/job-runs",
        name="listNovaJobRuns",
        topic=_NOVAE,
        summary="What ran for a nova",
        description="By workflow, the newest of each first.",
        act=list_nova_runs,
        parameters=(LIMIT, CURSOR),
        answers={200: "JobRunPage"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/quarantine",
        name="listQuarantine",
        topic=_QUARANTINE,
        summary="What waits for a person, newest first",
        act=list_quarantine,
        parameters=(_REVIEW, LIMIT, CURSOR),
        answers={200: "QuarantinePage"},
    ),
    Operation(
        method="GET",
        path="/quarantine/{quarantine_id}",
        name="getQuarantineCase",
        topic=_QUARANTINE,
        summary="One case",
        act=get_quarantined,
        answers={200: "QuarantineCase"},
        problems=(404,),
    ),
    Operation(
        method="POST",
        path="/quarantine/{quarantine_id}/review",
        name="reviewQuarantineCase",
        topic=_QUARANTINE,
        summary="A person's decision",
        description="Records the decision and starts what follows from it; `execution_arn` is that of the "
        "workflow that was started. The same decision may be sent again; another one is refused with 409.",
        act=review_quarantined,
        access=Access.WRITE,
        body=Body(form=_DECISION),
        answers={200: "ReviewedCase"},
        problems=(404,),
    ),
)
