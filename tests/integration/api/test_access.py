"""Who may call what: every operation with every kind of caller, in the function itself."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from infra.gateway_routes import api_routes
from sourcebook.api.access import AccessControl, Caller
from sourcebook.api.operations import Access, Operation
from sourcebook.api.parts import find, operations
from sourcebook.api.requests import SIGNED as PREFIX
from sourcebook.api.responses import Denied
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from tests.integration.api.gateway import Gateway

if TYPE_CHECKING:
    from sourcebook.table.client import Table

pytestmark = pytest.mark.integration

NOW = datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)


class Silent:
    def info(self, msg: str, *, extra: Any) -> None: ...

    def error(self, msg: str, *, exc_info: BaseException, extra: Any) -> None: ...


@pytest.fixture
def callers(table: Table) -> dict[str, dict[str, str]]:
    """Headers of every kind of caller."""
    store = TokenStore(table, lambda: NOW)

    def bearer(*scopes: str) -> str:
        return store.create("a test", scopes, timedelta(days=1))[1]

    ended = TokenStore(table, lambda: NOW - timedelta(days=2)).create("old", ["write"], timedelta(days=1))[1]
    revoked = bearer("write")
    store.revoke(revoked[3:19])
    return {
        "nobody": {},
        "expired": {"authorization": f"Bearer {ended}"},
        "revoked": {"authorization": f"Bearer {revoked}"},
        "forged": {"authorization": f"Bearer {bearer('write')[:-3]}AAA"},
        "no token": {"authorization": "Bearer"},
        "password": {"authorization": "Basic YWRhOmx2"},
        "unchecked signature": {
            "authorization": "AWS4-HMAC-SHA256 Credential=AKIA/20261127/us-east-1/execute-api/aws4_request, "
            "SignedHeaders=host, Signature=00"
        },
        "read": {"authorization": f"Bearer {bearer('read')}"},
        "write": {"authorization": f"bearer {bearer('write')}"},
    }


SIGNED = {"authorizer": {"iam": {"userArn": "arn:aws:iam::1:user/ada"}}}
REFUSED = ("expired", "revoked", "forged", "no token", "password", "unchecked signature")


def admitted(
    keeper: AccessControl, access: Access, route: str, headers: dict[str, str], **context: Any
) -> int:
    event = {"routeKey": route, "headers": headers, "requestContext": context}
    try:
        keeper.admit(access, event)
    except Denied as error:
        return error.status
    return 200


@pytest.mark.parametrize("public_read", [True, False])
def test_each_caller_may_do_what_they_may_and_nothing_else(
    table: Table, callers: dict[str, dict[str, str]], *, public_read: bool
) -> None:
    keeper = AccessControl(TokenStore(table), public_read=public_read, clock=lambda: NOW)
    expected = {
        Access.OPEN: dict.fromkeys(callers, 200),
        Access.READ: {
            **dict.fromkeys(REFUSED, 401),
            "nobody": 200 if public_read else 401,
            "read": 200,
            "write": 200,
        },
        Access.WRITE: {**dict.fromkeys(REFUSED, 401), "nobody": 401, "read": 403, "write": 200},
    }
    for access, answers in expected.items():
        assert {name: admitted(keeper, access, "GET /x", callers[name]) for name in callers} == answers


@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.name)
def test_no_operation_is_reached_by_who_may_not(table: Table, operation: Operation) -> None:
    # Nothing of the API is there: whoever passes the door falls into the void behind it.
    nothing: Any = None
    keeper = AccessControl(TokenStore(table), public_read=False)
    api = Api(keeper, nothing, nothing, lambda: "0")
    gateway = Gateway()

    def answered(prefix: str) -> dict[str, Any]:
        path = prefix + re.sub(r"\{\w+\+?\}", "nothing-there", operation.path)
        route, variables = gateway.match(operation.method, path)
        assert signed[route] == (prefix == PREFIX)
        event = {
            "routeKey": route,
            "rawPath": path,
            "pathParameters": variables,
            "headers": {},
            "body": "{",
            "requestContext": {**SIGNED, "http": {"method": operation.method}},
        }
        return api.answer(event, Silent())

    signed = {route.key: route.signed for route in api_routes()}
    assert (answered("")["statusCode"] == 401) == (operation.access is not Access.OPEN)
    let_in = answered(PREFIX)
    assert let_in["statusCode"] not in {401, 403, 405}
    assert "There is no path" not in let_in["body"]


def test_a_signature_is_believed_only_below_iam(table: Table) -> None:
    keeper = AccessControl(TokenStore(table), public_read=False)
    signed = SIGNED["authorizer"]
    assert admitted(keeper, Access.WRITE, "POST /iam/feeds", {}, authorizer=signed) == 200
    assert admitted(keeper, Access.WRITE, "POST /feeds", {}, authorizer=signed) == 401
    event = {"routeKey": "GET /iam/feeds", "requestContext": {"authorizer": signed}}
    assert keeper.admit(Access.READ, event) == Caller("arn:aws:iam::1:user/ada", may_write=False)
    assert find("POST /iam/feeds") is None, "an operation's own path never begins like that"
    assert not any(operation.path.startswith("/iam") for operation in operations())


def test_what_is_no_signature_is_refused_below_iam_too(
    table: Table, callers: dict[str, dict[str, str]]
) -> None:
    keeper = AccessControl(TokenStore(table), public_read=True)
    for name, headers in callers.items():
        # Whose key it is, the embedded cloud does not know of every signature that it takes.
        status = 200 if name == "unchecked signature" else 401
        assert admitted(keeper, Access.WRITE, "POST /iam/feeds", headers) == status


def test_a_refusal_says_what_to_do_and_nothing_of_the_token(
    table: Table, callers: dict[str, dict[str, str]]
) -> None:
    nothing: Any = None
    keeper = AccessControl(TokenStore(table), public_read=True, clock=lambda: NOW)
    api = Api(keeper, nothing, nothing, lambda: "0")
    for name in (*REFUSED, "nobody", "read"):
        answer = api.answer({"routeKey": "POST /feeds", "headers": callers[name]}, Silent())
        assert answer["headers"]["www-authenticate"].startswith("Bearer realm=")
        assert answer["headers"]["content-type"] == "application/problem+json"
        assert answer["headers"]["cache-control"] == "no-store"
        sent = callers[name].get("authorization", "").partition(" ")[2]
        assert not sent or sent not in answer["body"] + str(answer["headers"])
        assert "token" in answer["body"]
