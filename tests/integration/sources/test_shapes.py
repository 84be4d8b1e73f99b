"""Shapes of real feeds that break readers, polled over HTTP and stored: what the table holds afterwards.

What a parser alone can get right or wrong is in tests/unit/feeds/test_shapes.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aws_lambda_powertools import Logger, Metrics
from boto3.dynamodb.conditions import Key

from sourcebook.clock import isoformat
from sourcebook.events import FetchRequested, read_message
from sourcebook.feeds.model import MOST_SKIPPED
from sourcebook.records.source import Source
from sourcebook.sources.model import SourceSpec
from sourcebook.sources.poll import PollResult, RoundReport
from sourcebook.sources.read import FeedReader
from sourcebook.sources.report import log_round, measure_round
from sourcebook.table.client import Table
from tests.incoming import stored_articles
from tests.integration.sources.site import Page, Site, serve_site
from tests.integration.sources.test_round import Stack
from tests.unit.feeds.documents import rss

STAMP = "<pubDate>Fri, 27 Nov 2026 09:56:07 GMT</pubDate>"
TEXT = "<description>The ferry to the island was cancelled this morning.</description>"
TODAY = datetime(2026, 11, 27, 12, tzinfo=UTC)


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_site() as site:
        yield site


class Feed:
    """One feed of the site, in a stack of its own."""

    def __init__(self, table: Table, site: Site, source_id: str = "harbor") -> None:
        self.site = site
        self.stack = Stack(table)
        self.stack.now = TODAY
        self.source_id = source_id
        self.stack.registry.register(SourceSpec(source_id=source_id, url=f"{site.url}/feed"))

    def poll(self, body: bytes = b"", status: int = 200, after: float = 1, **headers: str) -> PollResult:
        """Serve this page, turn the clock by some hours, and poll whatever is due."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.site.pages["/feed"] = Page(body, status, named)
        return self.poll_again(after)

    def poll_again(self, after: float = 1) -> PollResult:
        [poll] = self.round(after).polls
        return poll.result

    def round(self, after: float = 1) -> RoundReport:
        self.stack.now += timedelta(hours=after)
        self.stack.dispatch()
        [body] = self.stack.received(self.stack.fetch_queue)
        self.stack.requests.clear()
        report = self.stack.fetch(read_message(FetchRequested, body))
        assert not report.failures
        return report

    def report(self, body: bytes) -> RoundReport:
        """Serve this page, and return all that the next round tells."""
        self.site.pages["/feed"] = Page(body)
        return self.round()

    @property
    def state(self) -> Source:
        source = self.stack.registry.get(self.source_id)
        assert source is not None
        return source

    def articles(self) -> list[dict[str, Any]]:
        return sorted(stored_articles(self.stack.table), key=lambda item: str(item["headline"]))

    def words(self) -> list[dict[str, Any]]:
        """Return the feed's own word on each of its articles."""
        return [item["source_attribution"][self.source_id] for item in self.articles()]


@pytest.fixture
def feed(table: Table, site: Site) -> Feed:
    return Feed(table, site)


def story(title: str, guid: str, *more: str) -> str:
    return f"<title>{title}</title><guid>{guid}</guid>{''.join(more)}"


def slugged(title: str, *more: str) -> str:
    """Return an item whose guid is its link, made of its headline."""
    return story(title, f"https://news.example/2026/{title.lower().replace(' ', '-')}", *more)


@pytest.mark.parametrize(
    "link", ["mailto:a@news.example", "https://a:b@news.example/1", "https://news.example/\u200b1"]
)
def test_an_entry_whose_link_leads_to_no_page_has_that_of_its_feed(feed: Feed, link: str) -> None:
    result = feed.poll(rss(f"<title>Pier itâ€™s open</title><link>{link}</link>"))
    assert (result.created, result.rejected) == (1, ())
    [article] = feed.articles()
    assert article["source_attribution"][feed.source_id]["url"] == "https://news.example/"
    assert article["headline"] == "Pier it’s open"


def test_one_guid_on_ten_items_is_ten_articles(feed: Feed) -> None:
    numbers = "one two three four five six seven eight nine ten".split()
    items = [story(f"Pier {n} opens", "same", f"<link>https://news.example/{n}</link>") for n in numbers]
    assert feed.poll(rss(*items)).created == 10
    assert len({word["article_id"] for word in feed.words()}) == 10
    assert feed.poll(rss(*items, channel="<ttl>5</ttl>")).cause == "no_new_entries"


@pytest.mark.parametrize("text", [TEXT, ""], ids=["with a text", "without"])
def test_an_edit_that_changes_guid_and_link_with_the_headline_is_one_article(feed: Feed, text: str) -> None:
    other = slugged("Calm sea", "<pubDate>Fri, 27 Nov 2026 07:12:44 GMT</pubDate>")
    assert feed.poll(rss(slugged("Island ferry late", STAMP, text), other)).created == 2
    [_, before] = feed.words()
    edited = feed.poll(rss(slugged("Island ferry cancelled", STAMP, text), other))
    assert (edited.created, edited.updated, edited.fresh) == (0, 1, 1)
    [_, word] = feed.words()
    assert word["original_headline"] == "Island ferry cancelled"
    assert word["url"] == "https://news.example/2026/island-ferry-cancelled"
    assert word["article_id"] == before["article_id"]
    assert word["crawl_timestamp"] == before["crawl_timestamp"]
    back = feed.poll(rss(slugged("Island ferry late", STAMP, text), other))
    assert (back.created, back.updated) == (0, 1)
    assert [item["headline"] for item in feed.articles()] == ["Calm sea", "Island ferry late"]


def test_an_edited_entry_costs_no_request_once_it_was_taken_in(feed: Feed) -> None:
    feed.poll(rss(slugged("Ferry late", STAMP, TEXT)))
    feed.poll(rss(slugged("Ferry off", STAMP, TEXT)))
    unchanged = feed.poll(rss(slugged("Ferry off", STAMP, TEXT), channel="<ttl>5</ttl>"))
    assert unchanged.cause == "no_new_entries"
    assert feed.stack.writes == 1
    assert feed.stack.requests["PutItem"] == 0


def test_a_second_story_of_the_same_minute_stays_a_second_article(feed: Feed) -> None:
    feed.poll(rss(slugged("Ferry late", STAMP, TEXT)))
    text = "<description>The lighthouse is closed for repairs this week.</description>"
    assert feed.poll(rss(slugged("Lighthouse closed", STAMP, text))).created == 1
    assert len(feed.articles()) == 2


def test_without_a_guid_the_link_is_the_id(feed: Feed) -> None:
    link = "<link>https://news.example/1</link>"
    feed.poll(rss(f"<title>Ferry late</title>{link}{STAMP}"))
    assert feed.poll(rss(f"<title>Ferry off</title>{link}{STAMP}")).updated == 1
    [word] = feed.words()
    assert (word["article_id"], word["original_headline"]) == ("https://news.example/1", "Ferry off")


def test_an_item_without_id_and_link_is_an_article_with_the_link_of_its_feed(feed: Feed) -> None:
    result = feed.poll(rss("<title>Lost</title><description>x</description>", slugged("Ferry late")))
    assert (result.created, result.rejected) == (2, ())
    assert {word["url"] for word in feed.words() if word["original_headline"] == "Lost"} == {
        "https://news.example/"
    }


def test_a_feed_whose_items_are_all_left_out_says_so(feed: Feed) -> None:
    result = feed.poll(rss("<pubDate>1 Nov 2023 08:00:00 GMT</pubDate>"))
    assert (result.entries, [r.reason for r in result.rejected]) == (0, ["it has neither a title nor a text"])
    history = feed.stack.table.query_all(Key("PK").eq("SOURCE#harbor") & Key("SK").begins_with("FETCH#"))
    assert [item["rejections"] for item in history] == [["entry 0: it has neither a title nor a text"]]


def test_content_that_carries_the_time_of_day_is_no_endless_update(feed: Feed) -> None:
    feed.poll(rss(slugged("Ferry late", "<description>As of 09:56:07 GMT: no ferry.</description>")))
    again = feed.poll(rss(slugged("Ferry late", "<description>As of 10:56:08 GMT: no ferry.</description>")))
    assert (again.cause, feed.stack.writes) == ("no_new_entries", 1)


def test_a_new_etag_beside_the_same_date_is_kept_with_it(feed: Feed) -> None:
    date = "Fri, 27 Nov 2026 08:00:00 GMT"
    feed.poll(rss(slugged("Ferry late")), ETag='"a"', Last_Modified=date)
    feed.poll(rss(slugged("Ferry late"), slugged("Ferry off")), ETag='"b"', Last_Modified=date)
    assert (feed.state.etag, feed.state.last_modified) == ('"b"', date)
    assert feed.poll_again().cause == "not_modified"
    assert feed.site.asked[-1]["if-none-match"] == '"b"'
    assert feed.site.asked[-1]["if-modified-since"] == date


def test_a_last_modified_in_the_future_is_left_out_once_a_day(feed: Feed) -> None:
    feed.poll(rss(slugged("Ferry late")), ETag='"a"', Last_Modified="Sun, 27 Nov 2033 08:00:00 GMT")
    assert feed.poll_again(after=2).cause == "not_modified"
    assert feed.poll_again(after=30).cause == "same_body"
    assert "if-none-match" not in feed.site.asked[-1]
    assert "if-modified-since" not in feed.site.asked[-1]


def test_a_redirect_to_a_portal_never_replaces_the_address(feed: Feed) -> None:
    feed.poll(rss(slugged("Ferry late")))
    feed.site.pages["/portal"] = Page(
        b"<html><title>Log in</title></html>", headers={"Content-Type": "text/html"}
    )
    for _ in range(7):
        assert feed.poll(status=301, Location="/portal").cause == "html_page"
    assert feed.state.url == f"{feed.site.url}/feed"
    assert feed.poll(rss(slugged("Ferry late"))).cause in {"ok", "same_body"}


def test_a_feed_that_moved_for_good_is_followed_and_the_old_address_kept(feed: Feed) -> None:
    feed.site.pages["/new"] = Page(rss(slugged("Ferry late")))
    for _ in range(5):
        feed.poll(status=308, Location="/new")
    assert (feed.state.url, feed.state.previous_url) == (f"{feed.site.url}/new", f"{feed.site.url}/feed")


def test_a_failing_feed_is_probed_more_slowly_but_never_given_up(feed: Feed) -> None:
    for _ in range(10):
        assert feed.poll(status=404, after=2).cause == "not_found"
    assert feed.state.enabled is False
    assert feed.state.next_fetch_time > feed.stack.now
    assert feed.poll(rss(slugged("Ferry late")), after=24 * 8).created == 1
    assert feed.state.enabled is True


def test_a_503_makes_its_own_host_wait_and_no_other(table: Table, site: Site) -> None:
    feed = Feed(table, site)
    registry = feed.stack.registry
    registry.register(SourceSpec(source_id="neighbour", url=f"{site.url}/other"))
    elsewhere = site.url.replace("127.0.0.1", "127.0.0.2")
    registry.register(SourceSpec(source_id="elsewhere", url=f"{elsewhere}/other"))
    site.pages |= {
        "/feed": Page(status=503, headers={"Retry-After": "7200"}),
        "/other": Page(rss(slugged("Ferry late"))),
    }
    feed.stack.now += timedelta(hours=1)
    causes = {p.source_id: p.result.cause for report in feed.stack.round() for p in report.polls}
    # The server listens on 127.0.0.1 only: the other host is asked, and does not answer.
    assert causes == {"harbor": "server_error", "neighbour": "host_busy", "elsewhere": "connect"}
    waiting = registry.get("neighbour")
    assert waiting is not None
    assert (waiting.consecutive_errors, waiting.next_fetch_time) == (0, feed.stack.now + timedelta(hours=2))


@pytest.mark.parametrize("status", [202, 403])
def test_a_challenge_page_is_named_and_harms_nothing_that_was_learned(feed: Feed, status: int) -> None:
    feed.poll(rss(slugged("Ferry late")), ETag='"a"')
    page = b"<html><script src='/cdn-cgi/challenge-platform/x.js'></script>Just a moment...</html>"
    assert feed.poll(page, status, after=2, Content_Type="text/html", ETag='"b"').cause == "challenged"
    assert (feed.state.last_cause, feed.state.etag) == ("challenged", '"a"')
    history = feed.stack.table.query(Key("PK").eq("SOURCE#harbor") & Key("SK").begins_with("FETCH#"))
    assert [item["cause"] for item in history.items] == ["ok", "challenged"]


def test_a_missing_date_is_the_time_of_first_sight_for_good(feed: Feed) -> None:
    feed.poll(rss(slugged("Ferry late")))
    seen = isoformat(feed.stack.now)
    [first] = feed.articles()
    feed.poll(rss(slugged("Ferry late", TEXT)))
    [later] = feed.articles()
    assert first["timestamp"] == later["timestamp"] == seen
    [word] = feed.words()
    assert word["published_at"] == seen


def test_a_date_in_the_future_is_kept_and_orders_by_the_time_it_was_seen(feed: Feed) -> None:
    feed.poll(rss(slugged("Ferry late", "<pubDate>Fri, 01 Jan 2100 00:00:00 GMT</pubDate>")))
    [article], [word] = feed.articles(), feed.words()
    assert article["timestamp"] == isoformat(feed.stack.now)
    assert word["published_at"] == "2100-01-01T00:00:00Z"


def test_a_feed_that_was_given_no_name_takes_its_own_title(feed: Feed) -> None:
    feed.poll(rss(story("One", "1")))
    assert (feed.state.name, feed.state.title) == ("", "Harbour News")
    feed.poll(rss(story("Two", "2")).replace(b"Harbour News", b"Harbour &amp; Sea " + b"x" * 300))
    assert feed.state.title == f"Harbour & Sea {'x' * 186}"
    feed.stack.registry.change("harbor", {"name": "Mine"})
    feed.poll(rss(story("Three", "3")))
    assert feed.state.shown_name == "Mine"


def test_what_is_left_out_has_its_reason_in_history_log_and_metric(
    feed: Feed,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Sourcebook")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "fetch_sources")
    empty = [f"<guid>{n}</guid>" for n in range(MOST_SKIPPED + 7)]
    late = "<pubDate>Fri, 27 Nov 2026 09:56:07 XQZT</pubDate>"
    report = feed.report(
        rss(*empty, story("No such zone", "late", late), "<link>https://news.example/1</link>")
    )
    [poll] = report.polls
    assert (poll.result.entries, poll.result.created) == (1, 1)
    page = FeedReader(feed.stack.table).history("harbor", limit=5)
    assert page is not None
    [fetch] = page.items
    assert (fetch["rejected"], fetch["dropped"]) == (MOST_SKIPPED, {"skipped": 8})
    assert fetch["rejections"][0] == "entry 0: it has neither a title nor a text"
    [warning] = fetch["warnings"]
    assert warning.endswith(f"of item {len(empty)} cannot be read: nobody knows its zone")
    log_round(report, Logger(service="fetch_sources", level="INFO"))
    logged = {record.message: vars(record) for record in caplog.records}
    assert logged["rows_dropped"]["skipped"] == 8
    assert logged["entry_rejected"]["reason"] == "it has neither a title nor a text"
    assert logged["document_in_doubt"]["reasons"] == tuple(fetch["warnings"])
    metrics = Metrics()
    measure_round(report, metrics)
    metrics.flush_metrics()
    [line] = [line for line in capsys.readouterr().out.splitlines() if "articles_rejected_total" in line]
    assert json.loads(line)["articles_rejected_total"] == [float(MOST_SKIPPED + 8)]


def test_a_document_of_nothing_but_empty_items_is_reported(feed: Feed) -> None:
    """Nothing new was found, and that is not all there is to say."""
    feed.poll(rss(story("One", "1")))
    feed.poll(rss("<guid>2</guid>"), after=2)
    page = FeedReader(feed.stack.table).history("harbor", limit=5)
    assert page is not None
    assert [(fetch["cause"], fetch["rejected"]) for fetch in page.items] == [("no_new_entries", 1), ("ok", 0)]


def test_the_average_counts_every_fetch_and_every_article(feed: Feed) -> None:
    feed.poll(rss(story("One", "1"), story("Two", "2"), story("Three", "3")))
    feed.poll_again()
    served = FeedReader(feed.stack.table).get("harbor")
    assert served is not None
    assert (served["fetch_count"], served["avg_articles_per_fetch"]) == (2, 1.5)


def test_a_failed_fetch_has_its_duration(feed: Feed) -> None:
    failed = feed.poll(b"", 503)
    assert failed.cause == "server_error"
    assert failed.fetch_seconds is not None
    assert failed.fetch_seconds > 0
