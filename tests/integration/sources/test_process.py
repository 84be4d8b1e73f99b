"""The function fetch_sources in a process of its own: it is killed, or gets large documents."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.events import FetchRequested, SourceDue
from sourcebook.records.source import Source
from sourcebook.sources.model import SourceSpec
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.incoming import stored_articles
from tests.integration.cloud_over_http import cloud_over_http
from tests.integration.sources.site import Page, Site, serve_site
from tests.unit.feeds.documents import rss

pytestmark = pytest.mark.integration


@dataclass(frozen=True)
class Ended:
    """How a process ended: its status, and what it has written."""

    status: int
    output: str
    log: str

    @property
    def said(self) -> dict[str, Any]:
        assert self.status == 0, self.log
        return dict(json.loads(self.output.splitlines()[-1]))


class Function:
    """fetch_sources with its queue, in moto of this process; it runs in others."""

    def __init__(self, table: Table, site: Site, endpoint: str) -> None:
        self.table, self.site = table, site
        self.registry = SourceRegistry(table)
        self.sqs = boto3.client("sqs")
        self.queue = self.sqs.create_queue(QueueName="fetch", Attributes={"VisibilityTimeout": "0"})[
            "QueueUrl"
        ]
        boto3.client("events").create_event_bus(Name="news")
        self.environment = os.environ | {
            "AWS_ENDPOINT_URL": endpoint,
            "TABLE_NAME": table.name,
            "ARTICLE_TOPIC_ARN": boto3.client("sns").create_topic(Name="articles")["TopicArn"],
            "EVENT_BUS_NAME": "news",
            "HTTP_ALLOWED_NETWORKS": "127.0.0.0/8",
            "POWERTOOLS_SERVICE_NAME": "fetch_sources",
            "POWERTOOLS_METRICS_NAMESPACE": "Sourcebook",
        }

    def source(self, name: str) -> Source:
        found = self.registry.get(name)
        assert found is not None
        return found

    def history(self, name: str) -> list[Mapping[str, object]]:
        partition = Key("PK").eq(keys.source(name)["PK"]) & Key("SK").begins_with("FETCH#")
        return list(self.table.query_all(partition))

    def headlines(self) -> list[str]:
        return sorted(str(article["headline"]) for article in stored_articles(self.table))

    def send(self, *names: str) -> None:
        """Send the message that says that these sources are due."""
        due = tuple(
            SourceDue(source_id=name, kind="feed", due_at=self.source(name).next_fetch_time) for name in names
        )
        message = FetchRequested(correlation_id="run-1", sources=due)
        self.sqs.send_message(QueueUrl=self.queue, MessageBody=message.model_dump_json())

    def receive(self) -> Ended:
        """Let a process receive the message, and delete it if the process does its work.

        The process is killed as soon as it asks the site for `/killer`.
        """
        (message,) = self.sqs.receive_message(
            QueueUrl=self.queue, MessageSystemAttributeNames=["ApproximateReceiveCount"]
        )["Messages"]
        record = {
            "messageId": message["MessageId"],
            "body": message["Body"],
            "attributes": message["Attributes"],
        }
        command = [sys.executable, "-m", "tests.integration.sources.fetching_process"]
        pipe = subprocess.PIPE
        root = Path(__file__).parents[3]
        with subprocess.Popen(
            command, cwd=root, env=self.environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        ) as process:
            self.site.before["/killer"] = lambda: os.kill(process.pid, signal.SIGKILL)
            output, log = process.communicate(json.dumps({"Records": [record]}), timeout=300)
        ended = Ended(process.returncode, output, log)
        if ended.status == 0 and not ended.said["answer"]["batchItemFailures"]:
            self.sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=message["ReceiptHandle"])
        return ended

    def messages(self) -> int:
        return len(self.sqs.receive_message(QueueUrl=self.queue).get("Messages", ()))


@pytest.fixture
def function(table: Table) -> Iterator[Function]:
    with serve_site() as site, cloud_over_http() as endpoint:
        yield Function(table, site, endpoint)


def test_a_source_that_kills_the_process_is_charged_and_the_others_keep_their_work(
    function: Function,
) -> None:
    for name in ("a", "killer", "c"):
        function.registry.register(SourceSpec(source_id=name, url=f"{function.site.url}/{name}"))
        item = f"<title>The ferry to {name} was cancelled</title><guid>{name}</guid>"
        function.site.pages[f"/{name}"] = Page(rss(item))
    function.send("a", "killer", "c")

    assert function.receive().status == -signal.SIGKILL
    assert function.source("killer").consecutive_errors == 0, "it may have been any of the three"

    assert function.receive().status == -signal.SIGKILL
    killer = function.source("killer")
    assert (killer.last_cause, killer.consecutive_errors, killer.enabled) == ("process_died", 1, True)
    assert killer.last_fetch_at is not None
    assert killer.next_fetch_time - killer.last_fetch_at == timedelta(minutes=2)
    assert [item["cause"] for item in function.history("killer")] == ["process_died"]
    assert function.source("a").last_success_at is not None

    third = function.receive()
    assert third.said["answer"] == {"batchItemFailures": []}
    assert function.messages() == 0
    assert function.source("c").last_success_at is not None
    assert function.source("killer") == killer, "it has moved on"
    assert function.headlines() == ["The ferry to a was cancelled", "The ferry to c was cancelled"]

    # The next time it is polled last and alone, and waits twice as long.
    before = function.source("c").fetch_count
    function.send("killer", "a", "c")
    assert function.receive().status == -signal.SIGKILL
    assert function.source("c").fetch_count == before + 1
    killer = function.source("killer")
    assert killer.consecutive_errors == 2
    assert killer.last_fetch_at is not None
    assert killer.next_fetch_time - killer.last_fetch_at == timedelta(minutes=4)


def large(head: str, unit: str, tail: str) -> bytes:
    """Return a document of 10 MB."""
    first, last = head.encode(), tail.encode()
    return first + unit.encode() * ((10_000_000 - len(first) - len(last)) // len(unit)) + last


def test_four_documents_of_ten_megabytes_in_one_message_fit_into_the_function(function: Function) -> None:
    json_feed = '{"version": "https://jsonfeed.org/version/1.1", "title": "x", '
    bodies = [
        large(f'{json_feed}"items": [', "{},", "{}]}"),
        large(f'{json_feed}"a": [', "1.5,", '1], "items": []}'),
        # Characters of four bytes each, as Python holds them, and an ampersand to be mended.
        large("<rss><channel><item><title>\N{GRINNING FACE} & ", "x", "</title></item>"),
        large("<rss><channel><item><title>\N{GRINNING FACE} & ", "y", "</title></item>"),
    ]
    names = [f"large-{n}" for n in range(len(bodies))]
    for name, body in zip(names, bodies, strict=True):
        function.registry.register(SourceSpec(source_id=name, url=f"{function.site.url}/{name}"))
        function.site.pages[f"/{name}"] = Page(body)
    function.send(*names)

    said = function.receive().said

    assert said["answer"] == {"batchItemFailures": []}
    causes = [function.source(name).last_cause for name in names]
    assert causes[0] == "too_many_elements"
    assert not {"process_died", "out_of_time", "out_of_memory", "poll_crashed"} & set(causes)
    assert said["peak"] < 600_000_000, causes
