"""The operations that list exports and give their files."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from sourcebook.api.operations import Operation, of_topic
from sourcebook.api.parameters import Parameters, one_of
from sourcebook.api.parts import Dependencies
from sourcebook.api.requests import Request
from sourcebook.api.resources import EXPORT
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


def _list_exports(exports: ExportReader, request: Request) -> Response:  # noqa: ARG001 - as every operation
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


def _get_export(exports: ExportReader, request: Request) -> Response:
    name = request.path.get("export_id", "")
    period = Period.named(name)
    return Response(EXPORT.found(exports.manifest(period) if period else None, name))


def _get_file(exports: ExportReader, request: Request) -> Response:
    export_id, name = request.path.get("export_id", ""), request.path.get("name", "")
    period = Period.named(export_id)
    link = exports.link(period, name) if period else None
    if link is None:
        raise NotFound(
            f"The export {shorten(export_id)} has no file {shorten(name)}. GET /exports/{{export_id}} lists "
            "those it has."
        )
    return redirect(link, only_tell=FileParameters.of(request).answer == _LINK)


OPERATIONS: Final = of_topic(
    "Exports",
    Operation(
        route="GET /exports",
        name="listExports",
        summary="The periods that were exported",
        description="The newest first. `POST /workflows/export_period/executions` exports one.",
        handle=_list_exports,
        answers={200: "Exports"},
    ),
    Operation(
        route="GET /exports/{export_id}",
        name="getExport",
        summary="What an export consists of",
        description="Its manifest: the columns of each dataset, and each file with its rows, bytes and "
        "SHA-256. `GET /exports/{export_id}/files/{name}` gives a file.",
        handle=_get_export,
        answers={200: "Export"},
    ),
    Operation(
        route="GET /exports/{export_id}/files/{name}",
        name="downloadExportedFile",
        summary="A file of an export",
        description="The answer is a redirect to a signed link that holds for 300 seconds; follow it without "
        "the token.",
        handle=_get_file,
        query=FileParameters,
        answers={200: "SignedLink", 302: "SignedLink"},
        volatile=True,
    ),
)
