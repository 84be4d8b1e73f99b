"""The operations about the API itself: its health, its description and its reference page."""

from __future__ import annotations

import re
from typing import Final

from sourcebook.api.health import HealthCheck
from sourcebook.api.operations import Operation, of_topic
from sourcebook.api.parts import Services, operations
from sourcebook.api.requests import Request
from sourcebook.api.responses import Response


def _health(services: Services) -> HealthCheck:
    return HealthCheck(services.table, version=services.environ.get("SOURCEBOOK_VERSION", ""))


def _get_health(services: Services, request: Request) -> Response:  # noqa: ARG001 - as every operation
    health = services.once(_health).run()
    return Response(health.answer, 200 if health.ok else 503, cause=health.cause)


def _get_description(services: Services, request: Request) -> Response:
    return Response(_description(services, request))


def _get_reference(services: Services, request: Request) -> Response:
    from sourcebook.api.reference import POLICY, page  # noqa: PLC0415 - only who asks waits for it

    text = page(_description(services, request))
    return Response(
        text,
        content_type="text/html; charset=utf-8",
        headers={"content-security-policy": POLICY, "referrer-policy": "no-referrer"},
    )


def _description(services: Services, request: Request) -> dict[str, object]:
    from sourcebook.api.openapi import description  # noqa: PLC0415 - only who asks waits for it

    base = re.sub(r"/(openapi\.json|docs)$", "", request.address)
    return description(operations(), names=services.workflows, base=base)


OPERATIONS: Final = of_topic(
    "The service",
    Operation(
        route="GET /health",
        summary="Whether the system is alive",
        description="200 when all is well and 503 when it is not, with the same body. `status` is "
        "`degraded` when the table does not answer, the schedule has not run for five minutes (it should "
        "run every minute), a source has been due for half an hour, or no source has been fetched with "
        "success for 25 hours. Before the first run a fresh deployment is `healthy` until a source has been "
        "due for five minutes. `scheduler` is in seconds since the schedule last ran dispatch, `overdue` in "
        "seconds that the source that waits longest has been due, 0 when none is; `active_feeds` are "
        "counted up to 20,000. Where there are 1,000 sources and more an answer may be half a minute old.",
        handle=_get_health,
        is_open=True,
        answers={200: "Health", 503: "Health"},
        volatile=True,
    ),
    Operation(
        route="GET /openapi.json",
        summary="This description, as OpenAPI 3.1",
        handle=_get_description,
        is_open=True,
        answers={200: "Description"},
    ),
    Operation(
        route="GET /docs",
        summary="This description, as a page to read",
        handle=_get_reference,
        is_open=True,
        answers={200: "Page"},
        media_type="text/html",
    ),
)
