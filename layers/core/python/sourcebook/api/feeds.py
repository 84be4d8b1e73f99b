"""The operations on feeds: those that read, those that change, and the list of feeds as OPML."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from sourcebook.api.operations import Body, Operation, of_topic
from sourcebook.api.parameters import PageParameters, Parameters, one_of
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.resources import FEED
from sourcebook.api.responses import Conflict, Response, listed
from sourcebook.clock import isoformat
from sourcebook.errors import InvalidInput
from sourcebook.feeds.inputs import FeedChange, NewFeed
from sourcebook.feeds.manage import FeedManager
from sourcebook.feeds.settings import FeedSettings
from sourcebook.sources.read import HEALTHS, FeedReader

if TYPE_CHECKING:
    from sourcebook.feeds.discovery import Discovery
    from sourcebook.http.policy import HttpPolicy

OPML_TYPE: Final = "text/x-opml; charset=utf-8"
LARGEST_EXPORT: Final = 5_500_000
"""Bytes of a list that still fit into an answer of Lambda."""
SHOWN_PROBLEMS: Final = 1_000


class FeedParameters(PageParameters):
    """Which feeds are asked for."""

    health: Annotated[str, one_of(HEALTHS)] | None = Field(
        None, description="`new` was never fetched, `failing` failed the last time."
    )


class OpmlParameters(Parameters):
    """How the list of feeds is written."""

    version: Annotated[str, one_of(("1.0", "2.0"))] = Field(
        "2.0",
        description="`2.0` is read back by `POST /feeds/import` with ids, priorities, tags and what is "
        "disabled; `1.0` is for readers that want it.",
    )


def manager(services: Services) -> FeedManager:
    """Return what changes feeds; raise InvalidInput if a setting of feeds is wrong."""
    settings = FeedSettings.from_environment(services.environ)

    def policy() -> HttpPolicy:
        return settings.http_policy(
            contact=services.environ.get("HTTP_CONTACT", ""),
            allowed_networks=services.environ.get("HTTP_ALLOWED_NETWORKS", ""),
        )

    return FeedManager(services.table, settings=settings, policy=policy)


def _list_feeds(services: Services, request: Request) -> Response:
    return listed(FeedReader(services.table, request.may_write).page(**dict(FeedParameters.of(request))))


def _get_feed(services: Services, request: Request) -> Response:
    return Response(FEED.of(request, FeedReader(services.table, request.may_write).get))


def _list_fetches(services: Services, request: Request) -> Response:
    asked = dict(PageParameters.of(request))
    page = FEED.of(request, lambda feed_id: FeedReader(services.table).history(feed_id, **asked))
    return listed(page)


def _add_feed(services: Services, request: Request) -> Response:
    asked = NewFeed.read(request.json()).given()
    name, found = "", dict[str, object]()
    if site := asked.pop("site", None):
        discovery = _discovered(services, site)
        asked["url"] = discovery.url
        name = discovery.title
        found = {"found": {"how": discovery.how, "others": list(discovery.others)}}
    added = services.once(manager).add(asked, name=name)
    headers = {"location": f"/feeds/{added.feed.source_id}"}
    answer = {**added.feed.shown(), **found, "created": added.new}
    return Response(answer, 201 if added.new else 200, headers=headers)


def _change_feed(services: Services, request: Request) -> Response:
    feed = FEED.of(request, lambda feed_id: services.once(manager).change(feed_id, request.json()))
    return Response(feed.shown())


def _remove_feed(services: Services, request: Request) -> Response:
    feed_id = FEED.name(request)
    if not services.once(manager).remove(feed_id):
        raise FEED.missing(feed_id)
    return Response({"feed_id": feed_id, "deleted": True})


def _explain_schedule(services: Services, request: Request) -> Response:
    from sourcebook.feeds.schedule import explain  # noqa: PLC0415 - pydantic

    feeds = services.once(manager)
    source = FEED.of(request, feeds.source)
    return Response(
        {
            "feed_id": source.source_id,
            "next_fetch_time": isoformat(source.next_fetch_time),
            "reasons": explain(source, feeds.clock(), settings=feeds.settings),
            "settings": asdict(feeds.settings),
        }
    )


def _import_feeds(services: Services, request: Request) -> Response:
    if not request.body.strip():
        raise InvalidInput("body", request.body, "an OPML document")
    report = services.once(manager).import_opml(request.body)
    problems = [{"line": problem.line, "message": problem.message} for problem in report.problems]
    return Response(
        {
            "added": report.added,
            "known": report.known,
            "problem_count": len(problems),
            "problems": problems[:SHOWN_PROBLEMS],
            "mended": report.mended or None,
        }
    )


def _export_feeds(services: Services, request: Request) -> Response:
    text = services.once(manager).export_opml(
        version=OpmlParameters.of(request).version, whole=request.may_write
    )
    if len(text.encode()) > LARGEST_EXPORT:
        raise Conflict(
            "The list of feeds is too large for one answer. `sourcebook feeds export` writes it to a file.",
            "feeds",
        )
    headers = {"content-disposition": 'attachment; filename="feeds.opml"'}
    return Response(text, content_type=OPML_TYPE, headers=headers)


def _discovered(services: Services, site: str) -> Discovery:
    """Find the feed of a site.

    Raises:
        InvalidInput: if there is none, or the site does not answer: both are for the client to mend.
    """
    import asyncio  # noqa: PLC0415 - 8 ms of each start, and nothing else here needs it

    from sourcebook.feeds.discovery import discover  # noqa: PLC0415 - the HTTP client and the parser
    from sourcebook.http.client import HttpClient  # noqa: PLC0415
    from sourcebook.http.errors import FetchError  # noqa: PLC0415

    async def search() -> Discovery:
        async with HttpClient(services.once(manager).http_policy()) as http:
            return await discover(http, site)

    try:
        return asyncio.run(search())
    except FetchError as error:
        raise InvalidInput("site", site, f"an address that can be fetched ({error})") from error


OPERATIONS: Final = of_topic(
    "Feeds",
    Operation(
        route="GET /feeds",
        summary="Feeds, by the day on which they are due",
        description="Those that are polled, by the day in UTC on which they are due and then by `feed_id`; "
        "then the disabled ones by the time they are probed. A feed whose fetch moves it to another day "
        "while you page may come again: tell feeds apart by `feed_id`, the name under which an article's "
        "`sources` have it. `last_cause` says in one word how the last fetch ended. The values in the query "
        "of an address are shown to tokens that may write, since one may be the key to a private feed.",
        handle=_list_feeds,
        query=FeedParameters,
        answers={200: "FeedPage"},
    ),
    Operation(
        route="GET /feeds/{feed_id}",
        summary="One feed",
        description="The values in the query of its address are shown to tokens that may write.",
        handle=_get_feed,
        answers={200: "Feed"},
    ),
    Operation(
        route="GET /feeds/{feed_id}/history",
        summary="What fetching a feed found",
        description="The fetches that changed something or failed, newest first, for 30 days; one that "
        "found nothing new is only counted in the feed's state. `due_at` is the due time that the fetch was "
        "made for and distinguishes fetches. `verdict` is `changed`, `failed` (it may mend itself), `broken` "
        "(it does not look like it; ten in a row disable the feed) or `gone` (the server says that it is "
        "gone for good). `rejections` has the first ten entries that could not be taken.",
        handle=_list_fetches,
        query=PageParameters,
        answers={200: "FetchPage"},
    ),
    Operation(
        route="GET /feeds.opml",
        summary="All feeds as an OPML document",
        description="By id. 409 when the list is larger than an answer of 5.5 MB, some 20,000 feeds: "
        "`sourcebook feeds export` writes it to a file. For a token that may not write the values in the "
        "queries of addresses are hidden.",
        handle=_export_feeds,
        query=OpmlParameters,
        answers={200: "Opml"},
        more_problems=(409,),
        media_type="text/x-opml",
    ),
    Operation(
        route="POST /feeds",
        summary="Add a feed, due at once",
        description="Give `url`, the feed's own address, which is registered without being asked; or "
        "`site`, a page, which is asked which feed it announces. 201 with `location`, or 200 when the feed "
        "is there already: the same request twice changes nothing. For a site the answer has `found`: `how` "
        "(`is_feed`, `announced`, `common_path`) and `others`, the other feeds that the page announces. 409 "
        "when the feed is there with another value for a field that was given, or the id belongs to "
        "something else.",
        handle=_add_feed,
        body=Body(form=NewFeed),
        answers={201: "AddedFeed", 200: "AddedFeed"},
    ),
    Operation(
        route="POST /feeds/import",
        summary="Add the feeds of an OPML document",
        description="In UTF-8, at most 6 MB and 5,000 feeds. Feeds that are known are left as they are, so "
        "that importing again is harmless. `problems` has the outlines that were left out or taken in "
        "part, the first 1,000; `mended` says what was wrong with a document that is not well-formed and "
        "was read all the same.",
        handle=_import_feeds,
        body=Body(schema="OpmlDocument", media_type="text/x-opml"),
        answers={200: "ImportReport"},
    ),
    Operation(
        route="GET /feeds/{feed_id}/schedule",
        summary="Why a feed's next fetch is when it is",
        description="`reasons` are sentences for a person, by what is known of the feed's habits, what its "
        "server asks for, and the `settings` that this deployment polls with.",
        handle=_explain_schedule,
        answers={200: "FeedSchedule"},
        volatile=True,
    ),
    Operation(
        route="PATCH /feeds/{feed_id}",
        summary="Enable, disable or change a feed",
        description="Changes what the body names, and nothing else. `enabled: false` stops a feed until "
        "somebody enables it; its `next_fetch_time` is then `9999-12-31T23:59:59Z`, where a feed that "
        "errors have disabled has the time of its next probe. `enabled: true` has it fetched at once and "
        "forgets its errors. A new `url` is fetched at once too; the feed keeps its articles and its id. 409 "
        "when another feed has it. Send `enabled: true` with it where errors have disabled the feed. A "
        "shorter `interval_minutes` counts from now.",
        handle=_change_feed,
        body=Body(form=FeedChange),
        answers={200: "Feed"},
    ),
    Operation(
        route="DELETE /feeds/{feed_id}",
        summary="Delete a feed with its history",
        description="Its articles stay until they expire.",
        handle=_remove_feed,
        answers={200: "RemovedFeed"},
    ),
)
