"""The operations that change feeds, and the list of feeds as OPML."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sourcebook.api.requests import Request
from sourcebook.api.responses import Conflict, NotFound, Response
from sourcebook.errors import InvalidInput, shorten
from sourcebook.feeds.manage import Added, AlreadyRegistered, FeedManager, check_values
from sourcebook.sources.read import public

if TYPE_CHECKING:
    from sourcebook.feeds.discovery import Discovery

OPML_TYPE: Final = "text/x-opml; charset=utf-8"
LARGEST_EXPORT: Final = 5_500_000
"""Bytes of a list that still fit into an answer of Lambda."""
SHOWN_PROBLEMS: Final = 1_000


@dataclass(frozen=True, slots=True)
class FeedsApi:
    """What these operations act by.

    Attributes:
        contact: given to the servers that are asked when a site's feed is looked for.
        allowed_networks: networks, comma-separated, that may be asked though they are not public.
    """

    manager: FeedManager
    contact: str = ""
    allowed_networks: str = field(default="", repr=False)


def add_feed(feeds: FeedsApi, request: Request) -> Response:
    """POST /feeds."""
    request.only()
    body = request.json()
    if ("url" in body) == ("site" in body):
        raise InvalidInput(
            "url",
            body.get("url"),
            "either url, a feed's own address, or site, a page that announces its feed",
        )
    name, found = "", dict[str, Any]()
    if "site" in body:
        site = body.pop("site")
        if not isinstance(site, str) or not site.strip():
            raise InvalidInput("site", site, "the address of a site such as https://news.example")
        check_values(body, also=("feed_id",))
        discovery = _discovered(feeds, site)
        body |= {"url": discovery.feed.url}
        name = discovery.feed.title
        found = {"found": {"how": discovery.how, "others": list(discovery.others)}}
    added = _add(feeds, body, name)
    headers = {"location": f"/feeds/{added.feed_id}"}
    answer = {**public(added.item), **found, "created": added.new}
    return Response(answer, 201 if added.new else 200, headers=headers)


def change_feed(feeds: FeedsApi, request: Request) -> Response:
    """PATCH /feeds/{feed_id}."""
    request.only()
    feed_id = request.path.get("feed_id", "")
    item = feeds.manager.change(feed_id, request.json())
    if item is None:
        raise _no_feed(feed_id)
    return Response(public(item))


def remove_feed(feeds: FeedsApi, request: Request) -> Response:
    """DELETE /feeds/{feed_id}."""
    request.only()
    feed_id = request.path.get("feed_id", "")
    if not feeds.manager.remove(feed_id):
        raise _no_feed(feed_id)
    return Response({"feed_id": feed_id, "deleted": True})


def import_feeds(feeds: FeedsApi, request: Request) -> Response:
    """POST /feeds/import."""
    request.only()
    if not request.body.strip():
        raise InvalidInput("body", request.body, "an OPML document")
    report = feeds.manager.import_opml(request.body)
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


def export_feeds(feeds: FeedsApi, request: Request) -> Response:
    """GET /feeds.opml."""
    request.only("version")
    version = request.choice("version", ("1.0", "2.0")) or "2.0"
    text = feeds.manager.export_opml(version=version)
    if len(text.encode()) > LARGEST_EXPORT:
        raise Conflict(
            "The list of feeds is too large for one answer. `sourcebook feeds export` writes it to a file.",
            "feeds",
        )
    headers = {"content-disposition": 'attachment; filename="feeds.opml"'}
    return Response(text, content_type=OPML_TYPE, headers=headers)


def _add(feeds: FeedsApi, values: dict[str, Any], name: str) -> Added:
    try:
        return feeds.manager.add(values, name=name)
    except AlreadyRegistered as error:
        raise Conflict(str(error), error.field) from error


def _discovered(feeds: FeedsApi, site: str) -> Discovery:
    """Find the feed of a site.

    Raises:
        InvalidInput: if there is none, or the site does not answer: both are for the client to mend.
    """
    from sourcebook.feeds.discovery import discover  # noqa: PLC0415 - the HTTP client and the parser
    from sourcebook.http import FetchError, HttpClient  # noqa: PLC0415

    policy = feeds.manager.settings.http_policy(
        contact=feeds.contact, allowed_networks=feeds.allowed_networks
    )

    async def search() -> Discovery:
        async with HttpClient(policy) as http:
            return await discover(http, site)

    try:
        return asyncio.run(search())
    except FetchError as error:
        raise InvalidInput("site", site, f"an address that can be fetched ({error})") from error


def _no_feed(feed_id: str) -> NotFound:
    return NotFound(f"There is no feed {shorten(feed_id)}. GET /feeds lists them.")
