"""The one outgoing HTTP client.

What a fetcher of other people's documents needs: limits on time, size and redirects, politeness per host,
the guard of `sourcebook.http.guard`, and failures that say why. Why it is not httpx's own client stands in
docs/decisions/0040-outgoing-http.md.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, closing
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

import httpx

from sourcebook.clock import Clock, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.http.bodies import ACCEPT_ENCODING, BodyReader, Sink
from sourcebook.http.connection import Connection, ConnectionPool, Origin, StaleConnection
from sourcebook.http.errors import FetchCause, FetchError, fetch_error
from sourcebook.http.guard import Guard, Resolver, SystemResolver
from sourcebook.http.policy import HttpPolicy
from sourcebook.http.response import PERMANENT_REDIRECTS, REDIRECTS, Headers, HttpResponse, Redirect

if TYPE_CHECKING:
    import ssl
    from types import TracebackType

Params: TypeAlias = Mapping[str, str | int | float]

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,252})")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_FIELD_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_FIELD_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
# The client sets these itself: they decide where the message ends and how it is read.
_OURS = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "accept-encoding", "te", "upgrade"}
)
# All that may follow a redirect to another origin; anything else may be a credential.
_NO_SECRET = frozenset(
    {
        "accept",
        "accept-language",
        "user-agent",
        "if-none-match",
        "if-modified-since",
        "cache-control",
        "pragma",
    }
)
_MOST_HOSTS = 1000
_URL_LIMIT = 8192
_URLS_KEPT = 2048
_WITHOUT_BODY = frozenset({204, 304})


@dataclass(slots=True)
class _Host:
    """Politeness towards one host name."""

    slots: asyncio.Semaphore
    users: int = 0
    next_start: float = 0.0


class _Target(NamedTuple):
    """A URL that may be asked for, and how it is written."""

    url: httpx.URL
    shown: str


@dataclass(slots=True)
class _Exchange:
    """One `get` under way, with all its redirects."""

    target: _Target
    headers: dict[str, str]
    max_bytes: int
    time_left: float
    elapsed: float = 0.0
    redirects: list[Redirect] = field(default_factory=list)
    inside: bool = True
    sink: Sink | None = None
    content: bytes | None = None
    received: int = 0
    sha256: str = ""


class HttpClient:
    """Fetches documents from servers that nobody vouches for.

    Use it as an async context manager, within one event loop (a Lambda that starts a loop for each invocation
    needs a client for each); one client serves any number of requests at once. Proxies and other settings of
    the environment are ignored, and no cookie is kept.

    Args:
        policy: limits, politeness and networks.
        resolver: turns host names into addresses; the system's by default.
        clock: gives the present time.
        ssl_context: TLS settings; by default certificates are checked against certifi's authorities.
    """

    def __init__(
        self,
        policy: HttpPolicy | None = None,
        *,
        resolver: Resolver | None = None,
        clock: Clock = utc_now,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.policy = policy or HttpPolicy()
        self._resolver = resolver
        self._clock = clock
        self._ssl_context = ssl_context
        self._pool: ConnectionPool | None = None
        self._stack = AsyncExitStack()
        self._slots = asyncio.Semaphore(self.policy.max_concurrent)
        self._hosts: dict[bytes, _Host] = {}

    async def __aenter__(self) -> Self:
        """Open the connection pool."""
        resolver = self._resolver
        if resolver is None:
            system = SystemResolver(threads=self.policy.max_concurrent)
            self._stack.callback(system.close)
            resolver = system
        self._pool = ConnectionPool(self.policy, Guard(self.policy, resolver), self._ssl_context)
        self._stack.push_async_callback(self._pool.aclose)
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close every connection."""
        self._pool = None
        await self._stack.aclose()

    async def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        etag: str | None = None,
        last_modified: str | None = None,
        params: Params | None = None,
        max_bytes: int | None = None,
        led_by: HttpResponse | None = None,
    ) -> HttpResponse:
        """Fetch `url`, following redirects, and return the answer whatever its status.

        Args:
            url: an http or https URL without user name and password.
            headers: more request headers. Those that may be credentials do not follow a redirect to another
                origin.
            etag: ETag of the copy we have, exactly as it was sent.
            last_modified: Last-Modified of the copy we have, exactly as it was sent.
            params: query parameters added to those of `url`.
            max_bytes: longest body, instead of the policy's.
            led_by: the answer in which `url` was found; what is outside leads to nothing inside.

        Raises:
            FetchError: if no complete answer came; its `cause` says why.
            InvalidInput: if a header cannot be sent.
        """
        conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        given = {**(headers or {}), **{name: value for name, value in conditions.items() if value}}
        target = _parsed(url) if params is None else _parsed_with(url, params)
        exchange = self._exchange(target, given, max_bytes)
        exchange.inside = led_by is None or led_by.is_inside
        return await self._follow(exchange)

    async def download(
        self, url: str, sink: Sink, *, headers: Mapping[str, str] | None = None, max_bytes: int | None = None
    ) -> HttpResponse:
        """Fetch `url` as `get` does, and write the body of a 2xx answer to `sink` as it arrives.

        A body that breaks off has left its beginning in the sink when the error is raised. The body of any
        other answer is in the response.

        Args:
            url: an http or https URL without user name and password.
            sink: gets the body, decompressed from its Content-Encoding.
            headers: more request headers, as for `get`.
            max_bytes: longest body, sent as well as decompressed, instead of the policy's.

        Raises:
            FetchError: if no complete answer came; its `cause` says why.
            InvalidInput: if a header cannot be sent.
        """
        exchange = self._exchange(_parsed(url), headers, max_bytes)
        exchange.sink = sink
        return await self._follow(exchange)

    async def post(
        self, url: str, content: bytes, *, headers: Mapping[str, str] | None = None
    ) -> HttpResponse:
        """Send `content` to `url` and return the answer whatever its status; a redirect is not followed.

        Args:
            url: an http or https URL without user name and password.
            content: the body.
            headers: more request headers.

        Raises:
            FetchError: if no complete answer came; its `cause` says why. The server may have read the body.
            InvalidInput: if a header cannot be sent.
        """
        exchange = self._exchange(_parsed(url), headers)
        exchange.content = content
        return await self._hop(exchange)

    def _exchange(
        self, target: _Target, headers: Mapping[str, str] | None, max_bytes: int | None = None
    ) -> _Exchange:
        return _Exchange(
            target,
            self._request_headers(headers or {}),
            self.policy.max_bytes if max_bytes is None else max_bytes,
            time_left=self.policy.total_timeout,
        )

    async def _follow(self, exchange: _Exchange) -> HttpResponse:
        try:
            return await self._hops(exchange)
        except FetchError as error:
            error.elapsed = exchange.elapsed
            raise

    async def _hops(self, exchange: _Exchange) -> HttpResponse:
        seen = {exchange.target.shown}
        while True:
            response = await self._hop(exchange)
            if response.status not in REDIRECTS or not response.headers.get("location", "").strip():
                return response
            target = _redirect_target(exchange, response)
            from_url, to_url = exchange.target.shown, target.shown
            exchange.redirects.append(Redirect(response.status, from_url, to_url))
            if to_url in seen:
                raise fetch_error(FetchCause.TOO_MANY_REDIRECTS, to_url, "the redirects go in a circle")
            if len(exchange.redirects) > self.policy.max_redirects:
                raise fetch_error(
                    FetchCause.TOO_MANY_REDIRECTS,
                    from_url,
                    f"more than {self.policy.max_redirects} redirects",
                )
            seen.add(to_url)
            if not _may_share_secrets(exchange.target.url, target.url):
                exchange.headers = {
                    name: value for name, value in exchange.headers.items() if name.lower() in _NO_SECRET
                }
            exchange.target = target

    async def _hop(self, exchange: _Exchange) -> HttpResponse:
        async with self._turn(exchange.target.url.raw_host):
            started = time.monotonic()
            try:
                async with asyncio.timeout(exchange.time_left):
                    while True:
                        try:
                            return await self._send(exchange, started)
                        except StaleConnection:
                            # The server had closed an idle connection; each try uses one of them up.
                            continue
            except TimeoutError:
                raise fetch_error(
                    FetchCause.TIMEOUT,
                    exchange.target.shown,
                    f"no complete answer in time (silence up to {self.policy.read_timeout:g} s, "
                    f"{self.policy.total_timeout:g} s in all)",
                ) from None
            finally:
                spent = time.monotonic() - started
                exchange.elapsed += spent
                exchange.time_left = max(0.0, exchange.time_left - spent)

    async def _send(self, exchange: _Exchange, started: float) -> HttpResponse:
        if self._pool is None:
            raise RuntimeError("HttpClient is not open: use it in 'async with HttpClient(policy) as client'")
        url, shown = exchange.target
        headers = [(b"Host", url.netloc)]
        headers += [(name.encode(), value.encode("latin-1")) for name, value in exchange.headers.items()]
        origin = Origin(
            url.scheme, url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme], exchange.inside
        )
        connection = await self._pool.acquire(origin, shown)
        exchange.inside = exchange.inside and connection.is_inside
        try:
            method, content = b"GET", exchange.content or b""
            if exchange.content is not None:
                method = b"POST"
                headers.append((b"Content-Length", str(len(content)).encode()))
            answer = await connection.request(url.raw_path, headers, shown, method=method, content=content)
            answer_headers = Headers(answer.headers)
            body = b""
            # The body of a redirect is of no use: leaving it unread costs the connection, no more.
            if answer.status_code not in REDIRECTS:
                body = await self._read(connection, answer.status_code, answer_headers, exchange)
        finally:
            await self._pool.release(connection)
        return HttpResponse(
            status=answer.status_code,
            headers=answer_headers,
            body=body,
            url=shown,
            redirects=tuple(exchange.redirects),
            permanent_url=_permanent_url(exchange.redirects),
            elapsed=exchange.elapsed + time.monotonic() - started,
            received_at=self._clock(),
            is_inside=exchange.inside,
            received=exchange.received,
            sha256=exchange.sha256,
        )

    async def _read(
        self, connection: Connection, status: int, headers: Headers, exchange: _Exchange
    ) -> bytes:
        url, coding = exchange.target.shown, headers.get("content-encoding", "")
        if status in _WITHOUT_BODY:
            await connection.no_body(url)
            return b""
        # What an error page says is no part of the document.
        sink = exchange.sink if 200 <= status < 300 else None
        # Closing frees the buffer also when an error keeps this frame alive in its traceback.
        with closing(BodyReader(url, coding, exchange.max_bytes, sink)) as reader:
            length = headers.get("content-length", "")
            if length.isdecimal():
                reader.expect(int(length))
            async with aclosing(connection.body(url)) as pieces:
                async for data in pieces:
                    reader.feed(data)
            body = reader.finish()
            if sink is not None:
                exchange.received, exchange.sha256 = reader.received, reader.sha256
            return body

    @asynccontextmanager
    async def _turn(self, name: bytes) -> AsyncIterator[None]:
        """Wait for a slot of the host, for its pause, and for a slot of the client."""
        host = self._hosts.get(name)
        if host is None:
            if len(self._hosts) >= _MOST_HOSTS:
                now = time.monotonic()
                self._hosts = {k: v for k, v in self._hosts.items() if v.users or v.next_start > now}
            host = self._hosts[name] = _Host(asyncio.Semaphore(self.policy.max_concurrent_per_host))
        host.users += 1
        try:
            async with host.slots:
                if self.policy.pause_per_host:
                    now = time.monotonic()
                    start = max(now, host.next_start)
                    host.next_start = start + self.policy.pause_per_host
                    await asyncio.sleep(start - now)
                async with self._slots:
                    yield
        finally:
            host.users -= 1

    def _request_headers(self, given: Mapping[str, str]) -> dict[str, str]:
        headers = {
            "User-Agent": self.policy.user_agent,
            "Accept": "*/*",
            "Accept-Encoding": ACCEPT_ENCODING,
        }
        ours = {name.lower(): name for name in headers}
        for name, value in given.items():
            if not _FIELD_NAME.fullmatch(name) or name.lower() in _OURS:
                raise InvalidInput("headers", name, "a header name that the client does not set itself")
            if not _FIELD_VALUE.fullmatch(value.strip()):
                # The value may be a credential: it is not shown.
                raise InvalidInput(f"headers[{name}]", "(hidden)", "one line of ASCII or latin-1 text")
            headers[ours.get(name.lower(), name)] = value.strip()
        return headers


@lru_cache(maxsize=_URLS_KEPT)
def _parsed(text: str) -> _Target:
    """Return the URL to ask for; feeds are asked for again and again, and to read one takes a while."""
    return _parsed_with(text, {})


def _parsed_with(text: str, params: Params) -> _Target:
    try:
        url = httpx.URL(text.strip())
        if params:
            url = url.copy_merge_params(dict(params))
    except (httpx.InvalidURL, ValueError):
        raise fetch_error(FetchCause.INVALID_URL, text, "this is not a valid URL") from None
    return _checked(url)


def _checked(url: httpx.URL) -> _Target:
    """Return the URL without fragment and with a canonical host, or raise FetchError."""
    shown = str(url)
    if url.scheme not in _PORTS:
        raise fetch_error(FetchCause.INVALID_URL, shown, "only http and https URLs are fetched")
    if url.userinfo:
        raise fetch_error(
            FetchCause.INVALID_URL,
            shown,
            "a URL with user name or password is not fetched; pass a header",
        )
    if len(shown) > _URL_LIMIT:
        raise fetch_error(FetchCause.INVALID_URL, shown, f"the URL is longer than {_URL_LIMIT} characters")
    if url.port is not None and not 0 < url.port <= 65535:
        raise fetch_error(FetchCause.INVALID_URL, shown, "a port is a number from 1 to 65535")
    _check_host(url.raw_host.decode("ascii"), shown)
    if url.fragment:
        url = url.copy_with(fragment=None)
        shown = str(url)
    return _Target(url, shown)


def _redirect_target(exchange: _Exchange, response: HttpResponse) -> _Target:
    # Browsers read raw bytes above ASCII in Location as UTF-8.
    location = response.headers["location"].strip().encode("latin-1").decode("utf-8", "replace")
    try:
        target = exchange.target.url.join(location)
    except (httpx.InvalidURL, ValueError):
        raise fetch_error(FetchCause.INVALID_URL, location, "the redirect leads to no valid URL") from None
    return _checked(target)


def _check_host(host: str, shown: str) -> None:
    if ":" in host and _is_address(host):
        return
    if not _HOST.fullmatch(host) or ".." in host:
        raise fetch_error(FetchCause.INVALID_URL, shown, "the host is not a valid name or address")
    if _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]) and not _is_address(host):
        # Resolvers read 2130706433, 0x7f.1 and 0177.0.0.1 as addresses; nobody writes them in good faith.
        raise fetch_error(
            FetchCause.BLOCKED_ADDRESS, shown, "an address must be written with four decimal numbers"
        )


def _is_address(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return getattr(address, "scope_id", None) is None


def _may_share_secrets(url: httpx.URL, target: httpx.URL) -> bool:
    """Whether both have one origin, or differ only by the step from http to https on the usual ports."""
    if url.raw_host != target.raw_host:
        return False
    if url.scheme == target.scheme:
        return (url.port or _PORTS[url.scheme]) == (target.port or _PORTS[target.scheme])
    return url.scheme == "http" and url.port is None and target.port is None


def _permanent_url(redirects: Sequence[Redirect]) -> str | None:
    permanent = None
    for redirect in redirects:
        if redirect.status not in PERMANENT_REDIRECTS:
            break
        permanent = redirect.to_url
    return permanent
