"""API Gateway's part, as WSGI: from a request to an event, and from the answer back.

Routes are those that are deployed, matched as an HTTP API matches them: the literal before the variable, a
greedy variable last, a method before ``ANY``; what matches none goes to the route ``$default``.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any, Protocol

from infra.gateway_routes import api_routes


class StartResponse(Protocol):
    def __call__(self, status: str, headers: list[tuple[str, str]], /) -> object: ...


class Gateway:
    """A WSGI application around a function that answers events.

    Attributes:
        answer: the function; it may be set later than the gateway is made.
    """

    def __init__(self, more: Iterable[str] = ()) -> None:
        """Take the routes of the API, and more if there are."""
        self.answer: Callable[[dict[str, Any]], dict[str, Any]] | None = None
        routes = [route.key for route in api_routes() if route.key != "$default"]
        self._routes = [(route, *_pattern(route)) for route in sorted([*routes, *more], key=_specific_first)]

    def __call__(self, environ: Mapping[str, Any], start_response: StartResponse) -> list[bytes]:
        """Answer one request."""
        # WSGI hands over the bytes of the decoded path as if they were Latin-1.
        path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
        route, variables = self.match(environ["REQUEST_METHOD"], path)
        assert self.answer is not None
        answer = self.answer(_event(environ, route, path, variables))
        # An HTTP API takes the answer as JSON, so that is what a test should give it.
        answer = json.loads(json.dumps(answer))
        content = base64.b64decode(answer["body"]) if answer["isBase64Encoded"] else answer["body"].encode()
        status = f"{answer['statusCode']} {HTTPStatus(answer['statusCode']).phrase}"
        start_response(status, [*answer["headers"].items(), ("content-length", str(len(content)))])
        return [content]

    def match(self, method: str, path: str) -> tuple[str, dict[str, str]]:
        """Return the key of the route that takes a request, and the variables of its path."""
        for route, wanted, pattern in self._routes:
            if wanted in {method, "ANY"} and (found := pattern.fullmatch(path)):
                return route, found.groupdict()
        return "$default", {}


def _specific_first(route: str) -> tuple[object, ...]:
    method, _, path = route.partition(" ")
    literals = sum(not part.startswith("{") for part in path.split("/"))
    return "+}" in path, -literals, method == "ANY", route


def _pattern(route: str) -> tuple[str, re.Pattern[str]]:
    method, _, path = route.partition(" ")
    parts = [
        f"(?P<{variable[1]}>{'.+' if variable[2] else '[^/]+'})"
        if (variable := re.fullmatch(r"\{(\w+)(\+?)\}", part))
        else re.escape(part)
        for part in path.split("/")
    ]
    return method, re.compile("/".join(parts), re.DOTALL)


def _event(environ: Mapping[str, Any], route: str, path: str, variables: dict[str, str]) -> dict[str, Any]:
    headers = {
        name[5:].replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    content_type = environ.get("CONTENT_TYPE", "")
    if content_type:
        headers["content-type"] = content_type
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": route,
        "rawPath": path,
        "rawQueryString": environ.get("QUERY_STRING", ""),
        "headers": headers,
        "requestContext": {"requestId": "JKJaXmPLvHcESHA=", "http": {"method": environ["REQUEST_METHOD"]}},
        "isBase64Encoded": False,
    }
    if variables:
        event["pathParameters"] = variables
    if body:
        is_text = re.match(r"text/|application/(json|xml|javascript)\b", content_type)
        try:
            event["body"] = body.decode() if is_text else base64.b64encode(body).decode()
            event["isBase64Encoded"] = not is_text
        except UnicodeDecodeError:
            event |= {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
    return event
