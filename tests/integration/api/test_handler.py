"""The function, called with events as API Gateway makes them."""

from __future__ import annotations

import base64
import gzip
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ConnectTimeoutError

from sourcebook.api.parts import operations
from sourcebook.api.tokens import TokenStore
from sourcebook.sentiment.subjects import SubjectRegistry, parse_subjects
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.integration.api.conftest import Call, Context, Log, event
from tests.unit.api.stored import article_item, put_article, put_source

pytestmark = pytest.mark.integration

START = datetime(2026, 11, 27, 21, 0, tzinfo=UTC)
DEDUP = "a948904f2f0f479b8f8197694b30184b"


@pytest.fixture
def stored(table: Table) -> None:
    put_article(table, article_item(DEDUP, START, status="analyzed", sentiment="positive", tags=("AAPL",)))
    for number in range(4):
        put_article(table, article_item(f"{number:032x}", START - timedelta(minutes=number + 1)))
    put_source(table, "harbor-ledger", "2026-11-27T22:00:00Z")
    put_source(table, "meridian-wire", "2026-11-27T22:01:00Z")


def test_health_answers_on_an_empty_deployment(call: Call) -> None:
    answer = call("/health")
    assert answer.status == 200
    assert answer.body["status"] == "healthy"
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.usefixtures("stored")
def test_articles_are_listed_newest_first_and_paged(call: Call) -> None:
    first = call("/articles", {"limit": 2})
    assert first.status == 200
    assert set(first.body) == {"items", "next_cursor"}
    assert [article["dedup_key"] for article in first.body["items"]] == [DEDUP, f"{0:032x}"]

    second = call("/articles", {"limit": 3, "cursor": first.body["next_cursor"]})
    assert [article["dedup_key"] for article in second.body["items"]] == [f"{n:032x}" for n in (1, 2, 3)]
    assert second.body["next_cursor"] is None


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 5),
        ("status=pending", 4),
        ("status=error", 0),
        ("sentiment=positive", 1),
        ("sentiment=positive&status=analyzed", 1),
        ("tag=AAPL", 1),
        ("tag=aapl", 0),
        ("since=2026-11-27T21:00:00Z", 1),
        ("since=2026-11-27T23:00:00+02:00", 1),
        ("until=2026-11-27T21:00:00Z", 4),
        ("since=2026-11-27T20:57:00Z&until=2026-11-27T20:59:00Z", 2),
        ("since=2026-11-27&until=2026-11-28", 5),
    ],
)
def test_filters_are_applied(call: Call, query: str, count: int) -> None:
    answer = call("/articles", query)
    assert answer.status == 200
    assert len(answer.body["items"]) == count


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("key", [DEDUP, f"dedup:{DEDUP}"])
def test_an_article_is_answered_by_its_key(call: Call, key: str) -> None:
    answer = call("/articles/{key+}", key=key)
    assert answer.status == 200
    assert answer.body["headline"] == f"Headline {DEDUP[-4:]}"
    assert answer.body["tags"] == ["AAPL"]


@pytest.mark.usefixtures("stored")
def test_feeds_are_listed_and_answered(call: Call) -> None:
    listed = call("/feeds", "limit=1&health=new")
    assert [feed["feed_id"] for feed in listed.body["items"]] == ["harbor-ledger"]
    rest = call("/feeds", {"limit": 5, "health": "new", "cursor": listed.body["next_cursor"]})
    assert [feed["feed_id"] for feed in rest.body["items"]] == ["meridian-wire"]

    one = call("/feeds/{feed_id}", feed_id="harbor-ledger")
    assert one.body == listed.body["items"][0]
    history = call("/feeds/{feed_id}/history", feed_id="harbor-ledger")
    assert history.body == {"items": [], "next_cursor": None}


@pytest.mark.parametrize(
    ("route", "query", "parameter"),
    [
        ("/health", "verbose=1", "verbose"),
        ("/articles", "status=done", "status"),
        ("/articles", "status=pending&status=error", "status"),
        ("/articles", "sentiment=happy", "sentiment"),
        ("/articles", "tag=", "tag"),
        ("/articles", "since=yesterday", "since"),
        ("/articles", "until=2026-11-27T10:00:00", "until"),
        ("/articles", "since=2026-11-28&until=2026-11-27", "until"),
        ("/articles", "limit=101", "limit"),
        ("/articles", "limit=many", "limit"),
        ("/articles", "cursor=abc", "cursor"),
        ("/articles", "cursor=", "cursor"),
        ("/articles", "sentimnet=positive", "sentimnet"),
        ("/articles", "Status=pending", "Status"),
        ("/articles/{key+}", "a=b", "a"),
        ("/feeds", "health=ill", "health"),
        ("/feeds", "limit=0", "limit"),
        ("/feeds", "cursor=abc", "cursor"),
        ("/feeds", "status=pending", "status"),
        ("/feeds/{feed_id}", "limit=1", "limit"),
        ("/feeds/{feed_id}/history", "limit=-1", "limit"),
        ("/feeds/{feed_id}/history", "cursor=abc", "cursor"),
        ("/feeds/{feed_id}/history", "since=2026-11-27", "since"),
    ],
)
@pytest.mark.usefixtures("stored")
def test_bad_input_is_a_problem_that_names_its_parameter(
    call: Call, route: str, query: str, parameter: str
) -> None:
    answer = call(route, query, key=DEDUP, feed_id="harbor-ledger")
    assert answer.status == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.body["parameter"] == parameter
    assert parameter in answer.body["detail"]
    assert answer.body["status"] == 400


@pytest.mark.parametrize(
    ("route", "path"),
    [
        ("/articles/{key+}", {"key": "0" * 32}),
        ("/articles/{key+}", {"key": "tiingo:1"}),
        ("/articles/{key+}", {"key": "nothing/like/a/key"}),
        ("/feeds/{feed_id}", {"feed_id": "nobody"}),
        ("/feeds/{feed_id}", {"feed_id": "No Such Feed"}),
        ("/feeds/{feed_id}/history", {"feed_id": "nobody"}),
        ("/nowhere", {}),
    ],
)
def test_unknown_ids_and_routes_are_not_found(call: Call, route: str, path: dict[str, str]) -> None:
    answer = call(route, **path)
    assert answer.status == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.body["title"] == "Not Found"
    assert answer.body["detail"]


def test_a_cursor_tampered_with_is_never_an_error_of_ours(call: Call, table: Table) -> None:
    for number in range(3):
        put_article(table, article_item(f"{number:032x}", START))
    for query in ({}, {"status": "pending"}, {"since": "2026-11-27"}):
        cursor = call("/articles", query | {"limit": 1}).body["next_cursor"]
        content = json.loads(base64.urlsafe_b64decode(cursor + "=="))
        for place, value in [
            (2, "1999-01-01T00:00:00Z"),
            (2, "~"),
            (2, "z" * 2000),
            (3, "x"),
            (3, "\ud800"),
            (2, {}),
        ]:
            tampered = [*content]
            tampered[place] = value
            text = base64.urlsafe_b64encode(json.dumps(tampered).encode()).decode().rstrip("=")
            assert call("/articles", query | {"cursor": text}).status in {200, 400}


@pytest.mark.usefixtures("stored")
def test_a_long_answer_is_compressed_for_those_who_take_it(call: Call) -> None:
    plain = call("/articles")
    packed = call("/articles", headers={"accept-encoding": "gzip, deflate"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.raw["isBase64Encoded"] is True
    assert json.loads(gzip.decompress(base64.b64decode(packed.raw["body"]))) == plain.body


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("route", "path"),
    [
        ("/articles/{key+}", {"key": DEDUP}),
        ("/articles", {}),
        ("/feeds/{feed_id}", {"feed_id": "harbor-ledger"}),
    ],
)
def test_what_the_client_has_is_not_sent_again(
    call: Call, table: Table, route: str, path: dict[str, str]
) -> None:
    first = call(route, **path)
    tag = first.headers["etag"]
    assert first.headers["cache-control"] == "no-cache"
    packed = call(route, headers={"accept-encoding": "gzip"}, **path)
    assert packed.headers["etag"] == tag, "it says the same, compressed or not"
    for known in (tag, tag.removeprefix("W/"), f'"x", {tag}', "*"):
        again = call(route, headers={"if-none-match": known}, **path)
        assert (again.status, again.raw["body"]) == (304, "")
        assert again.headers["etag"] == tag
        assert "content-type" not in again.headers
    for other in ('W/"x"', "", tag[:-2]):
        assert call(route, headers={"if-none-match": other}, **path).status == 200
    put_article(table, article_item(DEDUP, START, status="analyzed", sentiment="negative"))
    put_source(table, "harbor-ledger", "2026-11-27T23:00:00Z")
    changed = call(route, headers={"if-none-match": tag}, **path)
    assert changed.status == 200
    assert changed.headers["etag"] != tag


def test_what_is_another_one_each_time_or_an_error_has_no_tag(call: Call) -> None:
    for answer in (call("/health"), call("/feeds/{feed_id}", feed_id="nobody"), call("/articles", "limit=0")):
        assert "etag" not in answer.headers
        assert answer.headers["cache-control"] == "no-store"


def test_sentiment_from_the_cache_may_be_kept_until_it_is_stale(call: Call, table: Table) -> None:
    SubjectRegistry(table).register(parse_subjects([{"tool_id": "AAPL", "name": "Apple", "kind": "company"}]))
    route = "/api/v1/tools/{tool_id}/sentiment"
    for _ in range(2):
        fresh = call(route, "hours=24", tool_id="AAPL")
        kept = re.fullmatch(r"max-age=(\d+)", fresh.headers["cache-control"])
        assert kept is not None
        assert 1_700 <= int(kept[1]) <= 1_800
    assert fresh.body["is_cached"] is True
    # Counted for this request alone: nothing says how long that holds.
    assert call(route, "hours=5", tool_id="AAPL").headers["cache-control"] == "no-cache"
    key = keys.cache_entry("AAPL", "HOUR_24")
    table.update(key, assign={"last_updated_ts": fresh.body["last_updated_ts"] - 1_200})
    later = call(route, "hours=24", tool_id="AAPL").headers["cache-control"]
    assert int(later.partition("=")[2]) <= 600


def test_the_correlation_id_of_the_client_comes_back(call: Call) -> None:
    assert call("/health", headers={"x-correlation-id": "run-7"}).headers["x-correlation-id"] == "run-7"
    answer = call("/feeds/{feed_id}", feed_id="nobody")
    assert answer.headers["x-correlation-id"] == "JKJaXmPLvHcESHA="
    assert answer.body["correlation_id"] == "JKJaXmPLvHcESHA="


READING: dict[str, dict[str, str]] = {
    "/articles": {},
    "/articles/{key+}": {"key": DEDUP},
    "/feeds": {},
    "/feeds/{feed_id}": {"feed_id": "harbor-ledger"},
    "/feeds/{feed_id}/history": {"feed_id": "harbor-ledger"},
    "/api/v1/tools": {},
    "/api/v1/tools/{tool_id}/sentiment": {"tool_id": "AAPL"},
    "/api/v1/tools/{tool_id}/sentiment/series": {"tool_id": "AAPL"},
    "/api/v1/cache/health": {},
    "/job-runs": {},
    "/job-runs/{job_run_id}": {"job_run_id": "5a4fce02-3b02-4b5c-8d06-541d9f2d4f60"},
    "/novae/{nova_id}": {"nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6"},
    "/novae/{nova_id}/job-runs": {"nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6"},
    "/novae/{nova_id}/products": {"nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6"},
    "/novae/{nova_id}/products/{data_product_id}": {
        "nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6",
        "data_product_id": "2c7d1f4d-5b7a-4a4d-9f31-8d3b4fd0d4d9",
    },
    "/novae/{nova_id}/products/{data_product_id}/spectrum": {
        "nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6",
        "data_product_id": "2c7d1f4d-5b7a-4a4d-9f31-8d3b4fd0d4d9",
    },
    **{
        f"/novae/{{nova_id}}/products/{{data_product_id}}/spectrum.{suffix}": {
            "nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6",
            "data_product_id": "2c7d1f4d-5b7a-4a4d-9f31-8d3b4fd0d4d9",
        }
        for suffix in ("csv", "ecsv", "fits")
    },
    **{
        f"/novae/{{nova_id}}/photometry{suffix}": {"nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6"}
        for suffix in ("", ".csv", ".vot", ".aavso")
    },
    "/observations": {},
    "/sources": {},
    "/overviews/subjects": {},
    "/overviews/rates": {},
    "/overviews/sources": {},
    "/overviews/ingestion": {},
    "/feeds/{feed_id}/schedule": {"feed_id": "harbor-ledger"},
    "/banks": {},
    "/series": {},
    "/meta/latest": {},
    "/events": {},
    "/decisions": {},
    "/events/{event_id}": {"event_id": "b6c05a4122275387af829085f39c71d6"},
    "/articles.atom": {},
    "/articles.json": {},
    "/feeds.opml": {},
    "/quarantine": {},
    "/quarantine/{quarantine_id}": {"quarantine_id": "307cc500-9fea-55e4-b358-c8230275cf7e"},
    "/quarantine/{quarantine_id}/file": {"quarantine_id": "307cc500-9fea-55e4-b358-c8230275cf7e"},
    "/novae/{nova_id}/references": {"nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6"},
    "/alerts": {},
    "/alerts/{alert_id}/deliveries": {"alert_id": "0c1d2e3f4a5b6c7d"},
}


TRIED_ELSEWHERE = {"/history", "/latest", "/novae", "/health", "/overviews/moves", "/vo/cone", "/vo/ssa"}
"""Routes that answer 400 before they look at the table, or answer in another way when it does not."""
WITHOUT_THE_TABLE = {
    "/openapi.json",
    "/docs",
    "/workflows",
    "/overviews/dead-letters",
    "/exports",
    "/exports/{export_id}",
    "/exports/{export_id}/files/{name}",
    "/uploads/{upload_id}",
}


def test_every_reading_route_is_tried() -> None:
    reading = {operation.path for operation in operations() if operation.method == "GET"}
    assert {*READING} == reading - TRIED_ELSEWHERE - WITHOUT_THE_TABLE


def fail(handler: Any, error: Exception) -> None:
    """Let each request of the handler's own client end in an error before it is sent."""

    def refuse(**_: Any) -> None:
        raise error

    handler.api().idempotent_requests.table.client.meta.events.register("before-send.dynamodb", refuse)


@pytest.mark.parametrize(("route", "path"), READING.items())
def test_a_table_that_does_not_answer_is_503_with_a_time_to_come_back(
    call: Call, handler: Any, log: Log, *, route: str, path: dict[str, str]
) -> None:
    fail(handler, ConnectTimeoutError(endpoint_url="https://secret.example"))
    answer = call(route, **path)
    assert answer.status == 503
    assert int(answer.headers["retry-after"]) > 0
    assert "secret" not in answer.raw["body"]
    assert "secret.example" in log()[0]["exception"]


@pytest.mark.parametrize(("route", "path"), READING.items())
def test_what_nobody_foresaw_is_500_with_a_correlation_id_and_no_detail(
    call: Call, handler: Any, log: Log, *, route: str, path: dict[str, str]
) -> None:
    fail(handler, ZeroDivisionError("secret"))
    answer = call(route, **path)
    assert answer.status == 500
    assert answer.body["correlation_id"] == "JKJaXmPLvHcESHA="
    assert "secret" not in answer.raw["body"]
    failed, answered = log()
    assert failed["message"] == "request_failed"
    assert answered["message"] == "request_answered"
    assert failed["correlation_id"] == "JKJaXmPLvHcESHA="
    assert failed["exception_name"] == "ZeroDivisionError"


def test_health_is_503_when_the_table_does_not_answer(call: Call, handler: Any, log: Log) -> None:
    fail(handler, ConnectTimeoutError(endpoint_url="https://secret.example"))
    answer = call("/health")
    assert answer.status == 503
    assert answer.body["checks"]["table"] == "unavailable"
    assert answer.headers["content-type"] == "application/json"
    assert "secret.example" in log()[0]["exception"]


def test_a_request_is_logged_without_its_values(call: Call, log: Log) -> None:
    call("/articles", "tag=hush&token=hush")
    (line,) = log()
    assert "hush" not in json.dumps(line)
    assert line["message"] == "request_answered"
    assert line["route"] == "GET /articles"
    assert line["status"] == 400
    assert line["parameters"] == ["tag", "token"]
    assert line["duration_ms"] >= 0


def test_a_token_is_in_no_log_and_its_id_is(call: Call, handler: Any, log: Log) -> None:
    token, text = TokenStore(handler.api().idempotent_requests.table).create(
        "a test", ["read"], timedelta(days=1)
    )
    for sent in (f"Bearer {text}", f"Bearer {text}x", text):
        call("/articles", headers={"authorization": sent})
    lines = log()
    assert [line["status"] for line in lines] == [200, 401, 401]
    assert lines[0]["caller"] == f"token:{token.token_id}"
    assert text[20:] not in json.dumps(lines)


@pytest.mark.parametrize(
    "odd", [{}, {"Records": []}, {"routeKey": None}, {"routeKey": "GET /articles", "headers": None}]
)
def test_an_odd_event_is_answered_too(handler: Any, odd: dict[str, Any]) -> None:
    assert handler.handler(odd, Context())["statusCode"] in {200, 404}


def test_events_are_made_as_the_gateway_makes_them() -> None:
    made = event("/articles/{key+}", "a=b", key="x:1")
    assert made["rawPath"] == "/articles/x:1"
    assert made["pathParameters"] == {"key": "x:1"}


def test_a_function_that_cannot_start_still_names_the_correlation_id(
    handler: Any, call: Call, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler.api.cache_clear()
    monkeypatch.delenv("PUBLIC_READ")
    answer = call("/feeds")
    assert (answer.status, answer.body["correlation_id"]) == (500, "JKJaXmPLvHcESHA=")
    assert "PUBLIC_READ" in log()[0]["exception"]
    monkeypatch.setenv("PUBLIC_READ", "true")
    assert call("/feeds").status == 200, "the next request tries again"


def test_a_signed_link_leads_to_the_region_of_the_bucket(
    handler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The address of us-east-1, which boto3 signs by itself, answers 400 for buckets of newer regions.
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-south-1")
    link = handler.objects().signed_link("exports/a", "a")
    assert link.url.startswith("https://sourcebook-data.s3.eu-south-1.amazonaws.com/exports/a?")
