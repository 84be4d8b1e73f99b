"""The way of a request through the API."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sourcebook.api.access import Doorkeeper
from sourcebook.api.idempotency import OnceOnly
from sourcebook.api.parts import find
from sourcebook.api.requests import Request, accepts_gzip, correlation_id, header, route_of
from sourcebook.api.responses import NotFound, Response, problem
from sourcebook.errors import printable, shorten


class Log(Protocol):
    """What is asked of a logger; Powertools' is one."""

    def info(self, msg: str, *, extra: Mapping[str, object]) -> None:
        """Write a line."""

    def error(self, msg: str, *, exc_info: BaseException, extra: Mapping[str, object]) -> None:
        """Write a line with an error and its trace."""


@dataclass(frozen=True, slots=True)
class Api:
    """Answers requests.

    Attributes:
        access: lets callers in.
        once: lets a write that has a key happen once.
        parts: what the operations of each part act by, by its name; `sourcebook.api.parts.Parts`.
        new_id: returns a UUID.
    """

    access: Doorkeeper
    once: OnceOnly
    parts: Mapping[str, Any]
    new_id: Callable[[], str] = lambda: str(uuid.uuid4())

    def answer(self, event: Mapping[str, Any], log: Log) -> dict[str, Any]:
        """Answer one event of an HTTP API, payload format 2.0. Nothing is ever raised."""
        started = time.perf_counter()
        correlation = correlation_id(event, self.new_id())
        about: dict[str, object] = {"correlation_id": correlation, "route": event.get("routeKey")}
        try:
            response, known = self._answer(event, correlation, about)
            written = response.to_gateway(
                correlation_id=correlation, gzip_accepted=accepts_gzip(event), known=known
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets an answer; it is logged below
            response = problem(error, correlation)
            written = response.to_gateway(correlation_id=correlation, gzip_accepted=False)
        if response.cause is not None:
            log.error("request_failed", exc_info=response.cause, extra=about)
        duration = round((time.perf_counter() - started) * 1000)
        log.info("request_answered", extra=about | {"status": written["statusCode"], "duration_ms": duration})
        return written

    def _answer(
        self, event: Mapping[str, Any], correlation: str, about: dict[str, object]
    ) -> tuple[Response, str | None]:
        """Return the answer, and what the client has of it already; None where it can have nothing."""
        route = route_of(event)[0]
        found = find(route)
        if found is None:
            raise NotFound(f"There is no route {shorten(route)}. GET /docs describes those there are.")
        operation, part = found
        caller = self.access.admit(operation.access, event)
        about["caller"] = caller
        request = Request.of(event, correlation, caller=caller, request_id=self.new_id())
        about["parameters"] = [printable(name[:40]) for name in sorted(request.query)[:20]]
        request.only(*(parameter.name for parameter in operation.parameters))

        def act(request: Request) -> Response:
            return operation.act(self.parts[part], request)

        if operation.changes:
            headers = event.get("headers") or {}
            # An empty key is a mistake, and no key is none.
            key = headers.get("idempotency-key")
            return (act(request) if key is None else self.once.answer(request, key, act)), None
        return act(request), None if operation.volatile else header(event, "if-none-match")
