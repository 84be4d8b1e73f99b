"""Refuses requests that no client of the local stack would send.

MiniStack runs functions as processes of this user, and by itself it believes every request. A page that is
open in a browser can send requests to 127.0.0.1 too, so every request is judged here first:

* `Host` must be a loopback name with this port. A name that somebody has bound to 127.0.0.1 is another one
  (DNS rebinding).
* `Origin` must be the origin of the request itself, and `Sec-Fetch-Site` must not name another site. One
  exception: a link from elsewhere may open a page of the HTTP API.
* Everything but the HTTP API of the stack needs a valid signature (Signature Version 4) with credentials that
  this cloud has made. So does a request to the HTTP API below ``/iam``, or one that claims to be signed.

No answer lets another origin read it: headers of CORS are taken off.

This file runs in MiniStack's interpreter, where nothing of the project can be imported, and in the tests.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest, HTTPHeaders
from botocore.credentials import Credentials

Message: TypeAlias = MutableMapping[str, Any]
"""A message or a scope of ASGI, whose form the ASGI specification gives."""
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]
SecretOf: TypeAlias = Callable[[str, str], str | None]
"""Returns the secret of an access key and its session token (or ""); None if they are not valid here."""
Record: TypeAlias = Callable[[str, str, "Incoming", bytes], None]
"""Takes the access key, the service, the head and the body of a request whose signature is right."""
NeedsSignature: TypeAlias = Callable[[str, str], bool]
"""Says whether a method and a path of the HTTP API are for callers with a signature only."""

API_PREFIX = "/_aws/execute-api/"
"""Where MiniStack serves an HTTP API; `<id>.execute-api.localhost` is the same by another name."""

_API_PATH = re.compile(re.escape(API_PREFIX) + r"[a-z0-9]+/(?P<path>.*)", re.DOTALL)
_HOST = re.compile(
    r"(?:127\.0\.0\.1|localhost|\[::1\]|(?P<api>[a-z0-9]+)\.execute-api\.localhost)(?::(?P<port>[0-9]{1,5}))?"
)
_ALGORITHM = "AWS4-HMAC-SHA256"
_CLAIMS = ("x-amz-", "awsaccesskeyid", "signature")
"""Beginnings of the names in a query by which a request says that it is signed."""
_CLOCK_SKEW = timedelta(minutes=15)
_LONGEST_LIFE = 7 * 24 * 3600
_UNSIGNED = frozenset({"UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"})
"""What S3 accepts in the place of the digest of a body."""
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LOGGED = 100


class RefusedError(Exception):
    """A request is refused; the message has the reason."""


@dataclass(frozen=True)
class Incoming:
    """The head of a request, as it was sent.

    Attributes:
        headers: names in lower case, each with every value that it was sent with.
        path: decoded.
        raw_path: as it was sent, without the query.
    """

    method: str
    scheme: str
    path: str
    raw_path: str
    query: str
    headers: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, scope: Message) -> Incoming:
        """Read the scope of an HTTP request."""
        path = str(scope["path"])
        raw = scope.get("raw_path") or path.encode()
        return cls(
            method=str(scope["method"]).upper(),
            scheme=str(scope.get("scheme", "http")),
            path=path,
            raw_path=raw.decode("latin-1"),
            query=scope.get("query_string", b"").decode("latin-1"),
            headers=tuple(
                (name.decode("latin-1").lower(), _text(value)) for name, value in scope.get("headers", ())
            ),
        )

    def header(self, name: str) -> str | None:
        """Return the one value of a header, None without it.

        Raises:
            RefusedError: if it was sent more than once.
        """
        values = [value for key, value in self.headers if key == name]
        if len(values) > 1:
            raise RefusedError(f"{name} is sent {len(values)} times")
        return values[0].strip() if values else None

    def parameters(self) -> dict[str, str]:
        """Return the parameters of the query."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    def claims_a_signature(self) -> bool:
        """Return whether it has anything like a signature or a credential of AWS."""
        authorization = " ".join(value for key, value in self.headers if key == "authorization")
        return (
            authorization.upper().startswith("AWS")
            or "credential=" in authorization.lower()
            or any(name.lower().startswith(_CLAIMS) for name in self.parameters())
        )


@dataclass(frozen=True)
class Claim:
    """The signature of a request, with the secret of the key that it names."""

    credentials: Credentials
    region: str
    service: str
    date: str
    signed_headers: frozenset[str]
    signature: str
    presigned: bool


class RequestGuard:
    """An ASGI application that checks requests before another one gets them.

    Args:
        application: gets the requests that are let in.
        port: the port that this server listens on.
        secret_of: finds the secret of an access key.
        needs_signature: says which routes of the HTTP API need a signature.
        now: returns the present time, with its zone.
        log: takes a line for each of the first refusals.
        record: called with each signed request; None for none.
    """

    def __init__(
        self,
        application: Application,
        *,
        port: int,
        secret_of: SecretOf,
        needs_signature: NeedsSignature,
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),  # noqa: UP017 - as old as MiniStack's
        log: Callable[[str], None] = lambda _line: None,
        record: Record | None = None,
    ) -> None:
        self._application = application
        self._port = port
        self._secret_of = secret_of
        self._needs_signature = needs_signature
        self._now = now
        self._log = log
        self._record = record
        self._refused = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            # No API of the project speaks WebSocket.
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            receive = await self._judge(scope, receive)
        except RefusedError as error:
            await self._refuse(scope, send, str(error))
            return
        await self._application(scope, receive, _without_cors(send))

    async def _judge(self, scope: Message, receive: Receive) -> Receive:
        """Check a request; return what reads its body. An address by name becomes one by path.

        Raises:
            RefusedError: if it is not let in.
        """
        request = Incoming.of(scope)
        api = check_host(request, self._port)
        path = f"{API_PREFIX}{api}{request.path}" if api else request.path
        found = _API_PATH.fullmatch(path)
        check_site(request, is_page=found is not None)
        if found is None or request.claims_a_signature() or self._signed_only(request.method, path, found):
            claim = claimed(request, self._secret_of, self._now())
            body = await _read(receive)
            check_signature(request, body, claim)
            if self._record is not None and found is None:
                self._record(claim.credentials.access_key, claim.service, request, body)
            receive = _again(body, receive)
        if api:
            # MiniStack answers some paths of its own under every name: by the path only the API does.
            scope["path"] = path
            scope["raw_path"] = f"{API_PREFIX}{api}{request.raw_path}".encode("latin-1")
            others = [(name, value) for name, value in scope["headers"] if name.lower() != b"host"]
            scope["headers"] = [*others, (b"host", f"127.0.0.1:{self._port}".encode())]
        return receive

    def _signed_only(self, method: str, path: str, found: re.Match[str]) -> bool:
        segments = [part for part in found["path"].split("/") if part not in {"", ".", "$default"}]
        # The gateway's own way to its clients is no route.
        return segments[:1] == ["iam"] or "@connections" in segments or self._needs_signature(method, path)

    async def _refuse(self, scope: Message, send: Send, reason: str) -> None:
        self._refused += 1
        if self._refused <= _LOGGED:
            self._log(f"refused: {scope['method']!r} {str(scope['path'])[:100]!r}: {reason}")
        body = json.dumps({"__type": "AccessDeniedException", "message": reason}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def check_host(request: Incoming, port: int) -> str:
    """Return the API that `Host` names, "" if it names this machine only.

    Raises:
        RefusedError: if it is another name or port, or there is not exactly one.
    """
    host = request.header("host")
    found = _HOST.fullmatch(host.lower()) if host else None
    standard = 443 if request.scheme == "https" else 80
    if not found or int(found["port"] or standard) != port:
        raise RefusedError(f"Host is not 127.0.0.1:{port} or localhost:{port}")
    return found["api"] or ""


def check_site(request: Incoming, *, is_page: bool) -> None:
    """Check that a request is not from a page of another origin.

    Args:
        request: the request.
        is_page: whether it is for the HTTP API, which a link from elsewhere may open.

    Raises:
        RefusedError: if it is for another page.
    """
    origin = request.header("origin")
    if origin is not None and origin.lower() != f"{request.scheme}://{request.header('host')}".lower():
        raise RefusedError("Origin is another one: pages of other sites may not use the local stack")
    if request.header("sec-fetch-site") in {None, "same-origin", "none"}:
        return
    opened = (request.header("sec-fetch-mode"), request.header("sec-fetch-dest")) == ("navigate", "document")
    if not (is_page and opened and origin is None and request.method in {"GET", "HEAD"}):
        raise RefusedError("Sec-Fetch-Site is another one: pages of other sites may not use the local stack")


def claimed(request: Incoming, secret_of: SecretOf, now: datetime) -> Claim:
    """Return the signature that a request claims; needs no body.

    Raises:
        RefusedError: if it has none, is too old or too new, or its key is not known here.
    """
    authorization = request.header("authorization")
    presigned = authorization is None
    if presigned:
        fields = {name.removeprefix("X-Amz-"): value for name, value in request.parameters().items()}
        algorithm, date, token = (fields.get(name, "") for name in ("Algorithm", "Date", "Security-Token"))
    else:
        algorithm, _, rest = str(authorization).partition(" ")
        fields = {key.strip(): value for key, _, value in (part.partition("=") for part in rest.split(","))}
        date, token = request.header("x-amz-date") or "", request.header("x-amz-security-token") or ""
    scope = fields.get("Credential", "").split("/")
    names = frozenset(fields.get("SignedHeaders", "").split(";"))
    if algorithm != _ALGORITHM or len(scope) != 5 or scope[4] != "aws4_request" or "host" not in names:
        raise RefusedError(
            "this needs a signature (AWS Signature Version 4) with the credentials of this stack: "
            "`sourcebook env` prints them for the AWS command line"
        )
    key, day, region, service, _ = scope
    _check_time(date, day, fields.get("Expires", "") if presigned else None, now)
    secret = secret_of(key, token)
    if secret is None:
        raise RefusedError("the access key, or its session token, is not one of this stack")
    return Claim(
        Credentials(key, secret), region, service, date, names, fields.get("Signature", ""), presigned
    )


def check_signature(request: Incoming, body: bytes, claim: Claim) -> None:
    """Compute the signature and compare it.

    Raises:
        RefusedError: if it is not the one that the secret gives.
    """
    signer = (_S3Signer if claim.service == "s3" else _Signer)(claim.credentials, claim.service, claim.region)
    signer.digest = _payload(request, body, claim)
    query = "&".join(part for part in request.query.split("&") if not part.startswith("X-Amz-Signature="))
    again = AWSRequest(request.method, f"http://host{request.raw_path}?{query}")
    again.context["timestamp"] = claim.date
    for name, value in request.headers:
        if name in claim.signed_headers:
            again.headers[name] = value
    computed = signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again)
    if not hmac.compare_digest(str(computed).encode(), claim.signature.encode()):
        raise RefusedError("the signature is not the one that the secret of this stack gives")


def _check_time(date: str, day: str, expires: str | None, now: datetime) -> None:
    try:
        signed = datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)  # noqa: UP017
        seconds = None if expires is None else int(expires)
    except ValueError:
        raise RefusedError("the date of the signature cannot be read") from None
    if seconds is not None and not 0 < seconds <= _LONGEST_LIFE:
        raise RefusedError("X-Amz-Expires is not between a second and a week")
    latest = signed + (_CLOCK_SKEW if seconds is None else timedelta(seconds=seconds))
    if not date.startswith(day) or len(day) != 8 or not signed - _CLOCK_SKEW <= now <= latest:
        raise RefusedError("the signature is of another time")


def _payload(request: Incoming, body: bytes, claim: Claim) -> str:
    """Return the digest that is signed in place of the body.

    Raises:
        RefusedError: if it is not the digest of the body.
    """
    digest = hashlib.sha256(body).hexdigest()
    declared = request.header("x-amz-content-sha256")
    if declared is None:
        return "UNSIGNED-PAYLOAD" if claim.presigned and claim.service == "s3" else digest
    if declared != digest and not (claim.service == "s3" and declared in _UNSIGNED):
        kind = "is not that of the body" if _SHA256.fullmatch(declared) else "cannot be checked here"
        raise RefusedError(f"the digest of the body {kind}")
    return declared


class _Chosen:
    """Signs the headers that the client signed, and the digest that was checked."""

    digest = ""

    def headers_to_sign(self, request: AWSRequest) -> HTTPHeaders:
        return request.headers

    def payload(self, request: AWSRequest) -> str:  # noqa: ARG002 - as botocore calls it
        return self.digest


class _Signer(_Chosen, SigV4Auth):
    """Of all services but S3."""


class _S3Signer(_Chosen, S3SigV4Auth):
    """Of S3, which signs paths as they are."""


async def _read(receive: Receive) -> bytes:
    pieces = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise RefusedError("the request broke off")
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(pieces)


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that gives a body that was read already, and then what follows it."""
    given = False

    async def first_the_body() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return first_the_body


def _without_cors(send: Send) -> Send:
    async def without(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [
                (name, value)
                for name, value in message.get("headers", ())
                if not name.lower().startswith(b"access-control-")
            ]
            message = {**message, "headers": kept}
        await send(message)

    return without


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
