"""A request as API Gateway hands it over (HTTP API, payload format 2.0), and its parameters, checked."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl

from sourcebook.errors import InvalidInput

SIGNED: Final = "/iam"
"""What paths begin with where requests are signed with AWS credentials."""

EVERY_PATH: Final = "/{proxy+}"
"""The path of the gateway's routes for all operations of a method; below `SIGNED` those that are signed."""
UNROUTED: Final = "$default"
"""The gateway's route for what no other takes: HEAD, and methods that no operation has."""
UNROUTED_SIGNED: Final = f"{SIGNED}{EVERY_PATH}"
"""The path of the same below `SIGNED`, for any method, where the gateway checks the signature."""

PAGE_DEFAULT: Final = 20
PAGE_LIMIT: Final = 100

_CORRELATION_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_REQUEST_ID: Final = re.compile(r"[!-~]{1,128}")


@dataclass(frozen=True, slots=True)
class Request:
    """A request, with its parameters as text.

    Attributes:
        route: method and path template, e.g. ``GET /articles/{key+}``; empty if the event names none.
        path: values of the template's variables.
        query: parameters of the query, each once.
        body: what was sent, as text.
        caller: who sent it: the ARN of whoever signed it, or ``token:`` and the id of the token.
        may_write: whether the caller's token allows changes too.
        correlation_id: joins the logs of this request.
        id: a UUID for what this request makes; the same when it is sent again under the same key.
        address: where it was sent to, without the query.
    """

    route: str
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    caller: str | None = None
    may_write: bool = False
    correlation_id: str = ""
    id: str = ""
    address: str = ""

    @classmethod
    def of(
        cls,
        event: Mapping[str, Any],
        correlation: str = "",
        *,
        caller: str | None = None,
        may_write: bool = False,
        request_id: str = "",
        addresses: str = "https://{domain}",
    ) -> Request:
        """Return the request that an event of API Gateway holds.

        Raises:
            InvalidInput: if a query parameter is repeated.
        """
        # In queryStringParameters a repeated parameter is joined by commas, and one value with a comma in it
        # looks the same. Only hand-made events have nothing else.
        pairs = parse_qsl(event.get("rawQueryString") or "", keep_blank_values=True)
        pairs = pairs or list((event.get("queryStringParameters") or {}).items())
        query = dict(pairs)
        if len(query) < len(pairs):
            repeated = next(name for name in query if sum(name == other for other, _ in pairs) > 1)
            values = [value for name, value in pairs if name == repeated]
            raise InvalidInput(repeated, values, "the parameter once, with one value")
        return cls(
            route_of(event)[0],
            event.get("pathParameters") or {},
            query,
            _body(event),
            caller or signer(event),
            may_write,
            correlation,
            request_id,
            address_of(event, addresses),
        )

    def json(self) -> dict[str, object]:
        """Return the body, which must be an object.

        Raises:
            InvalidInput: if it is not.
        """
        try:
            # JSON knows one kind of number: 5.0 is 5. It knows neither NaN nor infinity.
            content = json.loads(self.body, parse_float=_number, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise InvalidInput("body", self.body, "a JSON object") from error
        if not isinstance(content, dict):
            raise InvalidInput("body", content, "a JSON object")
        return content

    def only(self, *known: str) -> None:
        """Refuse parameters that this operation does not have: a typo must not silently return everything.

        Raises:
            InvalidInput: naming the first of them, and all in its message.
        """
        unknown = [name for name in self.query if name not in known]
        if unknown:
            also = f" (nor are {', '.join(map(repr, unknown[1:4]))})" if len(unknown) > 1 else ""
            having = f"only the parameters {', '.join(known)}" if known else "no parameters"
            raise InvalidInput(unknown[0][:80], self.query[unknown[0]], f"{having} here{also}")


def _number(text: str) -> int | float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is larger than any number that is kept")
    return int(value) if value.is_integer() else value


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number in JSON")


def _body(event: Mapping[str, Any]) -> str:
    body = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        return str(body)
    try:
        return base64.b64decode(body, validate=True).decode()
    except ValueError as error:
        raise InvalidInput("body", "(not shown)", "text in UTF-8") from error


def route_of(event: Mapping[str, object]) -> tuple[str, bool]:
    """Return method and path template of the operation, and whether the gateway has checked a signature.

    The gateway writes the route key, and lets only signed requests to the routes below `SIGNED`.
    """
    route = event.get("routeKey")
    method, _, path = (route if isinstance(route, str) else "").partition(" ")
    if path.startswith(f"{SIGNED}/"):
        return f"{method} {path.removeprefix(SIGNED)}", True
    return f"{method} {path}" if path else "", False


def signer(event: Mapping[str, object]) -> str | None:
    """Return the ARN of whoever signed a request, if the gateway has checked a signature."""
    arn = within(event, "requestContext", "authorizer", "iam", "userArn")
    return str(arn) if arn else None


def correlation_id(event: Mapping[str, object], otherwise: str) -> str:
    """Return the id that joins the logs of this request: the client's, the gateway's, or `otherwise`."""
    given = header(event, "x-correlation-id")
    if _CORRELATION_ID.fullmatch(given):
        return given
    own = within(event, "requestContext", "requestId")
    return own if isinstance(own, str) and _REQUEST_ID.fullmatch(own) else otherwise


def accepts_gzip(event: Mapping[str, object]) -> bool:
    """Whether the client takes a gzip body (RFC 9110, section 12.5.3)."""
    weights: dict[str, bool] = {}
    for part in header(event, "accept-encoding").lower().split(","):
        coding, *parameters = (piece.strip() for piece in part.split(";"))
        weights[coding] = not any(re.fullmatch(r"q=0(\.0*)?", parameter) for parameter in parameters)
    return weights.get("gzip", weights.get("*", False))


def header(event: Mapping[str, object], name: str) -> str:
    """Return a header's value, empty if there is none; the gateway writes names in lower case."""
    value = within(event, "headers", name)
    return "" if value is None else str(value)


def within(event: Mapping[str, object], *names: str) -> object:
    """Return what stands in an event under these names, each within the one before; None if nothing does."""
    found: object = event
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def sent_to(event: Mapping[str, object]) -> tuple[str, str]:
    """Return the method and the path that a request was sent to, without `SIGNED` where it is signed.

    The gateway decodes ``rawPath``, and chooses the route as if the path began with one slash.
    """
    method = str(within(event, "requestContext", "http", "method") or "")
    path = f"/{str(event.get('rawPath') or '').lstrip('/')}"
    return method, path.removeprefix(SIGNED) if route_of(event)[1] and path.startswith(f"{SIGNED}/") else path


def was_routed(event: Mapping[str, object]) -> bool:
    """Return whether the gateway has a route for the request's method."""
    return event.get("routeKey") not in {UNROUTED, f"ANY {UNROUTED_SIGNED}"}


def address_of(event: Mapping[str, object], pattern: str) -> str:
    """Return the address that a request was sent to, without its query.

    Args:
        event: the request.
        pattern: how the deployment's addresses begin, with ``{scheme}``, ``{domain}``,
            ``{host}`` and ``{api}`` in it.
    """
    begin = pattern.format(
        scheme=header(event, "x-forwarded-proto") or "http",
        domain=within(event, "requestContext", "domainName") or "localhost",
        host=header(event, "host"),
        api=within(event, "requestContext", "apiId") or "",
    )
    return begin + str(event.get("rawPath") or "/")
