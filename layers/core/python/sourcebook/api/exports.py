"""The operations that list exports and give their files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field

from sourcebook.api.operations import Operation, of_topic
from sourcebook.api.parameters import Parameters, one_of
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.resources import EXPORT
from sourcebook.api.responses import NotFound, Response, redirect, unpaged
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


def _list_exports(services: Services, request: Request) -> Response:  # noqa: ARG001 - as every operation
    return unpaged(
        [
            {
                "export_id": period.name,
                "since": period.since.isoformat(),
                "until": period.until.isoformat(),
                "manifest": f"/exports/{period.name}",
            }
            for period in ExportReader(services.objects()).periods()
        ]
    )


def _get_export(services: Services, request: Request) -> Response:
    def manifest(name: str) -> Mapping[str, object] | None:
        period = Period.named(name)
        return ExportReader(services.objects()).manifest(period) if period else None

    return Response(EXPORT.of(request, manifest))


def _download_exported_file(services: Services, request: Request) -> Response:
    export_id, name = EXPORT.name(request), request.path.get("name", "")
    period = Period.named(export_id)
    link = ExportReader(services.objects()).link(period, name) if period else None
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
        summary="The periods that were exported",
        description="The newest first. `POST /workflows/export_period/executions` exports one.",
        handle=_list_exports,
        answers={200: "Exports"},
    ),
    Operation(
        route="GET /exports/{export_id}",
        summary="What an export consists of",
        description="Its manifest: the columns of each dataset, and each file with its rows, bytes and "
        "SHA-256. `GET /exports/{export_id}/files/{name}` gives a file.",
        handle=_get_export,
        answers={200: "Export"},
    ),
    Operation(
        route="GET /exports/{export_id}/files/{name}",
        summary="A file of an export",
        description="The answer is a redirect to a signed link that holds for 300 seconds; follow it without "
        "the token.",
        handle=_download_exported_file,
        query=FileParameters,
        answers={200: "SignedLink", 302: "SignedLink"},
        volatile=True,
    ),
)
