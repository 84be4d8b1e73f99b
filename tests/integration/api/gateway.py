"""API Gateway's part, as WSGI: from a request to an event, and from the answer back.

Routes are matched as an HTTP API matches them: the literal before the variable, a greedy variable last; what
matches none goes to the route ``$default``.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any, Protocol


class StartResponse(Protocol):
    def __call__(self, status: str, headers: list[tuple[str, str]], /) -> object: ...


class Gateway:
    """A WSGI application around a function that answers events.

    Attributes:
        answer: the function; it may be set later than the gateway is made.
    """

    def __init__(self, routes: Iterable[str]) -> None:
        self.answer: Callable[[dict[str, Any]], dict[str, Any]] | None = None
        ordered = sorted(routes, key=lambda route: (route.count("+}"), route.count("{"), route))
        self._routes = [(route, *_pattern(route)) for route in ordered]

    def __call__(self, environ: Mapping[str, Any], start_response: StartResponse) -> list[bytes]:
        """Answer one request."""
        # WSGI hands over the bytes of the decoded path as if they were Latin-1.
        path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
        route, variables = self._match(environ["REQUEST_METHOD"], path)
        assert self.answer is not None
        answer = self.answer(_event(environ, route, path, variables))
        # An HTTP API takes the answer as JSON, so that is what a test should give it.
        answer = json.loads(json.dumps(answer))
        content = base64.b64decode(answer["body"]) if answer["isBase64Encoded"] else answer["body"].encode()
        status = f"{answer['statusCode']} {HTTPStatus(answer['statusCode']).phrase}"
        start_response(status, [*answer["headers"].items(), ("content-length", str(len(content)))])
        return [content]

    def _match(self, method: str, path: str) -> tuple[str, dict[str, str]]:
        for route, wanted, pattern in self._routes:
            if wanted == method and (found := pattern.fullmatch(path)):
                return route, found.groupdict()
        return "$default", {}


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
