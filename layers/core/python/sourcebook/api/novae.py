"""The operations of the catalogue: novae, what ran for them, and what waits for a person."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final

from sourcebook.api.requests import Request
from sourcebook.api.responses import NotFound, Response
from sourcebook.catalog.coordinates import Position
from sourcebook.catalog.names import NAME_LIMIT, normalize_name
from sourcebook.catalog.read import NovaReader
from sourcebook.catalog.review import DECISIONS, ReviewDesk, Starter
from sourcebook.errors import InvalidInput, shorten
from sourcebook.runs.read import STATUSES, RunReader
from sourcebook.table.pages import Page

_ARCSECONDS_UNTOLD: Final = 10.0
_WORKFLOW: Final = re.compile(r"[a-z][a-z_]{0,63}")


@dataclass(frozen=True, slots=True)
class CatalogApi:
    """What these operations read from and act by."""

    novae: NovaReader
    runs: RunReader
    desk: ReviewDesk
    start: Starter


def find_novae(catalog: CatalogApi, request: Request) -> Response:
    """GET /novae."""
    request.only("name", "ra", "dec", "radius")
    name = request.text("name", longest=NAME_LIMIT)
    by_place = {"ra", "dec", "radius"} & set(request.query)
    if (name is None) == (not by_place):
        raise InvalidInput("name", name, "either name, or ra and dec with or without radius (all in degrees)")
    if name is not None:
        return Response(catalog.novae.by_name(name))
    position = Position(_degrees(request, "ra"), _degrees(request, "dec"))
    radius = _degrees(request, "radius") if "radius" in request.query else _ARCSECONDS_UNTOLD / 3600
    return Response(catalog.novae.near(position, radius))


def get_nova(catalog: CatalogApi, request: Request) -> Response:
    """GET /novae/{nova_id}."""
    request.only()
    return Response(_nova(catalog, request))


def list_nova_runs(catalog: CatalogApi, request: Request) -> Response:
    """GET /novae/{nova_id}/job-runs."""
    request.only("limit", "cursor")
    nova_id = _nova(catalog, request)["nova_id"]
    return _listed(catalog.runs.of_nova(nova_id, limit=request.limit(), cursor=request.query.get("cursor")))


def initialize_nova(catalog: CatalogApi, request: Request) -> Response:
    """POST /novae."""
    request.only()
    body = request.json()
    name = _text(body, "candidate_name", longest=NAME_LIMIT)
    _nothing_else(body, "candidate_name")
    normalize_name(name)
    execution = f"api-{request.correlation_id}"[:80]
    arn = catalog.start(
        "initialize_nova", {"candidate_name": name}, re.sub(r"[^A-Za-z0-9_-]", "-", execution)
    )
    return Response({"workflow_name": "initialize_nova", "execution_arn": arn}, 202)


def list_runs(catalog: CatalogApi, request: Request) -> Response:
    """GET /job-runs."""
    request.only("status", "workflow", "limit", "cursor")
    workflow = request.text("workflow", longest=64)
    if workflow is not None and not _WORKFLOW.fullmatch(workflow):
        raise InvalidInput("workflow", workflow, "the name of a workflow such as initialize_nova")
    page = catalog.runs.page(
        status=request.choice("status", STATUSES),
        workflow=workflow,
        limit=request.limit(),
        cursor=request.query.get("cursor"),
    )
    return _listed(page)


def get_run(catalog: CatalogApi, request: Request) -> Response:
    """GET /job-runs/{job_run_id}."""
    request.only()
    job_run_id = request.path.get("job_run_id", "")
    run = catalog.runs.get(job_run_id)
    if run is None:
        raise NotFound(f"There is no job run {shorten(job_run_id)}. GET /job-runs lists them.")
    return Response(run)


def list_quarantine(catalog: CatalogApi, request: Request) -> Response:
    """GET /quarantine."""
    request.only("review", "limit", "cursor")
    reviewed = request.choice("review", ("pending", "decided")) == "decided"
    page = catalog.desk.page(reviewed=reviewed, limit=request.limit(), cursor=request.query.get("cursor"))
    return _listed(page)


def get_quarantined(catalog: CatalogApi, request: Request) -> Response:
    """GET /quarantine/{quarantine_id}."""
    request.only()
    quarantine_id = request.path.get("quarantine_id", "")
    case = catalog.desk.get(quarantine_id)
    if case is None:
        raise _no_case(quarantine_id)
    return Response(case)


def review_quarantined(catalog: CatalogApi, request: Request) -> Response:
    """POST /quarantine/{quarantine_id}/review."""
    request.only()
    quarantine_id = request.path.get("quarantine_id", "")
    body = request.json()
    _nothing_else(body, "decision", "reviewer", "nova_id", "note")
    decision = _text(body, "decision", longest=40)
    if decision not in DECISIONS:
        raise InvalidInput("decision", decision, f"one of {', '.join(DECISIONS)}")
    case = catalog.desk.review(
        quarantine_id,
        decision,
        reviewer=_text(body, "reviewer", longest=100),
        caller=request.caller,
        nova_id=_text(body, "nova_id", longest=36) if body.get("nova_id") is not None else None,
        note=_text(body, "note", longest=1_000) if body.get("note") is not None else None,
    )
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


def _degrees(request: Request, name: str) -> float:
    text = request.query.get(name, "")
    try:
        # An unencoded plus sign arrives as a space.
        value = float(text.strip())
    except ValueError as error:
        raise InvalidInput(name, text, "decimal degrees such as 267.7254") from error
    if not math.isfinite(value):
        raise InvalidInput(name, text, "decimal degrees such as 267.7254")
    return value


def _text(body: dict[str, Any], name: str, *, longest: int) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not 1 <= len(value.strip()) <= longest:
        raise InvalidInput(name, value, f"a text of 1 to {longest} characters")
    return value.strip()


def _nothing_else(body: dict[str, Any], *known: str) -> None:
    if unknown := sorted(set(body) - set(known)):
        raise InvalidInput(unknown[0][:80], body[unknown[0]], f"only the fields {', '.join(known)} here")


def _no_case(quarantine_id: str) -> NotFound:
    return NotFound(f"There is no quarantined case {shorten(quarantine_id)}. GET /quarantine lists them.")


def _listed(page: Page[dict[str, Any]]) -> Response:
    return Response({"items": page.items, "next_cursor": page.next_cursor})
