"""A table in moto, made from the synthesized template, and the handler on top of it."""

from __future__ import annotations

import importlib.util
import io
import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import boto3
import pytest
from moto import mock_aws

from sourcebook.table.client import Table
from sourcebook.table.keys import Shards
from tests.moto_table import MotoTable
from tests.templates import table_definition

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

HANDLER = Path(__file__).parents[3] / "lambdas" / "api" / "handler.py"


@pytest.fixture(scope="module")
def client() -> Iterator[DynamoDBClient]:
    with mock_aws():
        yield boto3.client("dynamodb", region_name="us-east-1")


@pytest.fixture
def table(client: DynamoDBClient) -> Table:
    name = f"sourcebook-{uuid.uuid4().hex}"
    client.create_table(**table_definition() | {"TableName": name})
    return MotoTable(name, client, shards=Shards.from_environment())


@dataclass(frozen=True)
class Context:
    function_name: str = "api"
    memory_limit_in_mb: int = 128
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:api"
    aws_request_id: str = "52fdfc07-2182-454f-963f-5f0f9a621d72"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    raw: dict[str, Any]

    @property
    def body(self) -> Any:
        return json.loads(self.raw["body"])


Call = Callable[..., Answer]


@pytest.fixture
def handler(table: Table, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the function, loaded anew with its environment as the stack sets it."""
    monkeypatch.setenv("TABLE_NAME", table.name)
    monkeypatch.setenv(
        "WORKFLOW_ARN_PREFIX", "arn:aws:states:us-east-1:123456789012:stateMachine:SourcebookPipeline-"
    )
    monkeypatch.setenv("WORKFLOWS", "initialize_nova,refresh_sources")
    monkeypatch.setenv("BUCKET_NAME", "sourcebook-data")
    monkeypatch.setenv("PUBLIC_READ", "true")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "api")
    spec = importlib.util.spec_from_file_location("api_handler", HANDLER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


Log = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def log(handler: Any) -> Log:
    """What the function has logged, line by line."""
    stream = io.StringIO()
    handler.logger.registered_handler.setStream(stream)
    return lambda: [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def call(handler: Any) -> Call:
    """Call the handler with an event as API Gateway makes it."""

    def get(
        route: str, query: dict[str, Any] | str = "", *, headers: dict[str, str] | None = None, **path: str
    ) -> Answer:
        answer = handler.handler(event(route, query, headers=headers, **path), Context())
        return Answer(answer["statusCode"], answer["headers"], answer)

    return get


def event(
    route: str, query: dict[str, Any] | str = "", *, headers: dict[str, str] | None = None, **path: str
) -> dict[str, Any]:
    """Return an event of an HTTP API, payload format 2.0."""
    raw_query = query if isinstance(query, str) else urlencode(query)
    raw_path = route
    for name, value in path.items():
        raw_path = raw_path.replace(f"{{{name}}}", value).replace(f"{{{name}+}}", value)
    made: dict[str, Any] = {
        "version": "2.0",
        "routeKey": f"GET {route}",
        "rawPath": raw_path,
        "rawQueryString": raw_query,
        "headers": {
            "accept": "*/*",
            "content-length": "0",
            "host": "a1b2c3.execute-api.us-east-1.amazonaws.com",
            "user-agent": "curl/8.5.0",
            "x-forwarded-proto": "https",
            **(headers or {}),
        },
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "a1b2c3",
            "domainName": "a1b2c3.execute-api.us-east-1.amazonaws.com",
            "domainPrefix": "a1b2c3",
            "http": {
                "method": "GET",
                "path": raw_path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "curl/8.5.0",
            },
            "requestId": "JKJaXmPLvHcESHA=",
            "routeKey": f"GET {route}",
            "stage": "$default",
            "time": "27/Nov/2026:21:56:39 +0000",
            "timeEpoch": 1795816599000,
        },
        "isBase64Encoded": False,
    }
    if path:
        made["pathParameters"] = path
    return made
