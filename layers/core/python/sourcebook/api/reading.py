"""The operations that read articles, feeds and events, and those that tell of the API itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sourcebook.api.operations import Access, Operation
from sourcebook.api.parameters import CURSOR, LIMIT, Choice, Moment, Text, page_size
from sourcebook.api.requests import Request
from sourcebook.api.responses import NotFound, Response
from sourcebook.articles.read import SENTIMENTS, STATUSES, ArticleFilter
from sourcebook.errors import shorten
from sourcebook.sources.read import HEALTHS
from sourcebook.table.pages import Page

if TYPE_CHECKING:
    from sourcebook.api.routes import Api

_STATUS: Final = Choice(
    name="status", description="Where the article stands.", values=tuple(sorted(STATUSES))
)
_SENTIMENT: Final = Choice(
    name="sentiment", description="What analysis found.", values=tuple(sorted(SENTIMENTS))
)
_TAG: Final = Text(
    name="tag",
    description="Exactly as the article has it, capitals included. Tags are written by analysis, so only "
    "analyzed articles are found.",
    example="AAPL",
)
_SINCE: Final = Moment(name="since", description="First moment, included.", example="2026-11-20")
_UNTIL: Final = Moment(
    name="until",
    description="Last moment, excluded: `until=2026-11-27` ends with the 26th.",
    example="2026-11-27T21:00:00Z",
)
_HEALTH: Final = Choice(
    name="health",
    description="`new` was never fetched, `failing` failed the last time.",
    values=tuple(HEALTHS),
)


def get_health(api: Api, request: Request) -> Response:  # noqa: ARG001 - as every operation
    """GET /health."""
    health = api.health.run()
    return Response(health.answer, 200 if health.ok else 503, cause=health.cause)


def get_description(api: Api, request: Request) -> Response:  # noqa: ARG001
    """GET /openapi.json."""
    from sourcebook.api.openapi import description  # noqa: PLC0415 - only who asks for it waits for it
    from sourcebook.api.routes import OPERATIONS  # noqa: PLC0415 - that module has this one's operations

    return Response(description(OPERATIONS, names=api.workflows.names))


def get_reference(api: Api, request: Request) -> Response:  # noqa: ARG001
    """GET /docs."""
    from sourcebook.api.openapi import description  # noqa: PLC0415
    from sourcebook.api.reference import POLICY, page  # noqa: PLC0415
    from sourcebook.api.routes import OPERATIONS  # noqa: PLC0415

    text = page(description(OPERATIONS, names=api.workflows.names))
    return Response(
        text,
        content_type="text/html; charset=utf-8",
        headers={"content-security-policy": POLICY, "referrer-policy": "no-referrer"},
    )


def list_articles(api: Api, request: Request) -> Response:
    """GET /articles."""
    wanted = ArticleFilter(
        status=_STATUS.of(request),
        sentiment=_SENTIMENT.of(request),
        tag=_TAG.of(request),
        since=_SINCE.of(request),
        until=_UNTIL.of(request),
    )
    return _listed(api.articles.page(wanted, limit=page_size(request), cursor=CURSOR.of(request)))


def get_article(api: Api, request: Request) -> Response:
    """GET /articles/{key+}."""
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
    page = api.feeds.page(health=_HEALTH.of(request), limit=page_size(request), cursor=CURSOR.of(request))
    return _listed(page)


def get_feed(api: Api, request: Request) -> Response:
    """GET /feeds/{feed_id}."""
    feed_id = request.path.get("feed_id", "")
    feed = api.feeds.get(feed_id)
    if feed is None:
        raise _no_feed(feed_id)
    return Response(feed)


def get_feed_history(api: Api, request: Request) -> Response:
    """GET /feeds/{feed_id}/history."""
    feed_id = request.path.get("feed_id", "")
    page = api.feeds.history(feed_id, limit=page_size(request), cursor=CURSOR.of(request))
    if page is None:
        raise _no_feed(feed_id)
    return _listed(page)


def list_events(api: Api, request: Request) -> Response:
    """GET /events."""
    return _listed(api.events.page(limit=page_size(request), cursor=CURSOR.of(request)))


def get_event(api: Api, request: Request) -> Response:
    """GET /events/{event_id}."""
    event_id = request.path.get("event_id", "")
    event = api.events.get(event_id)
    if event is None:
        raise NotFound(
            f"There is no event {shorten(event_id)}. An id is 32 hexadecimal digits; events are kept for "
            "30 days after their last article. GET /events lists them."
        )
    return Response(event)


def _listed(page: Page[dict[str, Any]]) -> Response:
    return Response({"items": page.items, "next_cursor": page.next_cursor})


def _no_feed(feed_id: str) -> NotFound:
    return NotFound(f"There is no feed {shorten(feed_id)}. GET /feeds lists them.")


_SERVICE: Final = "The service"
_ARTICLES: Final = "Articles and events"
_FEEDS: Final = "Feeds"

OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/health",
        name="getHealth",
        topic=_SERVICE,
        summary="Whether the system is alive",
        description="200 when all is well and 503 when it is not, with the same body. `status` is "
        "`degraded` when the table does not answer, the schedule has not run for five minutes (it should "
        "run every minute), a source has been due for half an hour, or no source has been fetched with "
        "success for 25 hours. Before the first run a fresh deployment is `healthy` until a source has been "
        "due for five minutes. `scheduler` is in seconds since the schedule last ran dispatch, `overdue` in "
        "seconds that the source that waits longest has been due, 0 when none is; `active_feeds` are "
        "counted up to 20,000.",
        act=get_health,
        access=Access.OPEN,
        answers={200: "Health", 503: "Health"},
        volatile=True,
    ),
    Operation(
        method="GET",
        path="/openapi.json",
        name="getDescription",
        topic=_SERVICE,
        summary="This description, as OpenAPI 3.1",
        act=get_description,
        access=Access.OPEN,
        answers={200: "Description"},
    ),
    Operation(
        method="GET",
        path="/docs",
        name="getReference",
        topic=_SERVICE,
        summary="This description, as a page to read",
        act=get_reference,
        access=Access.OPEN,
        answers={200: "Page"},
        media_type="text/html",
    ),
    Operation(
        method="GET",
        path="/articles",
        name="listArticles",
        topic=_ARTICLES,
        summary="Articles, newest first",
        description="By `timestamp`. Every filter that is given must hold. An article that is analyzed "
        "while you page is neither given twice nor left out.",
        act=list_articles,
        parameters=(_STATUS, _SENTIMENT, _TAG, _SINCE, _UNTIL, LIMIT, CURSOR),
        answers={200: "ArticlePage"},
    ),
    Operation(
        method="GET",
        path="/articles/{key+}",
        name="getArticle",
        topic=_ARTICLES,
        summary="One article",
        description="The key is the article's `dedup_key`, 32 hexadecimal digits, with or without `dedup:` "
        "before it; or `<source>:<article id>`, the older format: a source's id and its own id of the "
        "article. Where that id is a URL, encode it (`/` may stay as it is, `?` and `#` must not). Articles "
        "are kept for 30 days after they were first seen (`ttl_timestamp`, in seconds since 1970). An "
        "article of the older format, without `dedup_key`, is answered with the fields it was stored with.",
        act=get_article,
        answers={200: "Article"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/events",
        name="listEvents",
        topic=_ARTICLES,
        summary="Events, the one with the newest article first",
        description="An event is two or more articles that tell of the same; docs/articles.md says when "
        "they do. One that grows between two pages moves to the front. `headline` is that of the earliest "
        "article; `idea` is the newest one, null in the moment before the first is made. Ideas are "
        "summaries of what was published, and no advice.",
        act=list_events,
        parameters=(LIMIT, CURSOR),
        answers={200: "EventPage"},
    ),
    Operation(
        method="GET",
        path="/events/{event_id}",
        name="getEvent",
        topic=_ARTICLES,
        summary="One event with its articles and ideas",
        description="All `members`, oldest first, and the latest 50 `ideas`, newest first, each with the "
        "`engine` that concluded it. `sources`, `sentiment` and `score` of a member are null once its "
        "article has expired.",
        act=get_event,
        answers={200: "Event"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/feeds",
        name="listFeeds",
        topic=_FEEDS,
        summary="Feeds, by the time they are due",
        description="Those that are polled, then the disabled ones by the time they are probed. A feed that "
        "is fetched while you page moves to its new due time and may come again: tell feeds apart by "
        "`feed_id`, the name under which an article's `sources` have it. `last_cause` says in one word how "
        "the last fetch ended.",
        act=list_feeds,
        parameters=(_HEALTH, LIMIT, CURSOR),
        answers={200: "FeedPage"},
    ),
    Operation(
        method="GET",
        path="/feeds/{feed_id}",
        name="getFeed",
        topic=_FEEDS,
        summary="One feed",
        act=get_feed,
        answers={200: "Feed"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/feeds/{feed_id}/history",
        name="listFetches",
        topic=_FEEDS,
        summary="What fetching a feed found",
        description="The fetches that changed something or failed, newest first, for 30 days; one that "
        "found nothing new is only counted in the feed's state. `due_at` is the due time that the fetch was "
        "made for and tells fetches apart. `verdict` is `changed`, `failed` (it may mend itself), `broken` "
        "(it does not look like it; ten in a row disable the feed) or `gone` (the server says that it is "
        "gone for good). `rejections` tells of the first ten entries that could not be taken.",
        act=get_feed_history,
        parameters=(LIMIT, CURSOR),
        answers={200: "FetchPage"},
        problems=(404,),
    ),
)
