"""From a site to its feed, against servers on the loopback interface."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.feeds.discovery import (
    COMMON_PATHS,
    MOST_REQUESTS,
    NoFeedFound,
    announced_feeds,
    discover,
)
from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchCause, FetchError
from tests.unit.http.servers import Exchange, Respond, quick, serve

FEED = (
    b'<?xml version="1.0"?><rss version="2.0"><channel><title>Harbor Ledger</title><link>/</link>'
    b"<item><title>Tide</title><link>/1</link></item></channel></rss>"
)
ATOM = (
    b'<feed xmlns="http://www.w3.org/2005/Atom"><title>Atom Ledger</title><id>x</id>'
    b"<entry><title>a</title><id>1</id></entry></feed>"
)


def pages(content: Mapping[str, str | bytes]) -> Respond:
    async def respond(exchange: Exchange) -> None:
        found = content.get(exchange.target)
        if found is None:
            await exchange.answer(b"<html>not here</html>", 404)
        elif isinstance(found, str) and found.startswith("-> "):
            await exchange.answer(b"", 301, Location=found[3:])
        else:
            body = found.encode() if isinstance(found, str) else found
            await exchange.answer(body, Content_Type="text/html; charset=utf-8")

    return respond


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    async with HttpClient(quick(total_timeout=5.0, read_timeout=5.0, max_concurrent_per_host=4)) as client:
        yield client


async def test_the_address_of_a_feed_is_the_feed(http: HttpClient) -> None:
    async with serve(pages({"/rss?x=1": FEED})) as server:
        found = await discover(http, server.url("/rss?x=1"))
    assert found.how == "is_feed"
    assert (found.url, found.title) == (server.url("/rss?x=1"), "Harbor Ledger")
    assert server.targets == ["/rss?x=1"]


async def test_what_the_page_announces_is_taken_and_comments_come_last(http: HttpClient) -> None:
    page = """<!doctype html><html><head><title>x</title>
      <LINK REL='Alternate' TYPE='application/rss+xml' TITLE='Comments' HREF='/comments/feed'>
      <link rel="alternate" type="text/html" hreflang="de" href="/de">
      <link rel=alternate type=application/atom+xml href="news/atom?a=1&amp;b=2" title="News &amp; more">
      <link rel="alternate" type="application/json" href="/wp-json/wp/v2/pages/2">
      </head></html>"""
    async with serve(
        pages({"/blog/": page, "/blog/news/atom?a=1&b=2": ATOM, "/comments/feed": FEED})
    ) as server:
        found = await discover(http, server.url("/blog/"))
    assert found.how == "announced"
    assert found.url == server.url("/blog/news/atom?a=1&b=2")
    assert found.title == "Atom Ledger"
    assert found.others == (server.url("/comments/feed"),)


async def test_an_announced_feed_that_is_none_gives_way_to_the_next(http: HttpClient) -> None:
    page = (
        '<link rel="alternate" type="application/rss+xml" href="/gone">'
        '<link rel="alternate" type="application/rss+xml" href="/page">'
        '<link rel="alternate" type="application/rss+xml" href="/right">'
    )
    async with serve(pages({"/": page, "/page": "<html>no</html>", "/right": FEED})) as server:
        found = await discover(http, server.url("/"))
    assert found.url == server.url("/right")


async def test_without_an_announcement_the_common_paths_are_tried(http: HttpClient) -> None:
    async with serve(pages({"/blog": "<html></html>", "/atom.xml": ATOM})) as server:
        found = await discover(http, server.url("/blog"))
        assert found.how == "common_path"
        assert found.url == server.url("/atom.xml")
        assert "/blog/feed" in server.targets


async def test_a_permanent_redirect_gives_the_new_address_and_a_page_is_searched_where_it_lies(
    http: HttpClient,
) -> None:
    content: dict[str, str | bytes] = {
        "/old": "-> /new",
        "/new": FEED,
        "/home": "-> /site/",
        "/site/": '<link rel="alternate" type="application/rss+xml" href="feed.xml">',
        "/site/feed.xml": FEED,
    }
    async with serve(pages(content)) as server:
        assert (await discover(http, server.url("/old"))).url == server.url("/new")
        assert (await discover(http, server.url("/home"))).url == server.url("/site/feed.xml")


async def test_a_site_without_a_feed_says_what_was_tried_and_what_to_do(http: HttpClient) -> None:
    async with serve(pages({"/": "<html></html>"})) as server:
        with pytest.raises(NoFeedFound, match="Give the feed's own address") as refused:
            await discover(http, server.url("/"))
    assert refused.value.field == "site"
    assert len(server.targets) == 1 + len(COMMON_PATHS)
    assert len(refused.value.tried) == 1 + len(COMMON_PATHS)


def test_what_a_page_has_in_comments_and_scripts_is_not_announced() -> None:
    link = '<link rel="alternate" type="application/rss+xml" href="/{}">'
    page = f"<!-- {link.format('old')} --><script>'{link.format('js')}'</script>{link.format('new')}"
    assert announced_feeds(page, "https://a.example/") == ["https://a.example/new"]


async def test_a_page_with_a_thousand_announcements_costs_few_requests(http: HttpClient) -> None:
    page = "".join(f'<link rel=alternate type=application/rss+xml href="/{n}">' for n in range(1000))
    async with serve(pages({"/": page})) as server:
        with pytest.raises(NoFeedFound):
            await discover(http, server.url("/"))
    assert len(server.targets) <= MOST_REQUESTS


async def test_a_site_that_does_not_answer_is_a_failed_fetch(http: HttpClient) -> None:
    async with serve(pages({})) as server:
        with pytest.raises(FetchError) as failed:
            await discover(http, server.url("/nothing"))
    assert failed.value.cause is FetchCause.NOT_FOUND


async def test_without_a_scheme_https_is_tried_before_http(http: HttpClient) -> None:
    async with serve(pages({"/feed": FEED})) as server:
        found = await discover(http, f"127.0.0.1:{server.port}/feed")
    assert found.url == server.url("/feed")


async def test_an_address_that_the_guard_refuses_is_not_asked_also_when_a_page_announces_it() -> None:
    page = '<link rel=alternate type=application/rss+xml href="http://169.254.169.254/latest/meta-data">'
    async with HttpClient(quick()) as http:
        with pytest.raises(FetchError) as refused:
            await discover(http, "http://10.0.0.1/feed")
        assert refused.value.cause is FetchCause.BLOCKED_ADDRESS
        async with serve(pages({"/": page})) as server:
            with pytest.raises(NoFeedFound) as none:
                await discover(http, server.url("/"))
    assert any("blocked_address" in outcome for _, outcome in none.value.tried)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ftp://a.example/",
        "https://",
        "mailto:a@b.example",
        "https://u:p@a.example/",
        "a b",
        "file:///etc/passwd",
    ],
)
async def test_what_is_no_web_address_is_refused_without_asking(http: HttpClient, address: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await discover(http, address)
    assert refused.value.field == "site"


def test_base_and_relations_are_read_as_html_has_them() -> None:
    page = """<base href="https://cdn.example/x/"><link rel="feed" href="y">
      <link rel="alternate stylesheet" type="application/rss+xml" href="z.css">
      <link rel="alternate" type="application/rss+xml; charset=utf-8" href="y">
      <link rel="alternate" type="application/rss+xml" href="javascript:alert(1)">
      <link rel="alternate" type="application/rss+xml" href="">
      <link rel=alternate type=application/atom+xml href=/blog/feed/>
      <link rel="shortcut icon" type="image/png" href="i.png">"""
    found = ["https://cdn.example/x/y", "https://cdn.example/blog/feed/"]
    assert announced_feeds(page, "https://a.example/") == found


@pytest.mark.parametrize(
    "page", ["<link " * 100_000, '<link a="' * 60_000, "<link" + " " * 500_000, "<!--" * 125_000]
)
def test_a_hostile_page_is_searched_in_bounded_time(page: str) -> None:
    assert announced_feeds(page, "https://a.example/") == []
