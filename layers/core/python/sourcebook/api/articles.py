"""The operations that read articles and events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sourcebook.api.operations import Operation
from sourcebook.api.parameters import CURSOR, LIMIT, Choice, Moment, Text, page_size
from sourcebook.api.parts import Means
from sourcebook.api.requests import Request
from sourcebook.api.responses import NotFound, Response
from sourcebook.articles.grouping.read import EventReader
from sourcebook.articles.read import SENTIMENTS, STATUSES, ArticleFilter, ArticleReader
from sourcebook.errors import shorten
from sourcebook.table.pages import Page

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


@dataclass(frozen=True, slots=True)
class ArticlesApi:
    """What these operations read from."""

    articles: ArticleReader
    events: EventReader


def make(means: Means) -> ArticlesApi:
    """Make it."""
    return ArticlesApi(ArticleReader(means.table), EventReader(means.table))


def list_articles(api: ArticlesApi, request: Request) -> Response:
    """GET /articles."""
    wanted = ArticleFilter(
        status=_STATUS.of(request),
        sentiment=_SENTIMENT.of(request),
        tag=_TAG.of(request),
        since=_SINCE.of(request),
        until=_UNTIL.of(request),
    )
    return _listed(api.articles.page(wanted, limit=page_size(request), cursor=CURSOR.of(request)))


def get_article(api: ArticlesApi, request: Request) -> Response:
    """GET /articles/{key+}."""
    key = request.path.get("key", "")
    article = api.articles.get(key)
    if article is None:
        raise NotFound(
            f"There is no article {shorten(key)}. A key is an article's dedup_key, 32 hexadecimal digits, or "
            "<source>:<article id>; articles are kept for 30 days. GET /articles lists them."
        )
    return Response(article)


def list_events(api: ArticlesApi, request: Request) -> Response:
    """GET /events."""
    return _listed(api.events.page(limit=page_size(request), cursor=CURSOR.of(request)))


def get_event(api: ArticlesApi, request: Request) -> Response:
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


_TOPIC: Final = "Articles and events"

OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/articles",
        name="listArticles",
        topic=_TOPIC,
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
        topic=_TOPIC,
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
        topic=_TOPIC,
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
        topic=_TOPIC,
        summary="One event with its articles and ideas",
        description="All `members`, oldest first, and the latest 50 `ideas`, newest first, each with the "
        "`engine` that concluded it. `sources`, `sentiment` and `score` of a member are null once its "
        "article has expired.",
        act=get_event,
        answers={200: "Event"},
        problems=(404,),
    ),
)
