"""The operations that list exports and give their files."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from sourcebook.api.operations import Operation, of_topic
from sourcebook.api.parameters import Parameters, one_of
from sourcebook.api.parts import Dependencies
from sourcebook.api.requests import Request
from sourcebook.api.responses import NotFound, Response, redirect, unpaged
from sourcebook.clients import on_demand
from sourcebook.errors import shorten
from sourcebook.exports.period import Period
from sourcebook.exports.read import ExportReader

_LINK: Final = "link"


class FileParameters(Parameters):
    """How the link to a file is answered."""

    answer: Annotated[str, one_of(("redirect", _LINK))] = Field(
        "redirect",
        description="`link` answers with the link instead of a redirect, for a page that may ask no other "
        "address.",
    )


def make(dependencies: Dependencies) -> ExportReader:
    """Return what these operations read from."""
    return ExportReader(on_demand(dependencies.objects))


def list_exports(exports: ExportReader, request: Request) -> Response:  # noqa: ARG001 - as every operation
    """GET /exports."""
    return unpaged(
        [
            {
                "export_id": period.name,
                "since": period.since.isoformat(),
                "until": period.until.isoformat(),
                "manifest": f"/exports/{period.name}",
            }
            for period in exports.periods()
        ]
    )


def get_export(exports: ExportReader, request: Request) -> Response:
    """GET /exports/{export_id}."""
    name = request.path.get("export_id", "")
    period = Period.named(name)
    manifest = exports.manifest(period) if period else None
    if manifest is None:
        raise _no_export(name)
    return Response(manifest)


def get_file(exports: ExportReader, request: Request) -> Response:
    """GET /exports/{export_id}/files/{name}."""
    export_id, name = request.path.get("export_id", ""), request.path.get("name", "")
    period = Period.named(export_id)
    link = exports.link(period, name) if period else None
    if link is None:
        raise NotFound(
            f"The export {shorten(export_id)} has no file {shorten(name)}. GET /exports/{{export_id}} lists "
            "those it has."
        )
    return redirect(link, only_tell=FileParameters.of(request).answer == _LINK)


def _no_export(name: str) -> NotFound:
    return NotFound(
        f"There is no export {shorten(name)}. GET /exports lists those there are; "
        "POST /workflows/export_period/executions makes one."
    )


OPERATIONS: Final = of_topic(
    "Exports",
    Operation(
        route="GET /exports",
        name="listExports",
        summary="The periods that were exported",
        description="The newest first. `POST /workflows/export_period/executions` exports one.",
        handle=list_exports,
        answers={200: "Exports"},
    ),
    Operation(
        route="GET /exports/{export_id}",
        name="getExport",
        summary="What an export consists of",
        description="Its manifest: the columns of each dataset, and each file with its rows, bytes and "
        "SHA-256. `GET /exports/{export_id}/files/{name}` gives a file.",
        handle=get_export,
        answers={200: "Export"},
    ),
    Operation(
        route="GET /exports/{export_id}/files/{name}",
        name="downloadExportedFile",
        summary="A file of an export",
        description="The answer is a redirect to a signed link that holds for 300 seconds; follow it without "
        "the token.",
        handle=get_file,
        query=FileParameters,
        answers={200: "SignedLink", 302: "SignedLink"},
        volatile=True,
    ),
)
