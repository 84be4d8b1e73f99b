"""The operations: one function for each route of API Gateway."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sourcebook.api import feeds as managed
from sourcebook.api import novae
from sourcebook.api import observations as observed
from sourcebook.api import sentiment as felt
from sourcebook.api.feeds import FeedsApi
from sourcebook.api.health import HealthCheck
from sourcebook.api.novae import CatalogApi
from sourcebook.api.requests import Request, accepts_gzip, correlation_id
from sourcebook.api.responses import NotFound, Response, problem
from sourcebook.articles.grouping.read import EventReader
from sourcebook.articles.read import SENTIMENTS, STATUSES, ArticleFilter, ArticleReader
from sourcebook.errors import shorten
from sourcebook.observations.read import ObservationReader
from sourcebook.sentiment.read import SentimentReader
from sourcebook.sources.read import HEALTHS, FeedReader
from sourcebook.table.pages import Page

_TAG_LIMIT: Final = 200


class Log(Protocol):
    """What is asked of a logger; Powertools' is one."""

    def info(self, msg: str, *, extra: Mapping[str, object]) -> None:
        """Write a line."""

    def error(self, msg: str, *, exc_info: BaseException, extra: Mapping[str, object]) -> None:
        """Write a line with an error and its trace."""


@dataclass(frozen=True, slots=True)
class Api:
    """What the operations read from."""

    articles: ArticleReader
    feeds: FeedReader
    health: HealthCheck
    events: EventReader
    observations: ObservationReader
    catalog: CatalogApi
    sentiment: SentimentReader
    managed: FeedsApi
    new_id: Callable[[], str] = lambda: uuid.uuid4().hex

    def answer(self, event: Mapping[str, Any], log: Log) -> dict[str, Any]:
        """Answer one event of an HTTP API, payload format 2.0. Nothing is ever raised."""
        started = time.perf_counter()
        correlation = correlation_id(event, self.new_id())
        about: dict[str, object] = {"correlation_id": correlation, "route": event.get("routeKey")}
        try:
            request = Request.of(event, correlation)
            about["parameters"] = [name[:40] for name in sorted(request.query)[:20]]
            response = _operation(request)(self, request)
            written = response.to_gateway(correlation_id=correlation, gzip_accepted=accepts_gzip(event))
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets an answer; it is logged below
            response = problem(error, correlation)
            written = response.to_gateway(correlation_id=correlation, gzip_accepted=False)
        if response.cause is not None:
            log.error("request_failed", exc_info=response.cause, extra=about)
        duration = round((time.perf_counter() - started) * 1000)
        log.info("request_answered", extra=about | {"status": response.status, "duration_ms": duration})
        return written


def get_health(api: Api, request: Request) -> Response:
    """GET /health."""
    request.only()
    health = api.health.run()
    return Response(health.answer, 200 if health.ok else 503, cause=health.cause)


def list_articles(api: Api, request: Request) -> Response:
    """GET /articles."""
    request.only("status", "sentiment", "tag", "since", "until", "limit", "cursor")
    wanted = ArticleFilter(
        status=request.choice("status", sorted(STATUSES)),
        sentiment=request.choice("sentiment", sorted(SENTIMENTS)),
        tag=request.text("tag", longest=_TAG_LIMIT),
        since=request.moment("since"),
        until=request.moment("until"),
    )
    page = api.articles.page(wanted, limit=request.limit(), cursor=request.query.get("cursor"))
    return _listed(page)


def get_article(api: Api, request: Request) -> Response:
    """GET /articles/{key+}."""
    request.only()
    key = request.path.get("key", "")
    article = api.articles.get(key)
    if article is None:
        raise NotFound(
            f"There is no article {shorten(key)}. A key is an article's dedup_key, 32 hexadecimal digits, or "
            "<source>:<article id>; articles are kept for 30 days. GET /articles lists them."
        )
    return Response(article)


def list_feeds(api: Api, request: Request) -> Response:
    """GET /feeds."""
    request.only("health", "limit", "cursor")
    health = request.choice("health", HEALTHS)
    page = api.feeds.page(health=health, limit=request.limit(), cursor=request.query.get("cursor"))
    return _listed(page)


def get_feed(api: Api, request: Request) -> Response:
    """GET /feeds/{feed_id}."""
    request.only()
    feed_id = request.path.get("feed_id", "")
    feed = api.feeds.get(feed_id)
    if feed is None:
        raise _no_feed(feed_id)
    return Response(feed)


def get_feed_history(api: Api, request: Request) -> Response:
    """GET /feeds/{feed_id}/history."""
    request.only("limit", "cursor")
    feed_id = request.path.get("feed_id", "")
    page = api.feeds.history(feed_id, limit=request.limit(), cursor=request.query.get("cursor"))
    if page is None:
        raise _no_feed(feed_id)
    return _listed(page)


def list_events(api: Api, request: Request) -> Response:
    """GET /events."""
    request.only("limit", "cursor")
    page = api.events.page(limit=request.limit(), cursor=request.query.get("cursor"))
    return _listed(page)


def get_event(api: Api, request: Request) -> Response:
    """GET /events/{event_id}."""
    request.only()
    event_id = request.path.get("event_id", "")
    event = api.events.get(event_id)
    if event is None:
        raise NotFound(
            f"There is no event {shorten(event_id)}. An id is 32 hexadecimal digits; events are kept for "
            "30 days after their last article. GET /events lists them."
        )
    return Response(event)


ROUTES: Final[Mapping[str, Callable[[Api, Request], Response]]] = {
    "GET /health": get_health,
    "GET /articles": list_articles,
    "GET /articles/{key+}": get_article,
    "GET /feeds": list_feeds,
    "GET /feeds.opml": lambda api, request: managed.export_feeds(api.managed, request),
    "POST /feeds": lambda api, request: managed.add_feed(api.managed, request),
    "POST /feeds/import": lambda api, request: managed.import_feeds(api.managed, request),
    "GET /feeds/{feed_id}": get_feed,
    "PATCH /feeds/{feed_id}": lambda api, request: managed.change_feed(api.managed, request),
    "DELETE /feeds/{feed_id}": lambda api, request: managed.remove_feed(api.managed, request),
    "GET /feeds/{feed_id}/history": get_feed_history,
    "GET /events": list_events,
    "GET /events/{event_id}": get_event,
    "GET /latest": lambda api, request: observed.get_latest(api.observations, request),
    "GET /history": lambda api, request: observed.get_history(api.observations, request),
    "GET /banks": lambda api, request: observed.list_banks(api.observations, request),
    "GET /series": lambda api, request: observed.list_series(api.observations, request),
    "GET /meta/latest": lambda api, request: observed.get_meta(api.observations, request),
    "GET /api/v1/tools": lambda api, request: felt.list_tools(api.sentiment, request),
    "GET /api/v1/tools/{tool_id}/sentiment": lambda api, request: felt.get_sentiment(api.sentiment, request),
    "GET /api/v1/tools/{tool_id}/sentiment/series": (
        lambda api, request: felt.get_series(api.sentiment, request)
    ),
    "GET /api/v1/cache/health": lambda api, request: felt.get_cache_health(api.sentiment, request),
    "GET /job-runs": lambda api, request: novae.list_runs(api.catalog, request),
    "GET /job-runs/{job_run_id}": lambda api, request: novae.get_run(api.catalog, request),
    "GET /novae": lambda api, request: novae.find_novae(api.catalog, request),
    "POST /novae": lambda api, request: novae.initialize_nova(api.catalog, request),
    "GET /novae/{nova_id}": lambda api, request: novae.get_nova(api.catalog, request),
    "GET /novae/{nova_id}/job-runs": lambda api, request: novae.list_nova_runs(api.catalog, request),
    "GET /quarantine": lambda api, request: novae.list_quarantine(api.catalog, request),
    "GET /quarantine/{quarantine_id}": lambda api, request: novae.get_quarantined(api.catalog, request),
    "POST /quarantine/{quarantine_id}/review": (
        lambda api, request: novae.review_quarantined(api.catalog, request)
    ),
}
"""Operations by the route key of API Gateway, which matches the paths."""


def _operation(request: Request) -> Callable[[Api, Request], Response]:
    if request.route not in ROUTES:
        raise NotFound(f"There is no route {shorten(request.route)}. The routes are {', '.join(ROUTES)}.")
    return ROUTES[request.route]


def _listed(page: Page[dict[str, Any]]) -> Response:
    return Response({"items": page.items, "next_cursor": page.next_cursor})


def _no_feed(feed_id: str) -> NotFound:
    return NotFound(f"There is no feed {shorten(feed_id)}. GET /feeds lists them.")
