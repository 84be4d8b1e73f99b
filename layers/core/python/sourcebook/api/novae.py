"""The operations of the catalogue: novae, what ran for them, and what waits for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from pydantic import ConfigDict, Field, create_model

from sourcebook.api.operations import Body, Operation, of_topic
from sourcebook.api.parameters import Day, PageParameters, YesOrNo, degrees, number, one_of
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.resources import CASE, NOVA, RUN
from sourcebook.api.responses import Response, listed
from sourcebook.api.workflows import CandidateName, started
from sourcebook.errors import InvalidInput
from sourcebook.inputs import Input, NovaId, expected, matching, text, word_of
from sourcebook.novae.coordinates import Position
from sourcebook.novae.listing import STATUSES as NOVA_STATUSES
from sourcebook.novae.listing import NovaList, Wanted
from sourcebook.novae.read import NovaReader
from sourcebook.novae.review import DECISIONS, OVERRIDES, ReviewDesk
from sourcebook.records.nova import NAME_LIMIT
from sourcebook.runs.read import STATUSES, RunReader

_RADIUS_DEFAULT: Final = 10.0 / 3600
_LARGEST_RADIUS: Final = 2.0
_ANY_STATUS: Final = "ANY"


class NovaParameters(PageParameters):
    """Which novae are asked for: by name, by place, or by filters of the list."""

    name: Annotated[str, Field(min_length=1, max_length=NAME_LIMIT)] | None = Field(
        None,
        description="Any name in any spelling. Not together with a place or with filters of the list.",
        examples=["V1324 Sco"],
    )
    ra: Annotated[float, degrees(0, 360)] | None = Field(
        None, description="Right ascension, ICRS, in degrees."
    )
    dec: Annotated[float, degrees(-90, 90)] | None = Field(None, description="Declination, ICRS, in degrees.")
    radius: Annotated[float, degrees(0, _LARGEST_RADIUS)] | None = Field(
        None, description="How far around the place to look, in degrees; ten arcseconds without it."
    )
    status: Annotated[str, one_of((*NOVA_STATUSES, _ANY_STATUS))] = Field(
        "ACTIVE", description="Only novae that count, or those that were merged into another, or deprecated."
    )
    year: Annotated[int, number(1, 9999)] | None = Field(
        None, description="Only those discovered in this year."
    )
    constellation: Annotated[str, Field(min_length=1, max_length=40)] | None = Field(
        None, description="Only those that lie in this constellation, such as `Sco`, `Scorpius` or `Scorpii`."
    )
    prefix: Annotated[str, Field(min_length=1, max_length=40)] | None = Field(
        None, description="What the primary name begins with, such as `V13`, in any case."
    )
    discovered_since: Day | None = Field(None, description="Only those discovered on this day or later.")
    has_spectra: YesOrNo | None = Field(None, description="Whether there is a valid spectrum.")
    has_photometry: YesOrNo | None = Field(None, description="Whether there is a measurement.")

    def place(self) -> tuple[Position, float]:
        """Return the place that is asked for, and how far around it in degrees.

        Raises:
            InvalidInput: if a coordinate is missing, or they are no place.
        """
        for name, value in (("ra", self.ra), ("dec", self.dec)):
            if value is None:
                raise InvalidInput(name, None, f"{name}, which a search by place needs")
        radius = _RADIUS_DEFAULT if self.radius is None else self.radius
        return Position(self.ra or 0.0, self.dec or 0.0), radius

    def wanted(self) -> Wanted:
        """Return the filters of the list."""
        return Wanted(
            status=None if self.status == _ANY_STATUS else self.status,
            year=self.year,
            constellation=self.constellation,
            prefix=self.prefix,
            since=None if self.discovered_since is None else self.discovered_since.isoformat(),
            spectra=_yes(self.has_spectra),
            photometry=_yes(self.has_photometry),
        )


_BY_NAME: Final = frozenset({"name"})
_BY_PLACE: Final = frozenset({"ra", "dec", "radius"})
_BY_FILTERS: Final = frozenset(NovaParameters.names()) - _BY_NAME - _BY_PLACE


class RunParameters(PageParameters):
    """Which runs of workflows are asked for."""

    status: Annotated[str, one_of(STATUSES)] | None = Field(None, description="How far the run is.")
    workflow: (
        Annotated[
            str, matching("[a-z][a-z_]{0,63}", 64), expected("the name of a workflow such as initialize_nova")
        ]
        | None
    ) = Field(None, description="Only runs of this workflow.", examples=["initialize_nova"])


class CaseParameters(PageParameters):
    """Which cases of the quarantine are asked for."""

    review: Annotated[str, one_of(("pending", "decided"))] = Field(
        "pending", description="What waits for a person, or what has been decided."
    )


class NewNova(Input):
    """The nova to initialize."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"candidate_name": "V1324 Sco"}]})

    candidate_name: CandidateName


_Override = Annotated[str, text(200)]


if TYPE_CHECKING:
    SpectrumOverrides = Input
else:
    SpectrumOverrides = create_model(
        "SpectrumOverrides",
        __base__=Input,
        __doc__="What a reviewer says in place of a spectrum's file; `ReviewDesk.review` checks the values.",
        **dict.fromkeys(OVERRIDES, (_Override | None, None)),
    )


class ReviewerDecision(Input):
    """The decision of a reviewer, as it is sent."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"decision": "CLEARED_TERMINAL", "reviewer": "Ada", "note": "A symbiotic star."}]
        }
    )

    decision: Annotated[str, word_of(DECISIONS)] = Field(
        description="`CLEARED_RETRY_APPROVED` starts the workflow again, which then takes the decision "
        "for granted; `CLEARED_TERMINAL` closes the case; `MERGED` makes the candidate a name of "
        "`nova_id`."
    )
    reviewer: Annotated[str, text(100)] = Field(
        description="How you call yourself; how you signed in is kept beside it."
    )
    nova_id: NovaId | None = Field(None, description="With `MERGED`: the nova to merge into.")
    note: Annotated[str, text(1_000)] | None = Field(None, description="Why.")
    overrides: SpectrumOverrides | None = Field(
        None,
        description="With the approved new try of a spectrum: what its file does not say, or says wrongly.",
    )


def _find_novae(services: Services, request: Request) -> Response:
    given = set(request.query)
    if len([ways for ways in (_BY_NAME, _BY_PLACE, _BY_FILTERS) if ways & given]) > 1:
        raise InvalidInput(
            "name",
            request.query.get("name", ""),
            "either a name, or a place, or filters of the list; not two",
        )
    asked = NovaParameters.of(request)
    if asked.name is not None:
        return Response(NovaReader(services.table).by_name(asked.name))
    if _BY_PLACE & given:
        return Response(NovaReader(services.table).near(*asked.place()))
    return listed(NovaList(services.table).page(asked.wanted(), limit=asked.limit, cursor=asked.cursor))


def _yes(word: str | None) -> bool | None:
    return None if word is None else word == "true"


def _get_nova(services: Services, request: Request) -> Response:
    return Response(NOVA.of(request, NovaReader(services.table).get))


def _list_nova_job_runs(services: Services, request: Request) -> Response:
    nova_id = NOVA.of(request, NovaReader(services.table).get)["nova_id"]
    return listed(RunReader(services.table).of_nova(nova_id, **dict(PageParameters.of(request))))


def _initialize_nova(services: Services, request: Request) -> Response:
    return started(services, "initialize_nova", NewNova.read(request.json()).given(), request)


def _list_job_runs(services: Services, request: Request) -> Response:
    return listed(RunReader(services.table).page(**dict(RunParameters.of(request))))


def _get_job_run(services: Services, request: Request) -> Response:
    return Response(RUN.of(request, RunReader(services.table).get))


def _list_quarantine(services: Services, request: Request) -> Response:
    asked = CaseParameters.of(request)
    desk = ReviewDesk(services.table, services.start)
    return listed(desk.page(reviewed=asked.review == "decided", limit=asked.limit, cursor=asked.cursor))


def _get_quarantine_case(services: Services, request: Request) -> Response:
    return Response(CASE.of(request, ReviewDesk(services.table, services.start).get))


def _review_quarantine_case(services: Services, request: Request) -> Response:
    quarantine_id = CASE.name(request)
    made = ReviewerDecision.read(request.json())
    case = ReviewDesk(services.table, services.start).review(
        quarantine_id,
        made.decision,
        reviewer=made.reviewer,
        caller=request.caller,
        nova_id=made.nova_id,
        note=made.note,
        overrides=(made.overrides and made.overrides.given()) or None,
    )
    return Response(CASE.found(case, quarantine_id))


_RUNS: Final = of_topic(
    "Workflows and their runs",
    Operation(
        route="GET /job-runs",
        summary="Executions of workflows, newest first",
        description="`lost` is true for a run that should have ended long ago: it was aborted. docs/runs.md "
        "says what the other fields mean.",
        handle=_list_job_runs,
        query=RunParameters,
        answers={200: "JobRunPage"},
    ),
    Operation(
        route="GET /job-runs/{job_run_id}",
        summary="One execution with its attempts",
        description="`attempts` are in the order in which they began, at most 1,000; `attempts_left_out` "
        "says whether there are more.",
        handle=_get_job_run,
        answers={200: "JobRun"},
    ),
)
_NOVAE: Final = of_topic(
    "Novae",
    Operation(
        route="GET /novae",
        summary="Novae by name, by place, or all of them",
        description="Give `name`; or `ra` and `dec` with or without `radius`; or neither, and get the list "
        "of all novae by their primary names, which the other parameters narrow. By name the answer has "
        "`match`: `NONE`, `ONE`, or `AMBIGUOUS` with every nova that the name may mean. By place each nova "
        "has `separation_arcsec`, the nearest first, at most 100; `left_out` counts the others. A page of "
        "the list may be short and have a `next_cursor` all the same.",
        handle=_find_novae,
        query=NovaParameters,
        answers={200: "NovaSearch"},
    ),
    Operation(
        route="POST /novae",
        summary="Make a name a nova",
        description="Starts `initialize_nova`, as `POST /workflows/initialize_nova/executions` does, and "
        "answers with the run to watch. Running it again for a name changes nothing that is right.",
        handle=_initialize_nova,
        body=Body(form=NewNova),
        answers={202: "StartedRun"},
    ),
    Operation(
        route="GET /novae/{nova_id}",
        summary="One nova with its names",
        description="A merged nova is given as it is, with `merged_into`.",
        handle=_get_nova,
        answers={200: "Nova"},
    ),
    Operation(
        route="GET /novae/{nova_id}/job-runs",
        summary="What ran for a nova",
        description="By workflow, the newest of each first.",
        handle=_list_nova_job_runs,
        query=PageParameters,
        answers={200: "JobRunPage"},
    ),
)
_QUARANTINE: Final = of_topic(
    "Quarantine",
    Operation(
        route="GET /quarantine",
        summary="What waits for a person, newest first",
        handle=_list_quarantine,
        query=CaseParameters,
        answers={200: "QuarantinePage"},
    ),
    Operation(
        route="GET /quarantine/{quarantine_id}",
        summary="One case",
        handle=_get_quarantine_case,
        answers={200: "QuarantineCase"},
    ),
    Operation(
        route="POST /quarantine/{quarantine_id}/review",
        summary="A person's decision",
        description="Records the decision and starts what follows from it; `execution_arn` is that of the "
        "workflow that was started. The same decision may be sent again; another one is refused with 409.",
        handle=_review_quarantine_case,
        body=Body(form=ReviewerDecision),
        answers={200: "ReviewedCase"},
    ),
)
OPERATIONS: Final = (*_RUNS, *_NOVAE, *_QUARANTINE)
