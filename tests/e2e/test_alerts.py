"""Alerts on the deployed stack: from a change in the table to a signed webhook and the bus."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from standardwebhooks.webhooks import Webhook

from sourcebook.api.tokens import TokenStore
from sourcebook.client import Client, Invalid, Retries
from sourcebook.clock import isoformat, utc_now
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.e2e.stack import wait_until
from tests.integration.integrity.healthy import put_run
from tests.served import Answered, Served, problem, served

if TYPE_CHECKING:
    from tests.e2e.stack import Stack

NOVA = "11111111-2222-5333-8444-555555555555"


class Received:
    """What a receiver on loopback was sent."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.posts: list[tuple[Mapping[str, str], bytes]] = []

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answered:
        with self.lock:
            self.posts.append((headers, body))
        return 200, {}, b""


@pytest.fixture
def received() -> Received:
    return Received()


@pytest.fixture
def receiver(received: Received) -> Iterator[Served]:
    with served(received.answer) as server:
        yield server


def test_a_failed_run_is_delivered_once_though_the_receiver_is_down_at_first(
    stack: Stack, received: Received, receiver: Served
) -> None:
    table = Table(stack.outputs.table_name, stack.session.client("dynamodb"))
    token = TokenStore(table).create("alerts", ["write"], timedelta(hours=1))[1]

    def run() -> None:
        stack.invoke("index_articles", {})

    with Client(str(stack.api.base_url), token, retries=Retries(), http=stack.api) as client:
        with pytest.raises(Invalid, match="not a public address"):
            client.add_alert("run", webhook="https://169.254.169.254/latest")
        rule = client.add_alert("run", workflow_name="ingest_new_nova", webhook=f"{receiver.url}/hook")
        assert rule.secret is not None
        key = put_run(table, NOVA, "alerts-e2e", "RUNNING", utc_now())
        ended = {"status": "FAILED", "ended_at": isoformat(utc_now() + timedelta(seconds=1))}
        try:
            table.change(key, assign=ended)
            receiver.faults.append(problem(500))

            def fired() -> list[Any]:
                run()
                return list(client.deliveries(rule.alert_id))

            wait_until(fired, 60, "the alert fires", interval=2)

            def attempts() -> int:
                run()
                (one,) = client.deliveries(rule.alert_id)
                return one.attempts

            wait_until(attempts, 60, "the first attempt", interval=1)
            (one,) = client.deliveries(rule.alert_id)
            assert (one.state, one.attempts, one.waiting_for) == ("PENDING", 1, ["webhook"])
            # It would be tried again in a minute.
            now = isoformat(utc_now())
            again = {"next_attempt_at": now, **keys.due_delivery(rule.alert_id, one.event_id, now)}
            table.change(keys.alert_delivery(rule.alert_id, one.event_id), assign=again)
            wait_until(lambda: attempts() > 1, 60, "the second attempt", interval=1)
            (one,) = client.deliveries(rule.alert_id)
            assert one.state == "DELIVERED", one
            assert one.attempts == 2
            ((headers, body),) = received.posts
            said = Webhook(rule.secret).verify(body, dict(headers))
            assert said["data"]["facts"]["job_run_id"] == "alerts-e2e"
            assert headers["webhook-id"] == one.event_id
        finally:
            table.delete(key)
            client.remove_alert(rule.alert_id)
