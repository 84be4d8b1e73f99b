"""The API: every operation with the part it acts by, and the way of a request through it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sourcebook.api import feeds as managed
from sourcebook.api import novae, products, reading, workflows
from sourcebook.api import observations as observed
from sourcebook.api import sentiment as felt
from sourcebook.api.access import Doorkeeper
from sourcebook.api.feeds import FeedsApi
from sourcebook.api.health import HealthCheck
from sourcebook.api.idempotency import OnceOnly
from sourcebook.api.novae import CatalogApi
from sourcebook.api.operations import Operation
from sourcebook.api.products import ProductsApi
from sourcebook.api.requests import Request, accepts_gzip, correlation_id, header, route_of
from sourcebook.api.responses import NotFound, Response, problem
from sourcebook.api.workflows import WorkflowsApi
from sourcebook.articles.grouping.read import EventReader
from sourcebook.articles.read import ArticleReader
from sourcebook.errors import printable, shorten
from sourcebook.observations.read import ObservationReader
from sourcebook.sentiment.read import SentimentReader
from sourcebook.sources.read import FeedReader


class Log(Protocol):
    """What is asked of a logger; Powertools' is one."""

    def info(self, msg: str, *, extra: Mapping[str, object]) -> None:
        """Write a line."""

    def error(self, msg: str, *, exc_info: BaseException, extra: Mapping[str, object]) -> None:
        """Write a line with an error and its trace."""


@dataclass(frozen=True, slots=True)
class Api:
    """What the operations act by."""

    access: Doorkeeper
    once: OnceOnly
    articles: ArticleReader
    feeds: FeedReader
    health: HealthCheck
    events: EventReader
    observations: ObservationReader
    catalog: CatalogApi
    products: ProductsApi
    sentiment: SentimentReader
    managed: FeedsApi
    workflows: WorkflowsApi
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
        operation, part = _operation(route_of(event)[0])
        caller = self.access.admit(operation.access, event)
        about["caller"] = caller
        request = Request.of(event, correlation, caller=caller, request_id=self.new_id())
        about["parameters"] = [printable(name[:40]) for name in sorted(request.query)[:20]]
        request.only(*(parameter.name for parameter in operation.parameters))

        def act(request: Request) -> Response:
            return operation.act(part(self), request)

        if operation.changes:
            headers = event.get("headers") or {}
            # An empty key is a mistake, and no key is none.
            key = headers.get("idempotency-key")
            return (act(request) if key is None else self.once.answer(request, key, act)), None
        return act(request), None if operation.volatile else header(event, "if-none-match")


_PARTS: Final[Sequence[tuple[Callable[[Api], Any], Sequence[Operation]]]] = (
    (lambda api: api, reading.OPERATIONS),
    (lambda api: api.managed, managed.OPERATIONS),
    (lambda api: api.sentiment, felt.OPERATIONS),
    (lambda api: api.observations, observed.OPERATIONS),
    (lambda api: api.workflows, workflows.OPERATIONS),
    (lambda api: api.catalog, novae.OPERATIONS),
    (lambda api: api.products, products.OPERATIONS),
)
"""Operations by what they act by, in the order of the reference."""

OPERATIONS: Final = tuple(operation for _, operations in _PARTS for operation in operations)
"""Every operation, declared once: `infra.api` makes the gateway's routes of these."""

ROUTES: Final[Mapping[str, tuple[Operation, Callable[[Api], Any]]]] = {
    operation.route: (operation, part) for part, operations in _PARTS for operation in operations
}
"""Operations by the route key of API Gateway, which matches the paths."""


def _operation(route: str) -> tuple[Operation, Callable[[Api], Any]]:
    if route not in ROUTES:
        raise NotFound(f"There is no route {shorten(route)}. GET /docs describes those there are.")
    return ROUTES[route]
