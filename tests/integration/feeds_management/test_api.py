"""The operations that change feeds, as API Gateway calls them."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any, cast

import pytest

from sourcebook.api import feeds as managed
from sourcebook.api.access import AccessControl
from sourcebook.api.parts import Services, routes
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from sourcebook.feeds.manage import FeedManager
from sourcebook.feeds.opml import parse_opml, source_id_for
from sourcebook.feeds.settings import FeedSettings
from sourcebook.records.base import shown_names
from sourcebook.records.source import Source
from sourcebook.table import keys
from sourcebook.table.client import Table

pytestmark = pytest.mark.integration

URL = "https://ledger.example/feed.xml"
ID = source_id_for(URL)
FEED = (
    b'<rss version="2.0"><channel><title>Harbor Ledger</title><item><title>a</title></item></channel></rss>'
)


@dataclass
class Log:
    lines: list[dict[str, Any]] = field(default_factory=list)

    def info(self, msg: str, *, extra: Any) -> None:
        self.lines.append({"message": msg, **extra})

    def error(self, msg: str, *, exc_info: BaseException, extra: Any) -> None:
        raise AssertionError(f"{msg}: {extra}") from exc_info


@dataclass
class Client:
    """Calls the API's operations for feeds; nothing else of the API is there."""

    api: Api
    log: Log = field(default_factory=Log)

    def __call__(
        self, route: str, body: object = None, query: str = "", **path: str
    ) -> tuple[int, dict[str, str], Any]:
        method, _, template = route.partition(" ")
        event = {
            "version": "2.0",
            "routeKey": f"{method} /iam{template}",
            "rawQueryString": query,
            "headers": {},
            "pathParameters": path,
            "requestContext": {"requestId": "r-1", "authorizer": {"iam": {"userArn": "arn:ada"}}},
            "body": body if isinstance(body, str) else None if body is None else json.dumps(body),
            "isBase64Encoded": False,
        }
        return self.send(event)

    def send(self, event: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        answer = self.api.answer(event, self.log)
        text = answer["body"]
        is_json = "json" in answer["headers"]["content-type"]
        return answer["statusCode"], answer["headers"], json.loads(text) if is_json else text


@pytest.fixture
def client_of_api(table: Table) -> Client:
    nothing = cast("Any", None)
    manager = FeedManager(
        table, parallel=1, policy=lambda: FeedSettings().http_policy(allowed_networks="127.0.0.0/8")
    )
    return Client(Api(AccessControl(nothing, public_read=False), nothing, over(table, manager)))


def over(table: Table, manager: FeedManager) -> Services:
    nothing = cast("Any", None)
    return Services(
        table=table,
        start=nothing,
        workflows=(),
        objects=nothing,
        environ={},
        made={managed.manager: manager},
    )


@pytest.fixture
def call(client_of_api: Client) -> Client:
    return client_of_api


def test_a_feed_is_added_once_and_served_at_its_location(call: Client) -> None:
    status, headers, created = call("POST /feeds", {"url": URL, "priority": 3, "name": "Ledger"})
    assert (status, created["created"], created["feed_id"]) == (201, True, ID)
    assert headers["location"] == f"/feeds/{ID}"
    assert set(created) == {
        *("feed_id", "health", "created", "publications_by_hour", "avg_articles_per_fetch"),
        *(name for name in shown_names(Source) if name != "source_id"),
    }
    status, _, again = call("POST /feeds", {"url": URL})
    assert (status, again) == (200, created | {"created": False})
    status, _, served = call("GET /feeds/{feed_id}", feed_id=ID)
    assert (status, served["name"], served["priority"]) == (200, "Ledger", 3)


def test_a_site_is_asked_for_its_feed(call: Client, site: Callable[[dict[str, bytes]], str]) -> None:
    page = (
        b'<link rel="alternate" type="application/rss+xml" href="/news.xml">'
        b'<link rel="alternate" type="application/rss+xml" href="/sport.xml">'
    )
    pages = {"/": page, "/news.xml": FEED}
    address = site(pages)
    status, _, added = call("POST /feeds", {"site": f"{address}/", "tags": ["ports"]})
    assert status == 201
    assert (added["url"], added["name"], added["tags"]) == (f"{address}/news.xml", "Harbor Ledger", ["ports"])
    assert added["found"] == {"how": "announced", "others": [f"{address}/sport.xml"]}
    pages["/news.xml"] = FEED.replace(b"Harbor Ledger", b"New name")
    status, _, again = call("POST /feeds", {"site": f"{address}/"})
    assert (status, again["created"], again["name"]) == (200, False, "Harbor Ledger")


def test_a_site_without_a_feed_or_an_answer_is_the_clients_to_mend(
    call: Client, site: Callable[[dict[str, bytes]], str]
) -> None:
    address = site({"/": b"<html></html>"})
    for wrong in (f"{address}/", f"{address}/none", "http://10.0.0.1/", "ftp://a.example/", "", 5):
        status, headers, problem = call("POST /feeds", {"site": wrong})
        assert (status, problem["parameter"]) == (400, "site")
        assert headers["content-type"] == "application/problem+json"


def test_wrong_requests_are_refused_by_field(call: Client) -> None:
    for body, parameter in (
        ("not json", "body"),
        ([], "body"),
        ({}, "url"),
        ({"url": URL, "site": URL}, "url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"url": URL, "priority": 10_000}, "priority"),
        ({"url": URL, "enbaled": True}, "enbaled"),
        ({"site": URL, "priority": "x"}, "priority"),
    ):
        status, _, problem = call("POST /feeds", body)
        assert (status, problem["parameter"], problem["title"]) == (400, parameter, "Bad Request")
        assert "expected" in problem["detail"]
    assert call("POST /feeds", {"url": URL}, query="dry_run=1")[0] == 400


def test_a_contradiction_is_a_conflict_that_says_what_to_do(call: Client) -> None:
    call("POST /feeds", {"url": URL, "priority": 3})
    status, headers, problem = call("POST /feeds", {"url": URL, "priority": 4})
    assert (status, problem["title"], problem["parameter"]) == (409, "Conflict", "priority")
    assert headers["content-type"] == "application/problem+json"
    assert "change it instead" in problem["detail"]
    assert call("POST /feeds", {"url": "https://other.example/", "feed_id": ID})[0] == 409


def test_a_feed_is_changed_in_part(call: Client) -> None:
    call("POST /feeds", {"url": URL})
    status, _, changed = call("PATCH /feeds/{feed_id}", {"enabled": False, "priority": 1}, feed_id=ID)
    assert (status, changed["health"], changed["priority"]) == (200, "disabled", 1)
    assert call("GET /feeds", query="health=disabled")[2]["items"] == [changed]
    status, _, changed = call("PATCH /feeds/{feed_id}", {"enabled": True}, feed_id=ID)
    assert (status, changed["health"], changed["priority"]) == (200, "new", 1)
    for body, parameter in (({}, "body"), ({"url": "ftp://a"}, "url"), ({"enabled": "no"}, "enabled")):
        status, _, problem = call("PATCH /feeds/{feed_id}", body, feed_id=ID)
        assert (status, problem["parameter"]) == (400, parameter)


def test_a_feeds_schedule_is_explained_by_the_settings_of_the_deployment(
    call: Client, client_of_api: Client, table: Table
) -> None:
    call("POST /feeds", {"url": URL})
    polled = {"fetch_count": 9, "last_success_at": "2026-11-27T12:00:00Z", "rate": Decimal(30)}
    table.update(keys.source(ID), assign={**polled, "last_fetch_at": "2026-11-27T12:00:00Z"})
    deployed = FeedSettings(target_articles_per_fetch=2, max_refresh_interval_minutes=30)
    services = over(table, FeedManager(table, settings=deployed))
    here = Client(dataclasses.replace(client_of_api.api, services=services))
    status, _, explained = here("GET /feeds/{feed_id}/schedule", feed_id=ID)
    assert status == 200
    assert "2 more are expected within 4 minutes" in " ".join(explained["reasons"])
    assert explained["settings"] == dataclasses.asdict(deployed)
    assert explained["next_fetch_time"] == call("GET /feeds/{feed_id}", feed_id=ID)[2]["next_fetch_time"]
    for nobody in ("nobody", "Not an id"):
        assert call("GET /feeds/{feed_id}/schedule", feed_id=nobody)[0] == 404


def test_a_feed_is_deleted_once(call: Client) -> None:
    call("POST /feeds", {"url": URL})
    status, _, answer = call("DELETE /feeds/{feed_id}", feed_id=ID)
    assert (status, answer) == (200, {"feed_id": ID, "deleted": True})
    assert call("DELETE /feeds/{feed_id}", feed_id=ID)[0] == 404
    assert call("GET /feeds/{feed_id}", feed_id=ID)[0] == 404


@pytest.mark.parametrize("feed_id", ["nobody", "x" * 3000, "a#b", ""])
def test_what_is_no_feed_is_not_found(call: Client, feed_id: str) -> None:
    assert call("PATCH /feeds/{feed_id}", {"priority": 1}, feed_id=feed_id)[0] == 404
    assert call("DELETE /feeds/{feed_id}", feed_id=feed_id)[0] == 404


def test_a_list_goes_in_and_comes_out(call: Client) -> None:
    document = (
        f'<opml version="1.0"><body><outline text="R & D"><outline text="Ledger" xmlUrl="{URL}"/></outline>\n'
        '<outline text="bad" xmlUrl="mailto:x"/></body></opml>'
    )
    status, _, report = call("POST /feeds/import", document)
    assert status == 200
    assert (report["added"], report["known"], report["problem_count"]) == ([ID], [], 1)
    assert report["problems"][0]["line"] == 2
    assert "mailto:x" in report["problems"][0]["message"]
    assert call("POST /feeds/import", document)[2]["known"] == [ID]

    status, headers, text = call("GET /feeds.opml")
    assert (status, headers["content-type"]) == (200, "text/x-opml; charset=utf-8")
    (feed,) = parse_opml(text).feeds
    assert (feed.url, feed.feed_id, feed.tags) == (URL, ID, ("r & d",))
    assert '<opml version="1.0">' in call("GET /feeds.opml", query="version=1.0")[2]
    assert call("GET /feeds.opml", query="version=3")[0] == 400


def test_a_list_may_come_in_base64_as_the_gateway_sends_what_it_takes_for_binary(call: Client) -> None:
    document = f'<opml><body><outline text="Müller" xmlUrl="{URL}"/></body></opml>'
    event = {
        "routeKey": "POST /iam/feeds/import",
        "requestContext": {"authorizer": {"iam": {"userArn": "arn:ada"}}},
        "body": base64.b64encode(document.encode()).decode(),
        "isBase64Encoded": True,
    }
    assert call.send(event)[2]["added"] == [ID]


@pytest.mark.parametrize("body", ["", "<rss/>", "{}"])
def test_what_is_no_list_is_refused(call: Client, body: str) -> None:
    status, _, problem = call("POST /feeds/import", body)
    assert status == 400
    assert problem["parameter"] in {"body", "opml"}


def test_a_list_that_does_not_fit_an_answer_says_how_else_to_get_it(
    call: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("POST /feeds", {"url": URL})
    monkeypatch.setattr(managed, "LARGEST_EXPORT", 100)
    status, _, problem = call("GET /feeds.opml")
    assert status == 409
    assert "sourcebook feeds export" in problem["detail"]


def test_every_operation_has_its_route() -> None:
    assert {
        "POST /feeds",
        "PATCH /feeds/{feed_id}",
        "DELETE /feeds/{feed_id}",
        "POST /feeds/import",
        "GET /feeds.opml",
    } <= set(routes("feeds"))


@pytest.mark.parametrize(
    ("scope", "shown"),
    [("", "key=…&format=…&…"), ("read", "key=…&format=…&…"), ("write", "key=s3cret&format=rss&x")],
)
def test_the_query_of_an_address_is_whole_for_tokens_that_may_write(
    client_of_api: Client, table: Table, scope: str, shown: str
) -> None:
    added = client_of_api("POST /feeds", {"url": "https://private.example/a?key=s3cret&format=rss&x"})[2]
    assert added["url"].endswith("?key=s3cret&format=rss&x")
    table.update(
        keys.source(added["feed_id"]), assign={"previous_url": "https://old.example/?key=s3cret&format=rss&x"}
    )
    tokens = TokenStore(table)
    text = tokens.create("a test", [scope], timedelta(hours=1))[1] if scope else ""
    api = dataclasses.replace(client_of_api.api, access=AccessControl(tokens, public_read=True))
    headers = {"authorization": f"Bearer {text}"} if text else {}

    def get(path: str, **variables: str) -> Any:
        event = {"routeKey": f"GET {path}", "pathParameters": variables, "headers": headers}
        return Client(api).send(event)[2]

    feed = get("/feeds/{feed_id}", feed_id=added["feed_id"])
    assert feed["url"] == f"https://private.example/a?{shown}"
    assert feed["previous_url"] == f"https://old.example/?{shown}"
    assert get("/feeds")["items"] == [feed]
    assert get("/sources")["items"][0]["url"] == feed["url"]
    assert [listed.url for listed in parse_opml(get("/feeds.opml")).feeds] == [feed["url"]]
