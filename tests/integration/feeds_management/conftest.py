"""A table for each test in one moto, which takes long to start."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from sourcebook.table.client import Table
from sourcebook.table.keys import Shards
from tests.moto_table import MotoTable
from tests.templates import table_definition

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture(scope="module")
def client() -> Iterator[DynamoDBClient]:
    with pytest.MonkeyPatch.context() as environment, mock_aws():
        environment.setenv("AWS_ACCESS_KEY_ID", "testing")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield boto3.client("dynamodb", region_name="us-east-1")


@pytest.fixture
def table(client: DynamoDBClient) -> Iterator[Table]:
    name = f"sourcebook-{uuid.uuid4().hex}"
    client.create_table(**table_definition() | {"TableName": name})
    yield MotoTable(name, client, shards=Shards.from_environment())
    client.delete_table(TableName=name)


@pytest.fixture
def site() -> Iterator[Callable[[dict[str, bytes]], str]]:
    """Start a site with these pages, and return its address."""
    servers: list[ThreadingHTTPServer] = []

    def start(pages: dict[str, bytes]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = pages.get(self.path)
                self.send_response(200 if body is not None else 404)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
