"""Real servers in processes of their own, spoken to over real connections."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

NOW = datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)

RSS = """<?xml version="1.0"?>
<rss version="2.0"><channel><title>T</title><link>https://t.example/</link><description>d</description>
<item><title>One</title><link>https://t.example/1</link><description>{}</description></item>
</channel></rss>
"""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class RunningServer:
    port: int
    process: subprocess.Popen[str]

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: object = None,
        headers: dict[str, str] | None = None,
        connection: http.client.HTTPConnection | None = None,
    ) -> Answer:
        fields = dict(headers or {})
        payload = None
        if body is not None:
            payload = json.dumps(body).encode()
            fields.setdefault("Content-Type", "application/json")
        used = connection or self.connect()
        try:
            used.request(method, path, body=payload, headers=fields)
            answer = used.getresponse()
            return Answer(
                answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
            )
        finally:
            if connection is None:
                used.close()

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)

    def stats(self, path: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("/_stats").json["paths"].get(path, {})
        return found


Serve = Callable[..., RunningServer]


def start_server(stack: ExitStack, *arguments: str | Path) -> RunningServer:
    process = stack.enter_context(
        subprocess.Popen(
            [sys.executable, "-m", "sourcebook_local.serve", "--port", "0", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    )
    stack.callback(process.terminate)
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url.startswith("http://127.0.0.1:"), process.stderr.read() if process.stderr else ""
    return RunningServer(int(url.rpartition(":")[2]), process)


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda *arguments: start_server(stack, *arguments)


@pytest.fixture(scope="session")
def samples_server_process() -> Iterator[RunningServer]:
    with ExitStack() as stack:
        yield start_server(stack, "--samples", "--now", NOW.isoformat())


@pytest.fixture
def samples_server(samples_server_process: RunningServer) -> RunningServer:
    """One process for all tests; each begins with no trouble staged and nothing counted."""
    samples_server_process.ask("/_control", method="DELETE")
    samples_server_process.ask("/_stats", method="DELETE")
    return samples_server_process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "feeds"
    place.mkdir()
    (place / "news.xml").write_text(RSS.format("word " * 200))
    return place
