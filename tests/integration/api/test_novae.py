"""The catalogue's operations, through the routes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.api.access import AccessControl
from sourcebook.api.parts import Services
from sourcebook.api.routes import Api
from sourcebook.api.schemas import EXAMPLES, SCHEMAS
from sourcebook.api.tokens import TokenStore
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NovaStore
from sourcebook.records.base import shown_names
from sourcebook.records.nova import Nova
from sourcebook.records.run import JobRun

if TYPE_CHECKING:
    from sourcebook.table.client import Table

pytestmark = pytest.mark.integration


class Quiet:
    def info(self, msg: str, *, extra: Mapping[str, object]) -> None: ...

    def error(self, msg: str, *, exc_info: BaseException, extra: Mapping[str, object]) -> None:
        raise exc_info


@dataclass
class Started:
    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def __call__(self, workflow: str, payload: Mapping[str, Any], name: str) -> str:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,80}", name)
        self.calls.append((workflow, payload))
        return f"arn:{name}"


@dataclass
class Client:
    api: Api
    started: Started

    def call(
        self, route: str, *, path: dict[str, str] | None = None, query: str = "", body: Any = None
    ) -> Any:
        method, _, template = route.partition(" ")
        event = {
            "routeKey": f"{method} /iam{template}",
            "rawQueryString": query,
            "pathParameters": path or {},
            "headers": {},
            "requestContext": {
                "requestId": "JKJaXmPLvHcESHA=",
                "authorizer": {"iam": {"userArn": "arn:aws:iam::1:user/ada"}},
            },
            "body": None if body is None else json.dumps(body),
        }
        answer = self.api.answer(event, Quiet())
        return SimpleNamespace(status=answer["statusCode"], body=json.loads(answer["body"]))


@pytest.fixture
def client(table: Table) -> Client:
    started = Started()
    nothing: Any = None
    services = Services(
        table=table, start=started, workflows=("initialize_nova",), objects=nothing, environ={}
    )
    access = AccessControl(TokenStore(table), public_read=False)
    return Client(Api(access, nothing, services), started)


@pytest.fixture
def nova_id(table: Table) -> str:
    made = NovaEstablisher(NovaStore(table)).establish(
        "Nova Sco 2012", Identity("simbad", "simbad:v1324 sco", "V1324 Sco", 267.72458, -32.62236, "No*")
    )
    assert made.nova_id is not None
    return made.nova_id


def test_a_nova_is_found_by_name_place_and_id(client: Client, nova_id: str) -> None:
    for query in ("name=v1324_SCORPII", "name=Nova+Sco+2012"):
        found = client.call("GET /novae", query=query).body
        assert (found["match"], found["items"][0]["nova_id"]) == ("ONE", nova_id)
    near = client.call("GET /novae", query="ra=267.7246&dec=-32.6224").body
    assert near["items"][0]["separation_arcsec"] < 1
    assert client.call("GET /novae", query="ra=267.7246&dec=-32.7&radius=0.01").body["items"] == []
    assert client.call("GET /novae", query="name=V1+Sco").body["match"] == "NONE"
    one = client.call("GET /novae/{nova_id}", path={"nova_id": nova_id}).body
    assert one["names"][0] == {"name": "V1324 Sco", "kind": "PRIMARY", "source": "INGESTION"}
    assert client.call("GET /novae/{nova_id}/job-runs", path={"nova_id": nova_id}).body["items"] == []


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("name=x&ra=1&dec=1", "name"),
        ("name=x&year=2012", "name"),
        ("ra=1&dec=1&constellation=Sco", "name"),
        ("constellation=Scx", "constellation"),
        ("year=x", "year"),
        ("discovered_since=2012", "discovered_since"),
        ("has_spectra=perhaps", "has_spectra"),
        ("status=GONE", "status"),
        ("cursor=abc", "cursor"),
        ("ra=1", "dec"),
        ("ra=400&dec=1", "ra"),
        ("ra=1&dec=x", "dec"),
        ("ra=nan&dec=1", "ra"),
        ("ra=1&dec=1&radius=9", "radius"),
        ("nmae=x", "nmae"),
    ],
)
def test_a_wrong_question_is_named(client: Client, query: str, parameter: str) -> None:
    answer = client.call("GET /novae", query=query)
    assert (answer.status, answer.body["parameter"]) == (400, parameter)


def test_what_is_not_there_is_not_found(client: Client) -> None:
    for route, path in (
        ("GET /novae/{nova_id}", {"nova_id": "x"}),
        ("GET /novae/{nova_id}/job-runs", {"nova_id": "x"}),
        ("GET /job-runs/{job_run_id}", {"job_run_id": "x"}),
        ("GET /quarantine/{quarantine_id}", {"quarantine_id": "x"}),
    ):
        assert client.call(route, path=path).status == 404
    body = {"decision": "CLEARED_TERMINAL", "reviewer": "Ada"}
    assert (
        client.call("POST /quarantine/{quarantine_id}/review", path={"quarantine_id": "x"}, body=body).status
        == 404
    )
    assert client.call("GET /quarantine").body == {"items": [], "next_cursor": None}
    assert client.call("GET /job-runs", query="status=FAILED&workflow=initialize_nova").body["items"] == []
    assert client.call("GET /job-runs", query="workflow=x#y").status == 400
    assert client.call("GET /job-runs", query="cursor=abc").status == 400


def test_a_name_is_handed_to_the_workflow(client: Client) -> None:
    answer = client.call("POST /novae", body={"candidate_name": "V1324 Sco"})
    assert answer.status == 202
    payload = {"candidate_name": "V1324 Sco", "correlation_id": "JKJaXmPLvHcESHA-"}
    assert client.started.calls == [("initialize_nova", payload)]
    run = client.call("GET /job-runs/{job_run_id}", path={"job_run_id": answer.body["job_run_id"]})
    assert (run.status, run.body["status"], run.body["attempts"]) == (200, "RUNNING", [])
    wrong: list[Any] = [
        {},
        {"candidate_name": ""},
        {"candidate_name": "x", "more": 1},
        [],
        {"candidate_name": "***"},
    ]
    for body in wrong:
        assert client.call("POST /novae", body=body).status == 400
    assert client.call("POST /novae").status == 400


@pytest.mark.parametrize(
    "body",
    [
        {"decision": "FREE", "reviewer": "Ada"},
        {"decision": "CLEARED_TERMINAL"},
        {"decision": "CLEARED_TERMINAL", "reviewer": " "},
        {"decision": "CLEARED_TERMINAL", "reviewer": "Ada", "by": "x"},
        {"decision": "CLEARED_TERMINAL", "reviewer": "Ada", "note": 1},
    ],
)
def test_a_decision_that_is_none_is_refused(client: Client, body: dict[str, Any]) -> None:
    answer = client.call("POST /quarantine/{quarantine_id}/review", path={"quarantine_id": "x"}, body=body)
    assert answer.status == 400


def test_the_description_has_the_fields_that_are_served() -> None:
    assert list(EXAMPLES["NovaSearch"]["items"][0]) == [*shown_names(Nova), "constellation"]
    assert list(SCHEMAS["Nova"]["properties"]) == [*shown_names(Nova), "constellation", "names"]
    assert list(EXAMPLES["JobRunPage"]["items"][0]) == [*shown_names(JobRun), "lost"]
