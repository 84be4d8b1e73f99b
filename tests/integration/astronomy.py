"""The archives of this machine, in this process, with trouble on demand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from aws_lambda_powertools import Logger

from sourcebook.bucket.objects import Objects
from sourcebook.http.client import HttpClient
from sourcebook.http.policy import HttpPolicy, parse_networks
from sourcebook.novae.quarantine import Quarantiner
from sourcebook.novae.resolvers.archive import set_addresses
from sourcebook.novae.store import NovaStore
from sourcebook.runs.tasks import TaskRun
from sourcebook_local.astronomy.services import addresses
from sourcebook_local.serve import Outside, SampleSite
from sourcebook_local.webserver import Request, WebServer

if TYPE_CHECKING:
    from sourcebook.table.client import Table

NOW = datetime(2026, 11, 27, 21, 0, tzinfo=UTC)
BUCKET = "sourcebook-data"


@dataclass
class Clock:
    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Archives:
    """The played archives: `stage` trouble, see what was asked."""

    url: str
    outside: Outside
    slept: list[float] = field(default_factory=list)

    async def stage(self, *rules: dict[str, Any]) -> None:
        body = json.dumps({"rules": list(rules)}).encode()
        headers = {"content-type": "application/json"}
        answer = await self.outside.answer(Request("POST", "/_control", {}, headers, body))
        assert answer is not None
        assert answer.status == 200, answer.body

    async def requests(self, path: str) -> int:
        answer = await self.outside.answer(Request("GET", "/_stats", {}, {}))
        assert answer is not None
        paths = json.loads(answer.body)["paths"]
        return sum(
            stats["requests"] for name, stats in paths.items() if name.startswith(f"/astronomy/{path}")
        )

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def archives(table: Table) -> AsyncIterator[Archives]:
    outside = Outside(SampleSite(NOW))
    server = WebServer(outside.answer)
    url = f"http://127.0.0.1:{await server.start(0)}"
    set_addresses(table, addresses(url))
    yield Archives(url, outside)
    await server.stop()


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    policy = HttpPolicy(allowed_networks=parse_networks("127.0.0.0/8"), read_timeout=1.5, total_timeout=3)
    async with HttpClient(policy) as client:
        yield client


@pytest.fixture
def store(table: Table, clock: Clock) -> NovaStore:
    return NovaStore(table, clock)


@pytest.fixture
def objects(aws: None) -> Objects:
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    return Objects(s3, BUCKET)


@pytest.fixture
def notices(aws: None) -> tuple[str, Any]:
    """A topic, and a way to read what it was told."""
    sns, sqs = boto3.client("sns"), boto3.client("sqs")
    topic = sns.create_topic(Name="quarantined")["TopicArn"]
    queue = sqs.create_queue(QueueName="seen")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"})

    def read() -> list[dict[str, Any]]:
        found = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", [])
        return [json.loads(message["Body"]) for message in found]

    return topic, read


@pytest.fixture
def quarantiner(table: Table, objects: Objects, notices: tuple[str, Any], clock: Clock) -> Quarantiner:
    return Quarantiner(table, objects, boto3.client("sns"), notices[0], Logger(service="test"), clock)


def task_run(
    job_run_id: str = "run-1", *, workflow: str = "initialize_nova", record: str = "WORKFLOW#x#c"
) -> TaskRun:
    return TaskRun(workflow, job_run_id, "c", "arn:execution", record, "A task", 1)
