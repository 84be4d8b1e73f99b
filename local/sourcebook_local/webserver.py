"""HTTP/1.1 on the loopback interface: connections, requests, answers, validators.

Only what the servers of this package need, so that a poll costs little; the limits keep a broken client from
hurting the others.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import Final, TypeAlias
from urllib.parse import parse_qs, unquote

from sourcebook.clock import utc_now

HOST: Final = "127.0.0.1"

_log = logging.getLogger(__name__)

_LARGEST_HEAD: Final = 32 * 1024
_LARGEST_BODY: Final = 256 * 1024
_MOST_CONNECTIONS: Final = 512
_MOST_AT_ONCE: Final = 64
_IDLE_SECONDS: Final = 75.0
_GRACE_SECONDS: Final = 5.0
_LEAST_TO_COMPRESS: Final = 256


@dataclass(frozen=True, slots=True)
class Request:
    """One request, its path decoded and apart from the query."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""
    keep_alive: bool = True


@dataclass(frozen=True, slots=True)
class Response:
    """One answer; `cut` sends only so many bytes of the body and then breaks the connection off."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A feed as it is now."""

    body: bytes
    content_type: str
    modified: datetime
    etag: str
    compressed: bytes

    @classmethod
    def of(cls, body: bytes, content_type: str, modified: datetime) -> Document:
        """Return a document of a body, with its validator and its compressed form."""
        digest = hashlib.sha256(body).hexdigest()[:32]
        return cls(
            body, content_type, modified.replace(microsecond=0), digest, gzip.compress(body, 6, mtime=0)
        )


class BadRequestError(Exception):
    """A request that is answered with an error and the end of its connection."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        super().__init__(text)


Answer: TypeAlias = Callable[[Request], Awaitable[Response | None]]
"""Answers a request; None breaks the connection off."""


class WebServer:
    """Accepts connections on one port of 127.0.0.1 and reads requests from them, a bounded number at a time.

    Args:
        answer: gives the answer to a request; None breaks the connection off without one.
    """

    def __init__(self, answer: Answer) -> None:
        self._give = answer
        self._connections: set[asyncio.Task[None]] = set()
        self._idle: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(_MOST_AT_ONCE)
        self._stop = asyncio.Event()
        self._listener: asyncio.Server | None = None

    async def start(self, port: int) -> int:
        """Begin to listen; return the port, which is a free one if `port` is 0.

        Raises:
            OSError: if the port is taken.
        """
        self._listener = await asyncio.start_server(
            self._connection, HOST, port, limit=_LARGEST_HEAD, backlog=_MOST_CONNECTIONS
        )
        return int(self._listener.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Stop listening, let the requests in work end within a few seconds, and close every connection."""
        self._stop.set()
        if self._listener is not None:
            self._listener.close()
        for task in list(self._idle):
            task.cancel()
        if self._connections:
            _, late = await asyncio.wait(set(self._connections), timeout=_GRACE_SECONDS)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=1)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:  # pragma: no cover - asyncio runs this in a task of its own
            raise RuntimeError("a connection outside of a task")
        self._connections.add(task)
        try:
            if len(self._connections) > _MOST_CONNECTIONS:
                await _send(
                    writer, text_response(503, "too many connections", {"Retry-After": "1"}), last=True
                )
            else:
                await self._requests(task, reader, writer)
        except (ConnectionError, TimeoutError, asyncio.IncompleteReadError):
            _log.debug("a client went away")
        except asyncio.CancelledError:
            # Only `stop` cancels; the connection ends here, so nobody waits for the cancellation.
            _log.debug("a connection was closed for the stop")
        finally:
            self._connections.discard(task)
            self._idle.discard(task)
            writer.close()

    async def _requests(
        self, task: asyncio.Task[None], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer the requests of one connection, one after the other."""
        while not self._stop.is_set():
            self._idle.add(task)
            try:
                async with asyncio.timeout(_IDLE_SECONDS):
                    request = await _read(reader)
            except BadRequestError as error:
                await _send(writer, text_response(error.status, str(error)), last=True)
                return
            finally:
                self._idle.discard(task)
            if request is None:
                return
            async with self._slots:
                response = await self._give(request)
            if response is None:
                writer.transport.abort()
                return
            last = not request.keep_alive or self._stop.is_set() or response.cut is not None
            await _send(writer, response, head_only=request.method == "HEAD", last=last)
            if last:
                return


def document_response(document: Document, request: Request) -> Response:
    """Return a document, or 304 if the client has it (RFC 9110, section 13.2.2)."""
    plain, compressed = f'"{document.etag}"', f'"{document.etag}-gzip"'
    packed = (
        _accepts_gzip(request.headers.get("accept-encoding", "")) and len(document.body) >= _LEAST_TO_COMPRESS
    )
    headers = {
        "ETag": compressed if packed else plain,
        "Last-Modified": format_datetime(document.modified, usegmt=True),
        "Cache-Control": "no-cache",
        "Vary": "Accept-Encoding",
    }
    wanted = request.headers.get("if-none-match")
    if wanted is not None:
        tags = {tag.strip().removeprefix("W/") for tag in wanted.split(",")}
        unchanged = bool(tags & {plain, compressed, "*"})
    else:
        unchanged = _not_since(document.modified, request.headers.get("if-modified-since"))
    if unchanged:
        return Response(304, b"", headers)
    headers["Content-Type"] = document.content_type
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Response(200, document.compressed if packed else document.body, headers)


def _not_since(modified: datetime, header: str | None) -> bool:
    if header is None:
        return False
    try:
        since = parsedate_to_datetime(header)
    except ValueError:
        return False
    return since.tzinfo is not None and modified <= since


def _accepts_gzip(header: str) -> bool:
    for coding in header.lower().split(","):
        name, _, weight = coding.strip().partition(";")
        if name.strip() in {"gzip", "x-gzip"}:
            return not re.fullmatch(r"\s*q=0(?:\.0*)?\s*", weight)
    return False


def json_response(status: int, value: object) -> Response:
    """Return an answer with a JSON body."""
    body = json.dumps(value, ensure_ascii=False, indent=2).encode()
    return Response(status, body, {"Content-Type": "application/json"})


def text_response(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer with a body of plain text."""
    return Response(
        status, f"{text}\n".encode(), {"Content-Type": "text/plain; charset=utf-8", **(headers or {})}
    )


async def _read(reader: asyncio.StreamReader) -> Request | None:
    """Read one request; None when the client has closed the connection.

    Raises:
        BadRequestError: if it is not HTTP/1, or larger than allowed.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial.strip():
            raise BadRequestError(400, "the request ends too early") from error
        return None
    except asyncio.LimitOverrunError as error:
        raise BadRequestError(431, "the request head is too large") from error
    start, *lines = head.decode("latin-1").strip("\r\n").split("\r\n")
    words = re.fullmatch(r"([A-Z]+) (\S+) HTTP/1\.([01])", start)
    if not words:
        raise BadRequestError(400, "not an HTTP/1 request")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadRequestError(400, "a header line without a name")
        key = name.lower()
        headers[key] = f"{headers[key]}, {value.strip()}" if key in headers else value.strip()
    if "transfer-encoding" in headers:
        raise BadRequestError(411, "send Content-Length")
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or len(length) > 9:
        raise BadRequestError(400, "Content-Length is not a number")
    if int(length) > _LARGEST_BODY:
        raise BadRequestError(413, "the body is too large")
    body = await reader.readexactly(int(length))
    target = re.sub(r"^https?://[^/?]*", "", words[2]) or "/"
    path, _, query = target.partition("?")
    connection = headers.get("connection", "").lower()
    keep = "keep-alive" in connection if words[3] == "0" else "close" not in connection
    parsed = {name: values[-1] for name, values in parse_qs(query, keep_blank_values=True).items()}
    return Request(words[1], unquote(path), parsed, headers, body, keep)


async def _send(
    writer: asyncio.StreamWriter, response: Response, *, head_only: bool = False, last: bool = False
) -> None:
    try:
        phrase = HTTPStatus(response.status).phrase
    except ValueError:
        phrase = "Staged"
    headers = {
        "Date": format_datetime(utc_now(), usegmt=True),
        "Server": "sourcebook-samples",
        **response.headers,
    }
    if response.status not in {204, 304}:
        headers["Content-Length"] = str(len(response.body))
    headers["Connection"] = "close" if last else "keep-alive"
    lines = [f"HTTP/1.1 {response.status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    if not head_only:
        writer.write(response.body if response.cut is None else response.body[: response.cut])
    async with asyncio.timeout(_IDLE_SECONDS):
        await writer.drain()
