"""Who may call what, through the gateway: every operation with every kind of caller, IAM enforced."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from sourcebook.api.operations import Access, Operation
from sourcebook.api.parts import operations
from sourcebook.api.tokens import TokenStore
from sourcebook.table.client import Table
from tests.e2e.stack import Stack, wait_until

REGION = "us-east-1"


@dataclass(frozen=True)
class Callers:
    """Those who call, and the credentials that they do it with."""

    stack: Stack
    tokens: dict[str, str]
    signers: dict[str, Credentials]

    def call(self, caller: str, method: str, path: str, body: str | None = None) -> httpx.Response:
        """Call an operation, as this caller does: signed below /iam, else with a token or without."""
        headers = {"content-type": "application/json"} if body is not None else {}
        if caller in self.signers:
            path = f"/iam{path}"
            request = AWSRequest(method, f"{self.stack.outputs.api_url}{path}", data=body, headers=headers)
            SigV4Auth(self.signers[caller], "execute-api", REGION).add_auth(request)
            headers = dict(request.headers.items())
        elif caller in self.tokens:
            headers["authorization"] = f"Bearer {self.tokens[caller]}"
        return self.stack.api.request(method, path, content=body, headers=headers)


@pytest.fixture(scope="module")
def callers(stack: Stack) -> Iterator[Callers]:
    table = Table(stack.outputs.table_name, stack.session.client("dynamodb"))
    store = TokenStore(table)
    past = TokenStore(table, lambda: datetime.now(UTC) - timedelta(days=2))
    revoked, revoked_text = store.create("revoked", ["write"], timedelta(hours=1))
    store.revoke(revoked.token_id)
    tokens = {
        "expired token": past.create("expired", ["write"], timedelta(days=1))[1],
        "revoked token": revoked_text,
        "forged token": store.create("forged", ["write"], timedelta(hours=1))[1][:-3] + "AAA",
        "read token": store.create("read", ["read"], timedelta(hours=1))[1],
        "write token": store.create("write", ["write"], timedelta(hours=1))[1],
    }
    iam = stack.session.client("iam")
    execute_api = f"arn:aws:execute-api:{REGION}:*:*"
    names = {
        "IAM without permission": user(iam, None),
        "IAM that may read": user(iam, f"{execute_api}/*/GET/*"),
        "IAM with permission": user(iam, f"{execute_api}/*"),
    }
    yield Callers(stack, tokens, {caller: credentials for caller, (_, credentials) in names.items()})
    for name, credentials in names.values():
        iam.delete_access_key(UserName=name, AccessKeyId=credentials.access_key)
        for policy in iam.list_user_policies(UserName=name)["PolicyNames"]:
            iam.delete_user_policy(UserName=name, PolicyName=policy)
        iam.delete_user(UserName=name)


def user(iam: Any, resource: str | None) -> tuple[str, Credentials]:
    """Make a user that may invoke what `resource` names, and nothing else."""
    name = f"caller-{uuid4().hex[:8]}"
    iam.create_user(UserName=name)
    if resource:
        statement = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": resource}
        document = {"Version": "2012-10-17", "Statement": [statement]}
        iam.put_user_policy(UserName=name, PolicyName="invoke", PolicyDocument=json.dumps(document))
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return name, Credentials(key["AccessKeyId"], key["SecretAccessKey"])


@pytest.fixture(params=[True, False], ids=["public_read", "not public_read"])
def public_read(stack: Stack, request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether anybody may read; the embedded cloud lets them, AWS does not."""
    if request.param:
        yield True
        return
    client = stack.session.client("lambda")
    name = stack.function_name("api")
    before = client.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    assert before["PUBLIC_READ"] == "true"
    try:
        client.update_function_configuration(
            FunctionName=name, Environment={"Variables": {**before, "PUBLIC_READ": "false"}}
        )
        stack.kill_function_workers("api")
        wait_until(
            lambda: stack.api.get("/articles").status_code == 401, 60, "a function that asks for tokens"
        )
        yield False
    finally:
        client.update_function_configuration(FunctionName=name, Environment={"Variables": before})
        stack.kill_function_workers("api")
        wait_until(lambda: stack.api.get("/articles").status_code == 200, 60, "a function that is open")


REFUSED = {
    "expired token": 401,
    "revoked token": 401,
    "forged token": 401,
}
EXPECTED: dict[Access, dict[str, int | None]] = {
    Access.READ: {
        **REFUSED,
        "nobody": 401,
        "read token": None,
        "write token": None,
        "IAM without permission": 403,
        "IAM that may read": None,
        "IAM with permission": None,
    },
    Access.WRITE: {
        **REFUSED,
        "nobody": 401,
        "read token": 403,
        "write token": None,
        "IAM without permission": 403,
        "IAM that may read": 403,
        "IAM with permission": None,
    },
}
"""Status of a refusal by access and caller; None for those who are let in."""


def expected(operation: Operation, caller: str, *, public_read: bool) -> int | None:
    if operation.access is Access.OPEN:
        return None
    if caller == "nobody" and operation.access is Access.READ and public_read:
        return None
    return EXPECTED[operation.access][caller]


def test_every_operation_lets_in_who_may_and_nobody_else(callers: Callers, *, public_read: bool) -> None:
    wrong = []
    for operation in operations():
        # Nothing is there by this name, and this is no body: whoever is let in is told so.
        path = re.sub(r"\{\w+\+?\}", "nothing-there", operation.path)
        body = "{" if operation.changes else None
        for caller in EXPECTED[Access.READ]:
            if operation.access is Access.OPEN and caller in callers.signers:
                continue
            answer = callers.call(caller, operation.method, path, body)
            refusal = expected(operation, caller, public_read=public_read)
            is_right = (
                answer.status_code == refusal if refusal else answer.status_code in {200, 400, 404, 503}
            )
            if not is_right:
                wrong.append((operation.route, caller, answer.status_code, refusal, answer.text[:200]))
            # Nobody is told anything of a token but its owner.
            assert not any(token[20:] in answer.text for token in callers.tokens.values())
    assert wrong == []


def test_a_signature_counts_only_where_it_is_checked(callers: Callers) -> None:
    stack = callers.stack
    request = AWSRequest("DELETE", f"{stack.outputs.api_url}/feeds/nobody")
    SigV4Auth(callers.signers["IAM with permission"], "execute-api", REGION).add_auth(request)
    answer = stack.api.delete("/feeds/nobody", headers=dict(request.headers.items()))
    assert answer.status_code == 401
    assert "/iam" in answer.json()["detail"]
    token = {"authorization": f"Bearer {callers.tokens['write token']}"}
    # The gateway of AWS says 403; the embedded cloud lets it through to the function, which says 401.
    assert stack.api.delete("/iam/feeds/nobody", headers=token).status_code in {401, 403}
    assert stack.api.delete("/iam/feeds/nobody").status_code == 403


def test_a_revoked_token_is_refused_at_once(callers: Callers) -> None:
    stack = callers.stack
    store = TokenStore(Table(stack.outputs.table_name, stack.session.client("dynamodb")))
    token, text = store.create("short", ["write"], timedelta(hours=1))
    headers = {"authorization": f"Bearer {text}"}
    assert stack.api.delete("/feeds/nobody", headers=headers).status_code == 404
    store.revoke(token.token_id)
    answer = stack.api.delete("/feeds/nobody", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer ")


def test_a_workflow_is_started_once_and_watched_to_its_end(callers: Callers) -> None:
    stack = callers.stack
    headers = {
        "authorization": f"Bearer {callers.tokens['write token']}",
        "idempotency-key": uuid4().hex,
    }
    path = "/workflows/refresh_sources/executions"
    body: dict[str, Any] = {"source_ids": ["nobody-at-all"]}
    started = stack.api.post(path, json=body, headers=headers)
    assert started.status_code == 202, started.text
    run = started.json()
    # It can be watched at once, before it has a record of its own.
    assert stack.api.get(run["watch"]).json()["status"] in {"RUNNING", "SUCCEEDED"}
    again = stack.api.post(path, json=body, headers=headers)
    assert (again.status_code, again.json()) == (202, run)
    assert again.headers["idempotent-replayed"] == "true"
    assert stack.api.post(path, json={}, headers=headers).status_code == 422

    def ended() -> Any:
        found = stack.api.get(run["watch"]).json()
        return found if found["status"] != "RUNNING" else None

    found = wait_until(ended, 60, f"the end of {run['job_run_id']}")
    assert found["status"] == "SUCCEEDED"
    assert found["execution_arn"] == run["execution_arn"]
    assert found["job_run_id"] == run["job_run_id"]


def test_the_same_key_many_times_at_once_starts_one_execution(callers: Callers) -> None:
    stack = callers.stack
    headers = {"authorization": f"Bearer {callers.tokens['write token']}", "idempotency-key": uuid4().hex}
    body = {"source_ids": [f"nobody-{uuid4().hex[:6]}"]}

    def send(_: int) -> httpx.Response:
        return stack.api.post("/workflows/refresh_sources/executions", json=body, headers=headers)

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(send, range(6)))
    assert {answer.status_code for answer in answers} <= {202, 409}
    runs = {answer.json()["job_run_id"] for answer in answers if answer.status_code == 202}
    assert len(runs) == 1
    arn = stack.outputs.state_machines["refresh_sources"]
    started = stack.session.client("stepfunctions").list_executions(stateMachineArn=arn)["executions"]
    assert [one["name"] for one in started if one["name"] == f"run-{next(iter(runs))}"] != []
    assert send(0).json()["job_run_id"] in runs


def test_what_a_workflow_does_not_take_is_named(callers: Callers) -> None:
    headers = {"authorization": f"Bearer {callers.tokens['write token']}"}
    for name, body, status, parameter in (
        ("initialize_nova", {"candidate_nmae": "V1324 Sco"}, 400, "candidate_nmae"),
        ("ingest_new_nova", {"nova_id": "x"}, 400, "nova_id"),
        ("no_such_thing", {}, 404, None),
    ):
        answer = callers.stack.api.post(f"/workflows/{name}/executions", json=body, headers=headers)
        assert (answer.status_code, answer.json().get("parameter")) == (status, parameter)


def test_an_answer_that_is_known_is_not_sent_again(stack: Stack) -> None:
    first = stack.api.get("/workflows")
    assert first.headers["etag"].startswith('W/"')
    again = stack.api.get("/workflows", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = stack.api.get("/workflows", headers={"if-none-match": 'W/"another"'})
    assert other.json() == first.json()


def test_the_description_and_the_reference_are_served(stack: Stack) -> None:
    described = stack.api.get("/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    started = time.perf_counter()
    page = stack.api.get("/docs")
    assert time.perf_counter() - started < 5
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    names = set(stack.outputs.state_machines)
    assert {f"/workflows/{name}/executions" for name in names} <= set(described["paths"])
