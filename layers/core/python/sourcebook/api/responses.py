"""Answers: JSON, and problem details (RFC 9457) when something is wrong."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Final

from sourcebook.errors import InvalidInput, Retryable

GZIP_FROM: Final = 1_024
"""Bytes from which a body is worth compressing: below, it would fit into one packet anyway."""
RETRY_AFTER: Final = 5
"""Seconds after which a client may try again when the table was not able to answer."""

_GZIP_LEVEL: Final = 5


@dataclass(frozen=True, slots=True)
class Response:
    """One answer before it is written down.

    Attributes:
        body: an object, written as JSON; text is sent as it is.
        cause: the error behind it that the operator has to know of; it is logged, not told.
    """

    body: Mapping[str, Any] | str
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    cause: Exception | None = None

    def to_gateway(self, *, correlation_id: str, gzip_accepted: bool) -> dict[str, Any]:
        """Return the answer in API Gateway's payload format 2.0."""
        body = self._written().encode()
        headers = {
            "content-type": self.content_type,
            "cache-control": "no-store",
            "vary": "accept-encoding",
            "x-content-type-options": "nosniff",
            "x-correlation-id": correlation_id,
            **self.headers,
        }
        compress = gzip_accepted and len(body) >= GZIP_FROM
        if compress:
            headers["content-encoding"] = "gzip"
            text = base64.b64encode(gzip.compress(body, _GZIP_LEVEL, mtime=0)).decode()
        else:
            text = body.decode()
        return {"statusCode": self.status, "headers": headers, "body": text, "isBase64Encoded": compress}

    def _written(self) -> str:
        if isinstance(self.body, str):
            return self.body
        return json.dumps(self.body, ensure_ascii=False, separators=(",", ":"), default=_plain)


class NotFound(Exception):
    """There is nothing at this address.

    Attributes:
        detail: what was looked for, and where to look instead.
    """

    def __init__(self, detail: str) -> None:
        self.detail = detail
        super().__init__(detail)


class Conflict(Exception):
    """What is asked for does not go together with what is there.

    Attributes:
        detail: what is there, and what to do instead.
        parameter: the field that does not fit.
    """

    def __init__(self, detail: str, parameter: str) -> None:
        self.detail = detail
        self.parameter = parameter
        super().__init__(detail)


def problem(error: Exception, correlation_id: str) -> Response:
    """Return the problem details of an error: the one place where errors become statuses.

    Only what is meant for the client is told; any other error is known by its correlation id alone.
    """
    match error:
        case InvalidInput():
            return _problem(400, str(error), correlation_id, parameter=error.field)
        case NotFound():
            return _problem(404, error.detail, correlation_id)
        case Conflict():
            return _problem(409, error.detail, correlation_id, parameter=error.parameter)
        case Retryable():
            detail = f"The service is not able to answer now. Try again in {RETRY_AFTER} seconds."
            later = {"retry-after": str(RETRY_AFTER)}
            return replace(_problem(503, detail, correlation_id), headers=later, cause=error)
    detail = "Something went wrong here. The operator finds it in the logs by the correlation id."
    return replace(_problem(500, detail, correlation_id), cause=error)


def _problem(status: int, detail: str, correlation_id: str, **members: str) -> Response:
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **members,
        "correlation_id": correlation_id,
    }
    return Response(body, status, "application/problem+json")


def _plain(value: object) -> object:
    """Return what stands in JSON for a value that only articles of the older format may hold."""
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} has no form in JSON")
