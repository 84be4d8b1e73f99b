"""A server on the loopback interface that plays the faults of a network before it hands requests on."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias

Answered: TypeAlias = tuple[int, Mapping[str, str], bytes]
Answer: TypeAlias = Callable[[str, str, Mapping[str, str], bytes], Answered]
"""Answers a request of method, path with query, headers and body with status, headers and body."""


@dataclass(frozen=True)
class Fault:
    """What becomes of one request.

    Attributes:
        kind: ``reset`` (no answer), ``done`` (answered, and reset before anything is sent),
            ``cut`` (half of the true answer, of the length that was announced), ``short`` (half of it, of no
            announced length), ``drip`` (never ends), ``answer`` (with `status`, `headers` and `body`).
    """

    kind: str
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def problem(status: int, **headers: str) -> Fault:
    body = json.dumps({"type": "about:blank", "status": status, "detail": "Not now."}).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault("answer", status, {"content-type": "application/problem+json", **names}, body)


@dataclass
class Served:
    """A server.

    Attributes:
        url: its address.
        faults: what becomes of the next requests; they are answered when there are none left.
        seen: each request as method, path with query, and headers.
    """

    url: str
    faults: deque[Fault] = field(default_factory=deque)
    seen: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def paths(self) -> list[str]:
        return [path for _, path, _ in self.seen]


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    server: _Listening

    def log_message(self, *_: object) -> None: ...

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        served = self.server.served
        served.seen.append((self.command, self.path, headers))
        fault = served.faults.popleft() if served.faults else Fault("none")
        if fault.kind == "answer":
            self.send(fault.status, fault.headers, fault.body, fault)
            return
        if fault.kind != "reset":
            status, names, content = self.server.answered(self.command, self.path, headers, body)
            if fault.kind != "done":
                self.send(status, names, content, fault)
                return
        # A linger of no time: the client gets a reset instead of an end.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - names of http.server

    def send(self, status: int, headers: Mapping[str, str], content: bytes, fault: Fault) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name != "content-length":
                self.send_header(name, value)
        if fault.kind in {"short", "drip"}:
            self.send_header("connection", "close")
        else:
            self.send_header("content-length", str(len(content)))
        self.end_headers()
        while fault.kind == "drip" and not self.server.served.stopped.wait(0.02):
            self.wfile.write(b" ")
        self.wfile.write(content[: len(content) // 2] if fault.kind in {"cut", "short"} else content)
        self.close_connection = fault.kind in {"cut", "short", "drip"}


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.served = Served(f"http://127.0.0.1:{self.server_port}")
        self._answer = answer
        self._one_at_a_time = threading.Lock()

    def answered(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answered:
        """Return the true answer: one request after the other, since moto takes no two at once."""
        with self._one_at_a_time:
            return self._answer(method, target, headers, body)


@contextmanager
def served(answer: Answer) -> Iterator[Served]:
    """Serve what answers."""
    listening = _Listening(answer)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield listening.served
    finally:
        listening.served.stopped.set()
        listening.shutdown()
        listening.server_close()
        thread.join()
