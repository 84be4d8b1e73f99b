"""Writes with an Idempotency-Key."""

from __future__ import annotations

import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.api.idempotency import CLAIM, KEPT, IdempotentRequests
from sourcebook.api.requests import Request
from sourcebook.api.responses import Conflict, Refusal, Response
from sourcebook.errors import InvalidInput
from sourcebook.table.client import TableBusy

if TYPE_CHECKING:
    from sourcebook.table.client import Table

pytestmark = pytest.mark.integration

REQUEST = Request("POST /feeds", body='{"url": "https://a.example/"}', caller="token:1", id="id-1")


@dataclass
class World:
    idempotent_requests: IdempotentRequests
    now: datetime = datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)
    done: list[Request] = field(default_factory=list)
    fails: Exception | None = None
    status: int = 201

    def act(self, request: Request) -> Response:
        self.done.append(request)
        if self.fails:
            raise self.fails
        return Response({"number": len(self.done)}, self.status, headers={"location": "/x"})

    def send(self, key: str = "k1", **changes: Any) -> Response:
        fields = {name: getattr(REQUEST, name) for name in REQUEST.__slots__} | changes
        return self.idempotent_requests.answer(Request(**fields), key, self.act)


@pytest.fixture
def world(table: Table) -> World:
    numbers = itertools.count()
    made = World(IdempotentRequests(table, lambda: made.now, lambda: f"claim-{next(numbers)}"))
    return made


def test_the_same_request_is_done_once_and_answered_twice(world: World) -> None:
    first, second = world.send(), world.send(id="id-2")
    assert len(world.done) == 1
    assert (second.status, second.body, second.content_type) == (first.status, first.body, first.content_type)
    assert second.headers == {"location": "/x", "idempotent-replayed": "true"}


@pytest.mark.parametrize(
    "changes",
    [{"body": "{}"}, {"route": "POST /novae"}, {"path": {"feed_id": "b"}}],
)
def test_the_key_with_another_request_is_refused(world: World, changes: dict[str, Any]) -> None:
    world.send()
    with pytest.raises(Refusal) as refused:
        world.send(**changes)
    assert (refused.value.status, refused.value.parameter) == (422, "Idempotency-Key")
    assert len(world.done) == 1


def test_a_key_belongs_to_its_caller(world: World) -> None:
    world.send()
    assert world.send(caller="token:2").body == {"number": 2}
    assert world.send(key="k2").body == {"number": 3}


@pytest.mark.parametrize(
    "failure",
    [InvalidInput("url", 1, "a URL"), Conflict("there", "url"), TableBusy("x"), ZeroDivisionError()],
)
def test_what_was_not_done_may_be_sent_again(world: World, failure: Exception) -> None:
    world.fails = failure
    with pytest.raises(type(failure)):
        world.send()
    world.fails = None
    assert world.send(body='{"url": "https://b.example/"}').body == {"number": 2}


def test_an_answer_is_given_again_for_a_day(world: World) -> None:
    world.send()
    world.now += KEPT - timedelta(seconds=1)
    world.send()
    assert len(world.done) == 1
    # DynamoDB has not deleted it yet.
    world.now += timedelta(seconds=1)
    world.send(body="{}")
    assert len(world.done) == 2


def test_a_request_that_is_under_way_is_not_begun_again_until_it_must_have_stopped(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(request: Request) -> Response:
        world.done.append(request)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        # The function is killed in the middle: nobody gives the key back.
        patched.setattr(IdempotentRequests, "_release", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            world.idempotent_requests.answer(REQUEST, "k1", killed)
    with pytest.raises(Refusal, match="Send it again"):
        world.send(id="id-2")
    assert len(world.done) == 1
    world.now += CLAIM + timedelta(seconds=1)
    assert world.send(id="id-3").status == 201
    # What it makes has the id that the first one had, so that it is not made twice.
    assert [request.id for request in world.done] == ["id-1", "id-1"]
    assert world.send().body == {"number": 2}


def test_two_at_the_same_time_are_one(world: World) -> None:
    inside, go = threading.Event(), threading.Event()

    def slow(request: Request) -> Response:
        world.done.append(request)
        inside.set()
        assert go.wait(10)
        return Response({"number": 1}, 201)

    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(world.idempotent_requests.answer, REQUEST, "k1", slow)
        assert inside.wait(10)
        with pytest.raises(Refusal, match="Send it again"):
            world.send()
        go.set()
        assert first.result().body == {"number": 1}
    assert world.send().body == {"number": 1}
    assert len(world.done) == 1


@pytest.mark.parametrize("key", ["", " ", "x" * 129, "a b", "ä", '"', 'a"b', "a\\b"])
def test_what_is_no_key_is_refused(world: World, key: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        world.send(key=key)
    assert refused.value.field == "Idempotency-Key"
    assert not world.done


def test_a_key_may_be_quoted_as_a_structured_field_is(world: World) -> None:
    world.send(key='"k1"')
    world.send(key="k1")
    assert len(world.done) == 1


def test_an_answer_too_large_to_keep_is_given_and_the_key_is_free_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sourcebook.api.idempotency.LARGEST", 10)
    assert world.send().status == 201
    assert world.send().status == 201
    assert len(world.done) == 2


def test_an_answer_that_cannot_be_kept_is_given_and_logged_for_the_operator(
    world: World, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sourcebook.api.idempotency._written", lambda _: b"x" * 500_000)
    monkeypatch.setattr("sourcebook.api.idempotency.LARGEST", 1_000_000)
    answer = world.send()
    assert (answer.status, answer.body) == (201, {"number": 1})
    assert answer.cause is not None


def test_the_header_is_read_by_the_api(call: Any, handler: Any) -> None:
    from tests.integration.api.conftest import Context, event

    made = event("/feeds", headers={"idempotency-key": "k1"})
    made |= {"routeKey": "POST /iam/feeds", "body": json.dumps({"url": "https://ledger.example/feed.xml"})}
    made["requestContext"]["authorizer"] = {"iam": {"userArn": "arn:aws:iam::1:user/ada"}}
    first, second = (handler.handler(made, Context()) for _ in range(2))
    assert (first["statusCode"], second["statusCode"]) == (201, 201), first["body"]
    assert first["body"] == second["body"]
    assert second["headers"]["idempotent-replayed"] == "true"
    made["body"] = "{}"
    assert handler.handler(made, Context())["statusCode"] == 422
