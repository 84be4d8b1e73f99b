"""The operations that read articles and events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from sourcebook.api.operations import Operation, of_topic
from sourcebook.api.parameters import Moment, PageParameters, Text, one_of, several
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.resources import ARTICLE, EVENT
from sourcebook.api.responses import Response, listed
from sourcebook.articles.grouping.read import EventReader
from sourcebook.articles.read import SENTIMENTS, STATUSES, AnyArticle, ArticleFilter, ArticleReader
from sourcebook.errors import InvalidInput
from sourcebook.search.query import LONGEST, NEWEST, ORDERS, Query, parse
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table.pages import Page

if TYPE_CHECKING:
    from sourcebook.search.read import ArticleSearch


class ArticleParameters(PageParameters):
    """Which articles are asked for."""

    q: (
        Annotated[str, Field(min_length=1, max_length=LONGEST, json_schema_extra={"format": "search"})] | None
    ) = Field(
        None,
        description='Words, "phrases", `OR`, `-not`, and the filters `source:`, `subject:`, `tag:`, '
        "`sentiment:`, `lang:`, `since:` and `until:` (also `24h`, `7d`); docs/search.md has all of it.",
        examples=['ferry OR harbor "record orders" -strike since:7d'],
    )
    order: Annotated[str, one_of(ORDERS)] = Field(
        NEWEST, description="`rank`: what fits `q` best comes first, at most 1,000 articles."
    )
    status: Annotated[str, one_of(sorted(STATUSES))] | None = Field(
        None, description="Where the article stands."
    )
    sentiment: Annotated[tuple[str, ...], several(sorted(SENTIMENTS))] | None = Field(
        None,
        description="What analysis found: one, or more with commas between them.",
        examples=["positive,negative"],
    )
    source: Annotated[tuple[str, ...], several()] | None = Field(
        None,
        description="Ids of sources, with commas between them: articles that any of them brought.",
        examples=["harbor-ledger"],
    )
    subject: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(
        None,
        description="Id, name or alias of a subject, in any case: articles that mention it.",
        examples=["Apple"],
    )
    tag: Text | None = Field(
        None,
        description="Exactly as the article has it, capitals included. Tags are written by analysis, so only "
        "analyzed articles are found.",
        examples=["AAPL"],
    )
    lang: Annotated[tuple[str, ...], several(longest=100)] | None = Field(
        None, description="Languages as their feeds name them, with or without a region.", examples=["en,vi"]
    )
    since: Moment | None = Field(None, description="First moment, included.", examples=["2026-11-20"])
    until: Moment | None = Field(
        None,
        description="Last moment, excluded: `until=2026-11-27` ends with the 26th.",
        examples=["2026-11-27T21:00:00Z"],
    )

    def filter(self) -> ArticleFilter:
        """Return what articles must have besides matching `q`."""
        sentiments = self.sentiment or ()
        return ArticleFilter(
            status=self.status,
            sentiment=sentiments[0] if len(sentiments) == 1 else None,
            tag=self.tag,
            since=self.since,
            until=self.until,
            sources=self.source or (),
            sentiments=sentiments if len(sentiments) > 1 else (),
            subjects=(self.subject,) if self.subject else (),
            languages=self.lang or (),
        )


def _search(services: Services) -> ArticleSearch:
    """Return what answers the questions that the table's indexes do not."""
    from sourcebook.search.days import Days  # noqa: PLC0415 - most lists need no search
    from sourcebook.search.read import ArticleSearch, OpenDays, SubjectNames  # noqa: PLC0415

    days = OpenDays(Days(services.objects()))
    return ArticleSearch(services.table, days, SubjectNames(SubjectRegistry(services.table)))


def _list_articles(services: Services, request: Request) -> Response:
    return listed(_page(services, request))


def _follow_articles_atom(services: Services, request: Request) -> Response:
    from sourcebook.api.follow import atom  # noqa: PLC0415 - only readers of feeds need it

    return atom(_page(services, request), request)


def _follow_articles_json(services: Services, request: Request) -> Response:
    from sourcebook.api.follow import json_feed  # noqa: PLC0415 - as above

    return json_feed(_page(services, request), request)


def _page(services: Services, request: Request) -> Page[AnyArticle]:
    """Return a page of the articles that are asked for: from the table's indexes, or by search."""
    asked = ArticleParameters.of(request)
    wanted, limit, cursor = asked.filter(), asked.limit, asked.cursor
    is_waiting = wanted.status in {"pending", "error"}
    is_indexed = not wanted.needs_search and (is_waiting or not wanted.sources)
    if asked.q is None and asked.order == NEWEST and is_indexed:
        return ArticleReader(services.table).page(wanted, limit=limit, cursor=cursor)
    if is_waiting:
        raise InvalidInput(
            "status", wanted.status, "analyzed, or no status: only analyzed articles are searched"
        )
    search = services.once(_search)
    query = parse(asked.q, search.clock()) if asked.q is not None else Query()
    return search.page(query, wanted, order=asked.order, limit=limit, cursor=cursor)


def _get_article(services: Services, request: Request) -> Response:
    key = ARTICLE.name(request)
    article = ArticleReader(services.table).get(key)
    if article is None:
        raise ARTICLE.missing(key)
    return Response(article.shown())


def _list_events(services: Services, request: Request) -> Response:
    return listed(EventReader(services.table).page(**dict(PageParameters.of(request))))


def _get_event(services: Services, request: Request) -> Response:
    return Response(EVENT.of(request, EventReader(services.table).get).shown())


OPERATIONS: Final = of_topic(
    "Articles and events",
    Operation(
        route="GET /articles",
        summary="Articles, newest first, or those that fit a search",
        description="By `timestamp`. Every filter that is given must hold. An article that is analyzed "
        "while you page is neither given twice nor left out. With `q`, `source`, `subject`, `lang` or more "
        "than one sentiment, analyzed articles alone are found, from five minutes after their analysis on.",
        handle=_list_articles,
        query=ArticleParameters,
        answers={200: "ArticlePage"},
    ),
    Operation(
        route="GET /articles.atom",
        summary="The same as an Atom feed, for any reader of feeds",
        description="Subscribe to the address of a search. `link` with `rel=next` has the next page. A "
        "reader that sends no token can follow only where reading is open.",
        handle=_follow_articles_atom,
        query=ArticleParameters,
        answers={200: "AtomFeed"},
        media_type="application/atom+xml",
    ),
    Operation(
        route="GET /articles.json",
        summary="The same as a JSON Feed",
        description="JSON Feed 1.1; `next_url` has the next page.",
        handle=_follow_articles_json,
        query=ArticleParameters,
        answers={200: "JsonFeed"},
        media_type="application/feed+json",
    ),
    Operation(
        route="GET /articles/{key+}",
        summary="One article",
        description="The key is the article's `dedup_key`, 32 hexadecimal digits, with or without `dedup:` "
        "before it; or `<source>:<article id>`, the older format: a source's id and its own id of the "
        "article. Where that id is a URL, encode it (`/` may stay as it is, `?` and `#` must not). Articles "
        "are kept for 30 days after they were first seen (`ttl_timestamp`, in seconds since 1970). An "
        "article of the older format, without `dedup_key`, is answered with the fields it was stored with.",
        handle=_get_article,
        answers={200: "Article"},
    ),
    Operation(
        route="GET /events",
        summary="Events, the one with the newest article first",
        description="An event is two or more articles about the same occurrence; docs/articles.md says when "
        "they do. One that grows between two pages moves to the front. `headline` is that of the earliest "
        "article; `idea` is the newest one, null in the moment before the first is made. Ideas are "
        "summaries of what was published, and no advice.",
        handle=_list_events,
        query=PageParameters,
        answers={200: "EventPage"},
    ),
    Operation(
        route="GET /events/{event_id}",
        summary="One event with its articles and ideas",
        description="All `members`, oldest first, and the latest 50 `ideas`, newest first, each with the "
        "`engine` that concluded it. Articles that have expired are left out.",
        handle=_get_event,
        answers={200: "Event"},
    ),
)
