"""The way of a request through the API."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sourcebook.api.access import AccessControl
from sourcebook.api.idempotency import IdempotentRequests
from sourcebook.api.parts import Services, find, match, methods
from sourcebook.api.representations import Representation, accepted, by_suffix, columns, written
from sourcebook.api.requests import (
    SIGNED,
    Request,
    accepts_gzip,
    correlation_id,
    header,
    route_of,
    sent_to,
    was_routed,
    within,
)
from sourcebook.api.responses import NotFound, Refusal, Response, problem
from sourcebook.errors import printable, shorten


class Log(Protocol):
    """What is asked of a logger; Powertools' is one."""

    def info(self, msg: str, *, extra: Mapping[str, object]) -> None:
        """Write a line."""

    def error(self, msg: str, *, exc_info: BaseException, extra: Mapping[str, object]) -> None:
        """Write a line with an error and its trace."""


def failure(error: Exception, event: Mapping[str, object], log: Log) -> dict[str, Any]:
    """Answer an event that nothing could be made to answer, and log why."""
    correlation = correlation_id(event, str(uuid.uuid4()))
    log.error("request_failed", exc_info=error, extra={"correlation_id": correlation})
    # Whatever it is, the caller cannot mend it.
    return problem(RuntimeError(), correlation).to_gateway(correlation_id=correlation, gzip_accepted=False)


@dataclass(frozen=True, slots=True)
class Api:
    """Answers the requests of the HTTP API.

    Attributes:
        access: decides who may call what.
        idempotent_requests: does a write that has a key once.
        services: what the operations work with.
        new_id: returns a UUID.
        addresses: how the deployment's addresses begin; see `sourcebook.api.requests.address_of`.
    """

    access: AccessControl
    idempotent_requests: IdempotentRequests
    services: Services
    new_id: Callable[[], str] = lambda: str(uuid.uuid4())
    addresses: str = "https://{domain}"

    def answer(self, event: Mapping[str, object], log: Log) -> dict[str, Any]:
        """Answer one event of an HTTP API, payload format 2.0. Nothing is ever raised."""
        started = time.perf_counter()
        correlation = correlation_id(event, self.new_id())
        about: dict[str, object] = {"correlation_id": correlation, "route": event.get("routeKey")}
        head = sent_to(event)[0] == "HEAD"
        try:
            response, known = self._answer(event, correlation, about)
            written = response.to_gateway(
                correlation_id=correlation, gzip_accepted=accepts_gzip(event) and not head, known=known
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets an answer; it is logged below
            response = problem(error, correlation)
            written = response.to_gateway(correlation_id=correlation, gzip_accepted=False)
        if head:
            written["body"], written["isBase64Encoded"] = "", False
        if response.cause is not None:
            log.error("request_failed", exc_info=response.cause, extra=about)
        duration = round((time.perf_counter() - started) * 1000)
        log.info("request_answered", extra=about | {"status": written["statusCode"], "duration_ms": duration})
        return written

    def _answer(
        self, event: Mapping[str, object], correlation: str, about: dict[str, object]
    ) -> tuple[Response, str | None]:
        """Return the answer, and what the client has of it already; None where it can have nothing."""
        operation, suffix = find(route_of(event)[0]), Representation.JSON
        if operation is None:
            method, path = sent_to(event)
            template, variables, suffix = _matched(path)
            operation = find(f"{'GET' if method == 'HEAD' else method} {template}")
            taken_away = suffix is not Representation.JSON
            # The gateway's limits and permissions are by method: by another route nothing but a read is run.
            refused = method != "HEAD" and (not was_routed(event) or (taken_away and method != "GET"))
            if operation is None or refused:
                allowed = ", ".join(["GET", "HEAD", "OPTIONS"] if taken_away else methods(template))
                if method == "OPTIONS":
                    return Response("", 204, headers={"allow": allowed}), None
                detail = f"This path has no {shorten(method)}, only {allowed}."
                raise Refusal(405, detail, headers={"allow": allowed})
            # Whether it is signed, the gateway's own route key says.
            signed = SIGNED if route_of(event)[1] else ""
            about["route"] = f"{method} {signed}{template}"
            event = {
                **event,
                "routeKey": f"{operation.method} {signed}{template}",
                "pathParameters": variables,
            }
        caller = self.access.admit(operation.access, event)
        about["caller"] = caller.name
        request = Request.of(
            event,
            correlation,
            caller=caller.name,
            may_write=caller.may_write,
            request_id=self.new_id(),
            addresses=self.addresses,
        )
        about["parameters"] = [printable(name[:40]) for name in sorted(request.query)[:20]]
        request.only(*operation.parameters)

        def handle(request: Request) -> Response:
            return operation.handle(self.services, request)

        if operation.changes:
            # An empty key is a mistake, and no key is none.
            key = within(event, "headers", "idempotency-key")
            if key is None:
                return handle(request), None
            return self.idempotent_requests.answer(request, str(key), handle), None
        form = suffix if suffix is not Representation.JSON else accepted(header(event, "accept"))
        answer = written(handle(request), form, operation, request)
        return answer, None if operation.volatile else header(event, "if-none-match")


def _matched(path: str) -> tuple[str, Mapping[str, str], Representation]:
    """Return the template of a path, its variables, and the form that a suffix of a list's path asks for.

    No operation is declared with the suffixes, of which there would be four for each list.

    Raises:
        NotFound: if no operation has such a path.
    """
    if matched := match(path):
        return (*matched, Representation.JSON)
    stem, suffix = by_suffix(path)
    matched = match(stem)
    operation = find(f"GET {matched[0]}") if matched else None
    if matched and operation and columns(operation):
        return (*matched, suffix)
    raise NotFound(f"There is no path {shorten(path)}. GET /docs describes those there are.")
