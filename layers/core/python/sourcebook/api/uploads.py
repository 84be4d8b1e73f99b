"""The operations on uploads: photometry and spectra that people hand in."""

from __future__ import annotations

import re
from typing import Final

from sourcebook.api.operations import Body, Operation, of_topic
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.resources import UPLOAD
from sourcebook.api.responses import Response
from sourcebook.schema import UUID
from sourcebook.uploads.desk import UploadDesk
from sourcebook.uploads.model import NewUpload


def _desk(services: Services) -> UploadDesk:
    return UploadDesk(services.table, services.objects(), services.start)


def _open_upload(services: Services, request: Request) -> Response:
    upload = _desk(services).open(request.id, NewUpload.read(request.json()), by=request.caller)
    return Response(upload, 201, headers={"location": f"/uploads/{request.id}"})


def _complete_upload(services: Services, request: Request) -> Response:
    upload_id = _id(request)
    report = _desk(services).complete(upload_id, correlation_id=request.correlation_id)
    return Response(UPLOAD.found(report, upload_id), 202, headers={"location": f"/uploads/{upload_id}"})


def _get_upload(services: Services, request: Request) -> Response:
    upload_id = _id(request)
    return Response(UPLOAD.found(_desk(services).report(upload_id), upload_id))


def _id(request: Request) -> str:
    upload_id = UPLOAD.name(request)
    if not re.fullmatch(UUID, upload_id, re.ASCII):
        raise UPLOAD.missing(upload_id)
    return upload_id


OPERATIONS: Final = of_topic(
    "Uploads",
    Operation(
        route="POST /uploads",
        summary="Say which files of photometry and spectra will be sent",
        description="The answer has a signed link for each file: send the file there with `PUT` and the "
        "headers that stand beside the link, within an hour. Only a file of this type, length and SHA-256 is "
        "taken. Then complete the upload.",
        handle=_open_upload,
        body=Body(form=NewUpload),
        answers={201: "Upload"},
    ),
    Operation(
        route="POST /uploads/{upload_id}/complete",
        summary="Have what was sent ingested",
        description="Starts the ingestion of every file that is there. What is missing can be sent still: "
        "complete the upload once more then.",
        handle=_complete_upload,
        answers={202: "Upload"},
    ),
    Operation(
        route="GET /uploads/{upload_id}",
        summary="What became of the files of an upload",
        description="One report of all files: `TAKEN`, `KNOWN` before, `HELD` for a person, `REFUSED` with "
        "the reason, or `RUNNING`. What is still `EXPECTED` or `MISSING` has its link.",
        handle=_get_upload,
        answers={200: "Upload"},
        volatile=True,
    ),
)
