"""HTTP/1.1 over one TCP or TLS connection, and the idle connections that wait for the next request.

h11 knows the protocol, asyncio the sockets; between them stands only what decides how much is read, for how
long, from whom, and whether a connection may be used again.
"""

from __future__ import annotations

import asyncio
import functools
import os
import ssl
import time
from collections.abc import AsyncGenerator
from typing import NamedTuple, cast

import h11
import httpx

from sourcebook.http.errors import FetchCause, FetchError, fetch_error
from sourcebook.http.guard import Guard
from sourcebook.http.policy import HttpPolicy

# Unread bytes of one connection before the kernel is left to slow the sender down.
_UNREAD_LIMIT = 128 * 1024
# Interim answers (103 Early Hints and the like) before the real one.
_MOST_INTERIM = 20
# Each piece costs the same time whatever its size: 10 MB sent as chunks of one byte would take a minute.
_MOST_PIECES = 100_000


class StaleConnection(Exception):
    """The server had closed an idle connection: nothing of an answer came, so the request may be repeated."""


class Origin(NamedTuple):
    """Where a connection leads, and whether it may lead into the allowed networks."""

    scheme: str
    host: str
    port: int
    inside: bool = True


class _Wire(asyncio.Protocol):
    """The bytes of one connection. Requests are small, so only reading knows back pressure."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._unread = bytearray()
        self._ended = False
        self._failure: Exception | None = None
        self._is_paused = False
        self._arrival: asyncio.Future[None] | None = None
        self._lost = loop.create_future()
        self._loop = loop
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        if len(self._unread) >= _UNREAD_LIMIT and not self._is_paused:
            self._transport.pause_reading()
            self._is_paused = True
        self._wake()

    def eof_received(self) -> None:
        # Returning nothing lets the transport close; what has arrived can still be read.
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._failure = exc
        self._wake()
        if not self._lost.done():
            self._lost.set_result(None)

    def _wake(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    @property
    def is_quiet(self) -> bool:
        """Whether the connection is open and nothing has arrived that was not asked for."""
        return not self._unread and not self._ended

    def write(self, data: bytes) -> None:
        if not self._ended:
            self._transport.write(data)

    async def read(self) -> bytes:
        """Return what has arrived, or wait for it; empty at the end.

        Raises:
            OSError: if the connection broke.
        """
        while not self._unread and not self._ended:
            self._arrival = self._loop.create_future()
            await self._arrival
        if not self._unread:
            if self._failure is not None:
                raise self._failure
            return b""
        data = bytes(self._unread)
        self._unread.clear()
        if self._is_paused:
            self._is_paused = False
            if not self._transport.is_closing():
                self._transport.resume_reading()
        return data

    def abort(self) -> None:
        """Begin to close, without waiting for the end of it."""
        # Not close(): that waits for a peer that may never answer.
        self._transport.abort()

    async def aclose(self) -> None:
        """Close at once, and return when the connection is gone."""
        self.abort()
        await asyncio.shield(self._lost)


class Connection:
    """One connection to one origin, for one request at a time."""

    def __init__(self, origin: Origin, wire: _Wire, policy: HttpPolicy) -> None:
        self.origin = origin
        self.is_inside = False
        self.idle_since = 0.0
        self.wire = wire
        self._read_timeout = policy.read_timeout
        self._max_header_bytes = policy.max_header_bytes
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=policy.max_header_bytes)
        self._is_reused = False
        self._has_answered = False

    async def request(
        self,
        target: bytes,
        headers: list[tuple[bytes, bytes]],
        url: str,
        *,
        method: bytes,
        content: bytes,
    ) -> h11.Response:
        """Send a request and return the head of the answer.

        Raises:
            FetchError: if no valid head came in time.
            StaleConnection: if the connection was closed while it was idle.
        """
        self._has_answered = False
        try:
            head = self._protocol.send(h11.Request(method=method, target=target, headers=headers)) or b""
        except h11.LocalProtocolError:
            # From None, because h11's message shows header values.
            raise fetch_error(FetchCause.INVALID_URL, url, "this cannot be asked for over HTTP") from None
        body = self._protocol.send(h11.Data(data=content)) or b"" if content else b""
        self.wire.write(head + body + (self._protocol.send(h11.EndOfMessage()) or b""))
        for _ in range(_MOST_INTERIM):
            event = await self._next_event(url)
            if isinstance(event, h11.Response):
                size = sum(len(name) + len(value) + 4 for name, value in event.headers)
                if size > self._max_header_bytes:
                    raise self._header_too_large(url)
                return event
        raise fetch_error(FetchCause.PROTOCOL_ERROR, url, "interim answers without end")

    async def body(self, url: str) -> AsyncGenerator[bytes, None]:
        """Yield the body as it arrives, still encoded, in pieces of a few hundred KiB at most.

        Raises:
            FetchError: if it does not arrive whole.
        """
        for count in range(_MOST_PIECES):
            if count % 1000 == 999:
                # One read can hold many thousand pieces: let others work in between.
                await asyncio.sleep(0)
            event = await self._next_event(url)
            if isinstance(event, h11.Data):
                yield event.data
            elif isinstance(event, h11.EndOfMessage):
                return
        raise fetch_error(
            FetchCause.PROTOCOL_ERROR, url, f"the body comes in more than {_MOST_PIECES} pieces"
        )

    async def no_body(self, url: str) -> None:
        """Read to the end of an answer that has no body by its status.

        Raises:
            FetchError: if that does not come.
        """
        if not isinstance(await self._next_event(url), h11.EndOfMessage):
            raise fetch_error(FetchCause.PROTOCOL_ERROR, url, "a body where there can be none")

    async def _next_event(self, url: str) -> h11.Event | type[h11.PAUSED]:
        protocol = self._protocol
        while True:
            is_in_body = protocol.their_state is h11.SEND_BODY
            try:
                event = protocol.next_event()
            except h11.RemoteProtocolError as error:
                raise self._broken(error, is_in_body, url) from None
            if event is not h11.NEED_DATA:
                return cast("h11.Event | type[h11.PAUSED]", event)
            protocol.receive_data(await self._read(url))

    async def _read(self, url: str) -> bytes:
        try:
            async with asyncio.timeout(self._read_timeout):
                data = await self.wire.read()
        except TimeoutError:
            raise fetch_error(
                FetchCause.TIMEOUT, url, f"the server was silent for {self._read_timeout:g} s"
            ) from None
        except OSError as error:
            if self._is_reused and not self._has_answered:
                raise StaleConnection from None
            raise fetch_error(FetchCause.RESET, url, f"the connection broke: {_os_reason(error)}") from None
        if not data and not self._has_answered:
            if self._is_reused:
                raise StaleConnection
            raise fetch_error(FetchCause.RESET, url, "the connection was closed without an answer")
        self._has_answered = True
        return data

    def _broken(self, error: h11.RemoteProtocolError, is_in_body: bool, url: str) -> FetchError:
        if error.error_status_hint == 431:
            return self._header_too_large(url)
        has_ended = self._protocol.trailing_data[1]
        if has_ended and is_in_body:
            return fetch_error(FetchCause.TRUNCATED, url, "the connection ended before the body was complete")
        if has_ended:
            return fetch_error(FetchCause.RESET, url, "the connection ended in the middle of the head")
        return fetch_error(FetchCause.PROTOCOL_ERROR, url, "the answer is not valid HTTP")

    def _header_too_large(self, url: str) -> FetchError:
        detail = f"the head of the answer is longer than {self._max_header_bytes} bytes"
        return fetch_error(FetchCause.HEADER_TOO_LARGE, url, detail)

    def make_ready(self) -> bool:
        """Prepare for the next request; False if the connection must not be used again.

        It must not if the answer was not read to its end, if a side wants to close, or if more came than the
        answer's own length declares: the rest would be taken for the next answer.
        """
        protocol = self._protocol
        is_complete = protocol.our_state is h11.DONE and protocol.their_state is h11.DONE
        if not is_complete or protocol.trailing_data != (b"", False) or not self.wire.is_quiet:
            return False
        protocol.start_next_cycle()
        self._is_reused = True
        return True


class ConnectionPool:
    """Opens connections through the guard, and keeps those that can be used again."""

    def __init__(self, policy: HttpPolicy, guard: Guard, ssl_context: ssl.SSLContext | None) -> None:
        self._policy = policy
        self._guard = guard
        self._ssl_context = ssl_context
        self._idle: list[Connection] = []
        self._is_closed = False

    async def acquire(self, origin: Origin, url: str) -> Connection:
        """Return an idle connection to `origin`, or a new one.

        Raises:
            FetchError: if none can be opened.
        """
        await self._drop_expired()
        for connection in reversed(self._idle):
            if connection.origin == origin:
                self._idle.remove(connection)
                return connection
        return await self._connect(origin, url)

    async def release(self, connection: Connection) -> None:
        """Return a connection to the pool, which keeps it if it can serve again."""
        if not self._is_closed and connection.make_ready():
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
            if len(self._idle) > self._policy.max_concurrent:
                await self._idle.pop(0).wire.aclose()
        else:
            await connection.wire.aclose()

    async def aclose(self) -> None:
        """Close every idle connection, and those under way as they come back."""
        self._is_closed = True
        for connection in self._idle:
            connection.wire.abort()  # so that all end in one turn of the loop
        while self._idle:
            await self._idle.pop().wire.aclose()

    async def _drop_expired(self) -> None:
        oldest = time.monotonic() - self._policy.keepalive_expiry
        expired = [conn for conn in self._idle if conn.idle_since < oldest or not conn.wire.is_quiet]
        for connection in expired:
            self._idle.remove(connection)
        for connection in expired:
            await connection.wire.aclose()

    async def _connect(self, origin: Origin, url: str) -> Connection:
        limit = self._policy.connect_timeout
        addresses = await self._guard.addresses(origin.host, origin.port, url, inside=origin.inside)
        deadline = time.monotonic() + limit
        failure = ""
        for index, address in enumerate(addresses):
            remaining = deadline - time.monotonic()
            # A dead address must leave time for those after it.
            share = remaining if index == len(addresses) - 1 else remaining / 2
            try:
                async with asyncio.timeout(share):
                    connection = await self._connect_to(str(address), origin)
                    connection.is_inside = self._guard.is_inside(address)
                    return connection
            except TimeoutError:
                continue
            except ssl.SSLError as error:
                raise fetch_error(FetchCause.TLS, url, f"no TLS connection: {_tls_reason(error)}") from None
            except OSError as error:
                failure = _os_reason(error)
        if failure:
            raise fetch_error(FetchCause.CONNECT, url, f"no connection: {failure}")
        raise fetch_error(FetchCause.TIMEOUT, url, f"no connection within {limit:g} s")

    async def _connect_to(self, address: str, origin: Origin) -> Connection:
        context = None
        if origin.scheme == "https":
            context = self._ssl_context or default_ssl_context()
        _, wire = await asyncio.get_running_loop().create_connection(
            _Wire,
            address,
            origin.port,
            ssl=context,
            # The certificate must be valid for the name in the URL, whatever address it led to.
            server_hostname=origin.host.rstrip(".") if context else None,
        )
        return Connection(origin, wire, self._policy)


@functools.cache
def default_ssl_context() -> ssl.SSLContext:
    """Return the TLS settings shared by all clients: certifi's authorities, host names checked."""
    context = httpx.create_ssl_context(trust_env=False)
    # Python 3.13 asks for what old authorities lack, such as an identifier of their key. Browsers and older
    # versions trust them. Signatures, names and dates are checked as ever.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols(["http/1.1"])
    return context


def _os_reason(error: OSError) -> str:
    # asyncio's own text repeats the address but not the reason.
    return os.strerror(error.errno) if error.errno else type(error).__name__


def _tls_reason(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return error.reason or type(error).__name__
