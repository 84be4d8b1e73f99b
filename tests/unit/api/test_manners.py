"""What HTTP asks of any server: HEAD, OPTIONS, 405 with Allow, and problem details whatever is wrong."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from sourcebook.api.access import AccessControl
from sourcebook.api.idempotency import IdempotentRequests
from sourcebook.api.parts import Services, match, methods, operations
from sourcebook.api.requests import SIGNED, UNROUTED, UNROUTED_SIGNED, address_of
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from tests.integration.api.gateway import Gateway
from tests.unit.api.memory import MemoryTable
from tests.unit.api.stored import article_item, put_article

NOTHING: Any = None
GATEWAY = Gateway()
DEDUP = "a948904f2f0f479b8f8197694b30184b"


class Log:
    def __init__(self) -> None:
        self.errors: list[dict[str, Any]] = []

    def info(self, msg: str, *, extra: Any) -> None: ...

    def error(self, msg: str, *, exc_info: BaseException, extra: Any) -> None:
        self.errors.append(extra)


@pytest.fixture
def table() -> MemoryTable:
    table = MemoryTable()
    put_article(table, article_item(DEDUP, datetime(2026, 11, 27, tzinfo=UTC)))
    return table


@pytest.fixture
def api(table: MemoryTable) -> Api:
    services = Services(table=table, start=NOTHING, workflows=(), objects=NOTHING, environ={})
    return Api(
        AccessControl(TokenStore(table), public_read=True),
        IdempotentRequests(table),
        services,
    )


def ask(
    api: Api, method: str, path: str, *, signed: bool = False, query: str = "", **headers: str
) -> dict[str, Any]:
    address = f"{SIGNED}{path}" if signed else path
    event: dict[str, Any] = {
        "routeKey": GATEWAY.match(method, address)[0],
        "rawPath": address,
        "rawQueryString": query,
        "headers": {name.replace("_", "-"): value for name, value in headers.items()},
        "requestContext": {"requestId": "r-1", "http": {"method": method}},
    }
    if signed:
        event["requestContext"]["authorizer"] = {"iam": {"userArn": "arn:aws:iam::1:user/ada"}}
    return api.answer(event, Log())


def test_head_is_the_read_without_its_body(api: Api) -> None:
    read = api.answer(
        {
            "routeKey": "GET /articles/{key+}",
            "pathParameters": {"key": DEDUP},
            "rawPath": f"/articles/{DEDUP}",
        },
        Log(),
    )
    head = ask(api, "HEAD", f"/articles/{DEDUP}", accept_encoding="gzip")
    assert (head["statusCode"], head["body"], head["isBase64Encoded"]) == (200, "", False)
    assert head["headers"]["etag"] == read["headers"]["etag"]
    assert head["headers"]["content-type"] == "application/json"
    assert ask(api, "HEAD", f"/articles/{DEDUP}", if_none_match=head["headers"]["etag"])["statusCode"] == 304


def test_head_checks_what_the_read_checks(api: Api) -> None:
    missing = ask(api, "HEAD", "/articles/nothing:here")
    assert (missing["statusCode"], missing["body"]) == (404, "")
    assert ask(api, "HEAD", "/articles", query="limit=0")["statusCode"] == 400
    closed = Api(
        AccessControl(TokenStore(MemoryTable()), public_read=False), api.idempotent_requests, api.services
    )
    assert ask(closed, "HEAD", "/articles")["statusCode"] == 401
    assert ask(closed, "HEAD", "/articles", signed=True)["statusCode"] == 200


def test_every_read_has_head_and_every_path_options(api: Api) -> None:
    for operation in operations():
        path = operation.path.replace("{key+}", DEDUP).replace("{", "").replace("}", "")
        answer = ask(api, "OPTIONS", path)
        allowed = answer["headers"]["allow"].split(", ")
        assert (answer["statusCode"], answer["body"]) == (204, "")
        assert operation.method in allowed
        assert ("HEAD" in allowed) == ("GET" in allowed)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/feeds", "GET, HEAD, OPTIONS, POST"),
        ("POST", "/articles", "GET, HEAD, OPTIONS"),
        ("GET", "/feeds/import", "OPTIONS, POST"),
        ("DELETE", "/workflows/initialize_nova/executions", "OPTIONS, POST"),
        ("HEAD", "/workflows/initialize_nova/executions", "OPTIONS, POST"),
        ("PATCH", "/articles/dedup:a/b/c", "GET, HEAD, OPTIONS"),
        ("TRACE", "/novae/x/photometry", "GET, HEAD, OPTIONS"),
    ],
)
def test_a_method_that_a_path_does_not_have_is_refused_with_those_it_has(
    api: Api, method: str, path: str, allow: str, *, signed: bool
) -> None:
    answer = ask(api, method, path, signed=signed)
    assert answer["statusCode"] == 405
    assert answer["headers"]["allow"] == allow
    if method != "HEAD":
        problem = json.loads(answer["body"])
        assert problem["status"] == 405
        assert problem["correlation_id"] == "r-1"


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("path", ["/nothing", "/feeds/", "/feedsy", "/api/v1", "/novae/a/b", "/%00"])
def test_an_unknown_path_is_a_problem_too(api: Api, path: str, *, signed: bool) -> None:
    answer = ask(api, "GET", path, signed=signed)
    assert answer["statusCode"] == 404
    assert answer["headers"]["content-type"] == "application/problem+json"
    problem = json.loads(answer["body"])
    assert "/docs" in problem["detail"]
    assert problem["correlation_id"] == "r-1"


@pytest.mark.parametrize("route", [UNROUTED, f"ANY {UNROUTED_SIGNED}"])
def test_what_came_by_no_route_of_its_method_runs_nothing_but_reads(api: Api, route: str) -> None:
    # Whoever may call GET alone could change something, or more often than the limit of its method allows.
    signed = route != UNROUTED
    for method in ("HEAD", "GET", "POST", "DELETE", "PATCH"):
        event = {
            "routeKey": route,
            "rawPath": f"{SIGNED}/feeds/no" if signed else "/feeds/no",
            "requestContext": {"http": {"method": method}, "authorizer": {"iam": {"userArn": "arn:ada"}}},
        }
        assert (api.answer(event, Log())["statusCode"] == 405) == (method != "HEAD")


def test_a_path_that_only_looks_signed_is_none(api: Api) -> None:
    event = {
        "routeKey": "DELETE /{proxy+}",
        "rawPath": "/iam/feeds/circuit-review",
        "requestContext": {"http": {"method": "DELETE"}, "authorizer": {"iam": {"userArn": "arn:ada"}}},
    }
    assert api.answer(event, Log())["statusCode"] == 404
    assert ask(api, "GET", "/iam/feeds", signed=True)["statusCode"] == 404
    # The gateway takes more slashes for one.
    for path, status in (("//feeds/circuit-review", 401), ("/iam//feeds/circuit-review", 404)):
        assert api.answer(event | {"rawPath": path}, Log())["statusCode"] == status


def test_the_templates_are_matched_as_the_gateway_matches_them() -> None:
    assert match("/feeds/import") == ("/feeds/import", {})
    assert match("/feeds/x") == ("/feeds/{feed_id}", {"feed_id": "x"})
    assert match("/feeds/x/y") is None
    assert match("/articles/dedup:1/2") == ("/articles/{key+}", {"key": "dedup:1/2"})
    assert match("/novae/a/products/b/spectrum") is not None
    assert match("") is None
    for operation in operations():
        path = re.sub(r"\{(\w+)\+?\}", r"\1-1", operation.path)
        found = match(path)
        assert found is not None
        assert (found[0], set(found[1])) == (operation.path, set(re.findall(r"\{(\w+)", operation.path)))
    assert methods("/feeds") == ["GET", "HEAD", "OPTIONS", "POST"]


def test_an_error_of_ours_names_its_correlation_id(api: Api) -> None:
    log = Log()
    broken = Api(api.access, api.idempotent_requests, NOTHING)
    answer = broken.answer({"routeKey": "GET /feeds", "requestContext": {"requestId": "r-9"}}, log)
    assert (answer["statusCode"], json.loads(answer["body"])["correlation_id"]) == (500, "r-9")
    assert log.errors[0]["correlation_id"] == "r-9"


def test_addresses_begin_as_the_deployment_says() -> None:
    event = {
        "rawPath": "/feeds",
        "headers": {"host": "127.0.0.1:4566"},
        "requestContext": {"domainName": "a1.example", "apiId": "a1"},
    }
    assert address_of(event, "https://{domain}") == "https://a1.example/feeds"
    local = "{scheme}://{host}/_aws/execute-api/{api}"
    assert address_of(event, local) == "http://127.0.0.1:4566/_aws/execute-api/a1/feeds"
    assert address_of({}, "https://{domain}") == "https://localhost/"


def test_the_description_names_the_address_that_it_was_asked_at(api: Api) -> None:
    event = {"routeKey": "GET /openapi.json", "rawPath": "/v2/openapi.json"}
    answer = api.answer(event | {"requestContext": {"domainName": "api.example"}}, Log())
    servers = [server["url"] for server in json.loads(answer["body"])["servers"]]
    assert servers == ["https://api.example/v2", "https://api.example/v2/iam"]
