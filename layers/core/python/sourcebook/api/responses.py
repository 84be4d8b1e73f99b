"""Answers: JSON, and problem details (RFC 9457) when something is wrong."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from sourcebook.errors import DoesNotFit, InvalidInput, NotThere, Retryable

if TYPE_CHECKING:
    from sourcebook.bucket.objects import SignedLink
    from sourcebook.records.base import View, Viewable
    from sourcebook.table.pages import Page

GZIP_FROM: Final = 1_024
"""Bytes from which a body is worth compressing: below, it would fit into one packet anyway."""
RETRY_AFTER: Final = 5
"""Seconds after which a client may try again when the table was not able to answer."""

_GZIP_LEVEL: Final = 5
# Python 3.13 renamed it as RFC 9110 did.
_TITLES: Final = {422: "Unprocessable Content"}


@dataclass(frozen=True, slots=True)
class Response:
    """One answer before it is written down.

    Attributes:
        body: an object, written as JSON; text is sent as it is.
        cause: the error behind it that the operator has to know of; it is logged, and not in the answer.
    """

    body: Mapping[str, Any] | str
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    cause: Exception | None = None

    def to_gateway(
        self, *, correlation_id: str, gzip_accepted: bool, known: str | None = None
    ) -> dict[str, Any]:
        """Return the answer in API Gateway's payload format 2.0.

        Args:
            correlation_id: joins the logs of the request.
            gzip_accepted: whether the client takes a compressed body.
            known: what the client has of this already, the value of ``If-None-Match``, "" for nothing; None
                for an answer that has no entity tag because nobody could use it later.
        """
        body = self._written().encode()
        headers = {
            **({"content-type": self.content_type} if body else {}),
            "cache-control": "no-store",
            "vary": "accept, accept-encoding, authorization",
            "x-content-type-options": "nosniff",
            "x-correlation-id": correlation_id,
            **self.headers,
        }
        if known is not None and self.status == HTTPStatus.OK:
            tag = entity_tag(body)
            # It may be kept, but is asked about before it is used again, unless the operation knows better.
            headers |= {"etag": tag, "cache-control": self.headers.get("cache-control", "no-cache")}
            if _is_known(tag, known):
                headers.pop("content-type", None)
                return {"statusCode": 304, "headers": headers, "body": "", "isBase64Encoded": False}
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
        return as_json(self.body)


def as_json(value: object) -> str:
    """Return a value of an answer as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def listed(page: Page[View] | Page[Viewable]) -> Response:
    """Return the answer of a list: one page of it."""
    items = [one if isinstance(one, dict) else one.shown() for one in page.items]
    return Response({"items": items, "next_cursor": page.next_cursor})


def unpaged(items: Sequence[Mapping[str, object]], **about: object) -> Response:
    """Return the answer of a list that always fits into one page, with fields about all of it."""
    return Response({**about, "items": items, "next_cursor": None})


def redirect(link: SignedLink, *, only_tell: bool = False) -> Response:
    """Return the answer that redirects to a signed link, or that has it in its body."""
    body = {"url": link.url, "seconds": link.seconds}
    return Response(body) if only_tell else Response(body, 302, headers={"location": link.url})


def entity_tag(body: bytes) -> str:
    """Return the tag of a body. It is weak: compressed or not, the answer says the same (RFC 9110, 8.8.3)."""
    return f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'


def _is_known(tag: str, known: str) -> bool:
    """Whether ``If-None-Match`` names the tag, in the weak comparison that it asks for."""
    named = [one.strip().removeprefix("W/") for one in known.split(",")]
    return "*" in named or tag.removeprefix("W/") in named


class Refusal(Exception):
    """A request is answered with a problem.

    Attributes:
        status: of the answer.
        detail: what is wrong or missing, and what to do or where to look instead.
        parameter: the parameter, field or header that does not fit, if it is one.
        headers: of the answer.
    """

    def __init__(
        self, status: int, detail: str, parameter: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        self.status = status
        self.detail = detail
        self.parameter = parameter
        self.headers = headers or {}
        super().__init__(detail)


class NotFound(Refusal):
    """There is nothing at this address."""

    def __init__(self, detail: str) -> None:
        super().__init__(404, detail)


class Conflict(Refusal):
    """What is asked for does not go together with what is there."""

    def __init__(self, detail: str, parameter: str) -> None:
        super().__init__(409, detail, parameter)


class Denied(Refusal):
    """The caller may not: 401 when it is not known who calls, 403 when they may not.

    `challenge` is the value of ``WWW-Authenticate`` (RFC 6750, section 3).
    """

    def __init__(self, status: int, detail: str, challenge: str = 'Bearer realm="sourcebook"') -> None:
        super().__init__(status, detail, headers={"www-authenticate": challenge})


def problem(error: Exception, correlation_id: str) -> Response:
    """Return the problem details of an error: the one place where errors become statuses.

    Only what is meant for the client is answered; any other error is known by its correlation id alone.
    """
    match error:
        case NotThere():
            return _problem(404, str(error), correlation_id)
        case InvalidInput():
            status = 409 if isinstance(error, DoesNotFit) else 400
            return _problem(status, str(error), correlation_id, parameter=error.field)
        case Refusal():
            about = {"parameter": error.parameter} if error.parameter else {}
            answer = _problem(error.status, error.detail, correlation_id, **about)
            return replace(answer, headers=error.headers)
        case Retryable():
            detail = f"The service is not able to answer now. Try again in {RETRY_AFTER} seconds."
            later = {"retry-after": str(RETRY_AFTER)}
            return replace(_problem(503, detail, correlation_id), headers=later, cause=error)
    detail = "Something went wrong here. The operator finds it in the logs by the correlation id."
    return replace(_problem(500, detail, correlation_id), cause=error)


def _problem(status: int, detail: str, correlation_id: str, **members: str) -> Response:
    body = {
        "type": "about:blank",
        "title": _TITLES.get(status) or HTTPStatus(status).phrase,
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
