"""Servers on the loopback interface that answer exactly the bytes a test tells them to."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network

from sourcebook.http.policy import HttpPolicy

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


@dataclass
class Exchange:
    """One request that a server received, and the way to answer it."""

    target: str
    headers: dict[str, str]
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()
        # drain() returns at once while the buffer has room: without this, a flood would starve the client.
        await asyncio.sleep(0)

    async def answer(self, body: bytes = b"fine", status: int = 200, **headers: str) -> None:
        fields = {"Content-Length": str(len(body)), **{k.replace("_", "-"): v for k, v in headers.items()}}
        head = f"HTTP/1.1 {status} Whatever\r\n" + "".join(f"{k}: {v}\r\n" for k, v in fields.items())
        await self.send(head.encode("latin-1") + b"\r\n" + body)

    def close(self) -> None:
        self.writer.close()

    def reset(self) -> None:
        self.writer.transport.abort()


Respond = Callable[[Exchange], Awaitable[None]]


@dataclass
class Server:
    host: str
    port: int
    scheme: str = "http"
    exchanges: list[Exchange] = field(default_factory=list)
    connections: int = 0

    @property
    def targets(self) -> list[str]:
        return [exchange.target for exchange in self.exchanges]

    def url(self, path: str = "/", host: str | None = None) -> str:
        name = host or (f"[{self.host}]" if ":" in self.host else self.host)
        return f"{self.scheme}://{name}:{self.port}{path}"


@contextlib.asynccontextmanager
async def serve(
    respond: Respond, host: str = "127.0.0.1", context: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    """Run `respond` for each request; ``/ok`` always gets a plain answer."""
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        server.connections += 1
        try:
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                first, *lines = head.strip().split("\r\n")
                headers = dict(line.split(": ", 1) for line in lines)
                exchange = Exchange(first.split(" ")[1], {k.lower(): v for k, v in headers.items()}, writer)
                server.exchanges.append(exchange)
                await (exchange.answer() if exchange.target == "/ok" else respond(exchange))
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            # A handler that ends cancelled makes asyncio 3.11 complain.
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()
            tasks.discard(task)

    listening = await asyncio.start_server(handle, host, 0, ssl=context)
    port = listening.sockets[0].getsockname()[1]
    server = Server(host, port, "https" if context else "http")
    try:
        yield server
    finally:
        listening.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await listening.wait_closed()


@contextlib.asynccontextmanager
async def serve_raw(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[Server]:
    """Run `handle` for each connection, for servers that do not even speak HTTP."""
    tasks: set[asyncio.Task[None]] = set()

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        server.connections += 1
        try:
            await handle(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            tasks.discard(task)

    listening = await asyncio.start_server(run, "127.0.0.1", 0)
    server = Server("127.0.0.1", listening.sockets[0].getsockname()[1])
    try:
        yield server
    finally:
        listening.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await listening.wait_closed()


class ScriptedResolver:
    """Gives the scripted answers one after another; the last one is repeated."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def quick(**changes: object) -> HttpPolicy:
    """Limits that let a test of a slow server end soon."""
    settings: dict[str, object] = {
        "connect_timeout": 0.5,
        "read_timeout": 0.3,
        "total_timeout": 0.6,
        "max_bytes": 100_000,
        "allowed_networks": LOOPBACK,
        **changes,
    }
    return HttpPolicy(**settings)  # type: ignore[arg-type]
