"""The first event of the functions that matter most, against a table and a queue on loopback.

A start is not over when everything is imported: what is put off until it is needed has to be paid with the
first event. The cloud here is moto behind a server that speaks to clients of DynamoDB and SQS as AWS does, so
that the function makes real requests with its own clients.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError
from moto import mock_aws

from sourcebook.clock import isoformat
from sourcebook.sentiment.refresh import Refresher
from sourcebook.sentiment.subjects import SubjectRegistry, parse_subjects
from sourcebook.sources.model import SourceSpec, state_item
from sourcebook.table.client import Table
from tests.templates import table_definition

_SERVICES: Final = {"DynamoDB_20120810": "dynamodb", "AmazonSQS": "sqs"}
_ETAG: Final = '"unchanged"'
_TOOL: Final = "AAPL"
_SOURCE: Final = "harbor-ledger"

CHANGED: Final[list[str]] = []
"""Statements that the cloud was sent."""

FIRST_EVENT: Final = """
import json, os
class Context:
    function_name = "first"
    memory_limit_in_mb = 1024
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:first"
    aws_request_id = "52fdfc07-2182-454f-963f-5f0f9a621d72"
    def get_remaining_time_in_millis(self):
        return 60_000
"""
"""What a program needs to call a handler with the event in its environment."""


@dataclass(frozen=True)
class FirstEvent:
    """The event that a function most often gets.

    Attributes:
        what: what it asks for, in a few words.
        event: as Lambda hands it over.
        environment: variables of the function that lead to this cloud.
        prepare: makes the table as the event expects it, before each time.
        holds: whether the answer is the one that is meant.
    """

    what: str
    event: Mapping[str, Any]
    environment: Mapping[str, str]
    holds: Callable[[Any], bool]
    prepare: Callable[[], object] = field(default=lambda: None)


@contextmanager
def first_events() -> Iterator[dict[str, FirstEvent]]:
    """Yield the first events by function, for as long as the cloud that they need is there."""
    with mock_aws():
        definition = table_definition("sourcebook")
        boto3.client("dynamodb", region_name="us-east-1").create_table(**definition)
        queue = boto3.client("sqs", region_name="us-east-1").create_queue(QueueName="fetch")["QueueUrl"]
        # No feed is asked for at the port of the cloud.
        servers = [ThreadingHTTPServer(("127.0.0.1", 0), _Cloud) for _ in range(2)]
        for server in servers:
            Thread(target=server.serve_forever, daemon=True).start()
        try:
            address, feeds = (f"http://127.0.0.1:{server.server_address[1]}" for server in servers)
            table = Table("sourcebook", boto3.client("dynamodb", region_name="us-east-1"))
            yield dict(_events(table, address, feeds, queue))
        finally:
            for server in servers:
                server.shutdown()
                server.server_close()


def _events(table: Table, address: str, feeds: str, queue: str) -> Iterator[tuple[str, FirstEvent]]:
    environment = {"AWS_ENDPOINT_URL": address, "TABLE_NAME": table.name}
    subject = {"tool_id": _TOOL, "name": "Apple", "kind": "company"}
    SubjectRegistry(table).register(parse_subjects([subject]))
    yield (
        "api",
        FirstEvent(
            "GET of a cached sentiment",
            _request("/api/v1/tools/{tool_id}/sentiment", tool_id=_TOOL),
            {**environment, "PUBLIC_READ": "true"},
            lambda answer: answer["statusCode"] == 200 and json.loads(answer["body"])["is_cached"],
            lambda: Refresher(table, workers=1).run([_TOOL]),
        ),
    )
    now = datetime.now(UTC).replace(microsecond=0)
    due_at = isoformat(now - timedelta(minutes=1))
    spec = SourceSpec(source_id=_SOURCE, url=f"{feeds}/feed.xml", interval_minutes=15)

    def declare() -> None:
        CHANGED.clear()
        learned = {"etag": _ETAG, "last_success_at": due_at, "last_fetch_at": due_at, "last_cause": "ok"}
        table.put({**state_item(spec, now=due_at), **learned, "full_fetch_at": due_at})

    message = {
        "schema_version": "1",
        "correlation_id": "first",
        "sources": [{"source_id": _SOURCE, "kind": "feed", "due_at": due_at}],
    }
    yield (
        "fetch_sources",
        FirstEvent(
            "a feed that has not changed",
            {"Records": [{"messageId": "m-1", "body": json.dumps(message)}]},
            {
                **environment,
                "HTTP_ALLOWED_NETWORKS": "127.0.0.0/8",
                "HTTP_CONTACT": "bench@sourcebook.example",
            },
            lambda answer: answer == {"batchItemFailures": []} and len(CHANGED) == 1,
            declare,
        ),
    )
    yield (
        "dispatch_sources",
        FirstEvent(
            "one source that is due",
            {},
            {**environment, "FETCH_QUEUE_URL": queue},
            lambda answer: (answer["due"], answer["messages"]) == (1, 1),
            declare,
        ),
    )


def _request(route: str, **path: str) -> dict[str, Any]:
    """Return a GET as API Gateway hands it over, payload format 2.0."""
    return {
        "version": "2.0",
        "routeKey": f"GET {route}",
        "rawPath": route.format(**path),
        "rawQueryString": "",
        "headers": {"accept": "*/*", "accept-encoding": "gzip", "user-agent": "curl/8.5.0"},
        "pathParameters": path,
        "requestContext": {"requestId": "JKJaXmPLvHcESHA="},
        "isBase64Encoded": False,
    }


class _Cloud(BaseHTTPRequestHandler):
    """DynamoDB and SQS, and a feed that has not changed."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Serve the feed to somebody who knows it."""
        self._answer(304 if self.headers.get("If-None-Match") == _ETAG else 500, b"")

    def do_POST(self) -> None:
        """Hand a call over to moto; both protocols are JSON in the very form of the client's arguments."""
        target, _, operation = self.headers["X-Amz-Target"].partition(".")
        arguments = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        client: Any = boto3.client(_SERVICES[target], region_name="us-east-1")  # type: ignore[call-overload]
        method = {name: python for python, name in client.meta.method_to_api_mapping.items()}[operation]
        try:
            answer = self._statements(arguments) or getattr(client, method)(**arguments)
            status = 200
        except ClientError as error:
            answer = {"__type": error.response["Error"]["Code"], "message": str(error)}
            status = 400
        answer.pop("ResponseMetadata", None)
        self._answer(status, json.dumps(answer, default=lambda value: b64encode(value).decode()).encode())

    def _statements(self, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Answer statements as if all were done: moto reads too little of PartiQL (tests/moto_table.py)."""
        statements = arguments.get("Statements")
        if statements is None:
            return None
        CHANGED.extend(one["Statement"] for one in statements)
        return {"Responses": [{"TableName": "sourcebook"} for _ in statements]}

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        if status == 304:
            self.send_header("ETag", _ETAG)
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base class's own name
        """Write nothing."""
