"""What stands before the embedded cloud, asked with requests as they come from the wire."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import boto3
import botocore.config
import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from sourcebook.bucket.objects import Objects
from sourcebook_local.request_guard import RequestGuard

PORT = 4610
HERE = f"127.0.0.1:{PORT}"
KEYS = {"000000000000": ("right secret", ""), "ASIASESSION": ("secret of the session", "its token")}
ROOT = Credentials("000000000000", "right secret")
SESSION = Credentials("ASIASESSION", "secret of the session", "its token")
PAGE = "/_aws/execute-api/ab12cd34/"


@dataclass
class Seen:
    """What came through to the application, and what came back."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    let_in: bool = False
    path: str = ""
    host: str = ""
    received: bytes = b""


def secret_of(key: str, token: str) -> str | None:
    secret, expected = KEYS.get(key, (None, ""))
    return secret if token == expected else None


def send(
    method: str = "GET",
    target: str = "/",
    headers: Mapping[str, str] | list[tuple[str, str]] | None = None,
    body: bytes = b"",
    *,
    now: datetime | None = None,
    scheme: str = "http",
) -> Seen:
    """Send one request to a guard with an application that answers with CORS open, as MiniStack does."""
    seen = Seen()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.let_in, seen.path = True, scope["path"]
        seen.host = next((v.decode() for k, v in scope["headers"] if k == b"host"), "")
        seen.received = (await receive()).get("body", b"")
        opened = [(b"Access-Control-Allow-Origin", b"*"), (b"access-control-allow-headers", b"*")]
        await send({"type": "http.response.start", "status": 200, "headers": [*opened, (b"x-kept", b"1")]})
        await send({"type": "http.response.body", "body": b"secrets"})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def answer(message: Any) -> None:
        if message["type"] == "http.response.start":
            seen.status = message["status"]
            seen.headers = {k.decode().lower(): v.decode() for k, v in message["headers"]}
        else:
            seen.body += message.get("body", b"")

    pairs = list(headers.items()) if isinstance(headers, Mapping) else headers or []
    if not any(name.lower() == "host" for name, _ in pairs):
        pairs = [("Host", HERE), *pairs]
    parts = urlsplit(f"http://host{target}")
    scope = {
        "type": "http",
        "method": method,
        "scheme": scheme,
        "path": _decoded(parts.path),
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in pairs],
    }
    guard = RequestGuard(
        application,
        port=PORT,
        secret_of=secret_of,
        needs_signature=lambda _method, path: path.endswith("/for-signed-callers"),
        now=lambda: now or datetime.now(UTC),
    )
    asyncio.run(guard(scope, receive, answer))
    return seen


def _decoded(path: str) -> str:
    from urllib.parse import unquote

    return unquote(path)


def signed(
    method: str = "POST",
    target: str = "/",
    body: bytes = b"",
    *,
    service: str = "dynamodb",
    credentials: Credentials = ROOT,
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the headers of a request, signed as botocore does for a client."""
    request = AWSRequest(method, f"http://{HERE}{target}", data=body, headers=dict(extra or {}))
    (S3SigV4Auth if service == "s3" else SigV4Auth)(credentials, service, "us-east-1").add_auth(request)
    return {"Host": HERE, **dict(request.headers.items())}


def refused(seen: Seen, reason: str) -> None:
    assert (seen.status, seen.let_in) == (403, False)
    assert reason in json.loads(seen.body)["message"]
    assert "access-control-allow-origin" not in seen.headers


# Who may come in


@pytest.mark.parametrize("credentials", [ROOT, SESSION], ids=["the account", "a session"])
@pytest.mark.parametrize(
    ("service", "target"),
    [
        ("dynamodb", "/"),
        ("lambda", "/2015-03-31/functions/a%3Ab/invocations"),
        ("s3", "/bucket/a%20b/%C3%BC%2B%25//c?list-type=2&prefix=a%2Fb&delimiter="),
        ("execute-api", f"{PAGE}%24default/iam/feeds?b=2&a=1&a=0"),
    ],
)
def test_a_signature_with_the_credentials_of_the_stack_is_let_in(
    credentials: Credentials, service: str, target: str
) -> None:
    headers = signed("POST", target, b"{}", service=service, credentials=credentials)
    seen = send("POST", target, headers, b"{}")
    assert (seen.let_in, seen.received) == (True, b"{}")


def test_what_boto3_itself_sends_is_let_in() -> None:
    for body in (b"", b"some bytes"):
        request = captured("s3", "put_object", Bucket="bucket", Key="a b/ü", Body=body)
        seen = send(request.method, target_of(request), dict(headers_of(request)), body)
        assert seen.let_in, seen.body
    request = captured("sqs", "send_message", QueueUrl=f"http://{HERE}/0/q", MessageBody="ä&b")
    assert send(request.method, target_of(request), dict(headers_of(request)), request.body).let_in


@pytest.mark.parametrize("service", ["s3", "sts"])
def test_an_address_that_was_signed_is_let_in_until_it_ends(service: str) -> None:
    target = presigned(service, expires=60)
    assert send("GET", target).let_in
    refused(send("GET", target, now=datetime.now(UTC) + timedelta(seconds=61)), "of another time")
    refused(send("GET", target.replace("Expires=60", "Expires=90")), "not the one that the secret")
    refused(send("GET", target.replace("Expires=60", "Expires=999999999")), "between a second and a week")
    refused(send("DELETE", target), "not the one that the secret")


def test_a_link_for_an_upload_takes_the_file_that_it_was_made_for_and_no_other() -> None:
    body, other = b"mjd,mag\n", b"mjd,mag\n1,2\n"
    checksum = base64.b64encode(hashlib.sha256(body).digest()).decode()
    config = botocore.config.Config(signature_version="s3v4", s3={"addressing_style": "path"})
    url, to_send = Objects(client_of("s3", config), "bucket").signed_upload(
        "raw/photometry/a b.csv", "text/plain", len(body), checksum
    )
    target = url.removeprefix(f"http://{HERE}")
    headers = {"Host": HERE, **to_send, "content-length": str(len(body))}
    assert send("PUT", target, headers, body).let_in
    for change in (
        {"content-length": str(len(other))},
        {"content-type": "text/html"},
        {"x-amz-checksum-sha256": base64.b64encode(hashlib.sha256(other).digest()).decode()},
    ):
        refused(send("PUT", target, {**headers, **change}, other), "not the one that the secret")


def presigned(service: str, expires: int) -> str:
    if service == "s3":
        config = botocore.config.Config(signature_version="s3v4", s3={"addressing_style": "path"})
        client = client_of("s3", config)
        key = {"Bucket": "bucket", "Key": "a b"}
        url = str(client.generate_presigned_url("get_object", Params=key, ExpiresIn=expires))
    else:
        request = AWSRequest("GET", f"http://{HERE}/?Action=GetCallerIdentity&Version=2011-06-15")
        SigV4QueryAuth(ROOT, service, "us-east-1", expires=expires).add_auth(request)
        url = str(request.url)
    return url.removeprefix(f"http://{HERE}")


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_the_http_api_is_open_without_a_signature(method: str) -> None:
    seen = send(method, f"{PAGE}articles?limit=3", body=b"{}")
    assert (seen.let_in, seen.body) == (True, b"secrets")
    assert send(method, f"{PAGE}feeds", {"Authorization": "Bearer sb_abc", "Origin": f"http://{HERE}"}).let_in


def test_no_answer_lets_another_origin_read_it() -> None:
    seen = send("GET", PAGE)
    assert seen.headers == {"x-kept": "1"}


def test_the_api_by_its_name_is_the_api_by_its_path_and_nothing_else() -> None:
    name = {"Host": f"ab12cd34.execute-api.localhost:{PORT}"}
    for target in ("/articles", "/_ministack/reset", "/?Action=DeleteStack", "/_aws/sqs/messages"):
        seen = send("GET", target, name)
        assert seen.path == PAGE.removesuffix("/") + urlsplit(target).path
        assert seen.host == HERE


# What is refused: a signature that is missing, foreign or of another request


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/?Action=DeleteStack&StackName=SourcebookPipeline",
        "/bucket/key",
        "/_ministack/reset",
        "/_ministack/ready",
        "/_ministack/config",
        "/health",
        "/_localstack/health",
        "/_aws/sqs/messages",
        "/_aws/execute-api",
        "/_aws/execute-api/ab12cd34",
        "/_aws/execute-api//ab12cd34/",
        "/_aws/execute-api/../x/y",
        "//_aws/execute-api/ab12cd34/",
        "/restapis/ab12cd34/x/_user_request_/feeds",
        "/2015-03-31/functions",
        "/_AWS/execute-api/ab12cd34/",
        f"{PAGE}@connections/abc",
        f"{PAGE}dev/@connections/abc",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "OPTIONS", "HEAD"])
def test_everything_but_the_http_api_needs_a_signature(method: str, target: str) -> None:
    refused(send(method, target, {"X-Amz-Target": "secretsmanager.ListSecrets"}), "needs a signature")


AMZ = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
SCOPE = f"{AMZ[:8]}/us-east-1/secretsmanager/aws4_request"


@pytest.mark.parametrize(
    "authorization",
    [
        "AWS4-x",
        "AWS4-HMAC-SHA256",
        "AWS4-HMAC-SHA256 Credential=test/x, SignedHeaders=host, Signature=0",
        f"AWS4-HMAC-SHA256 Credential=test/{SCOPE}, SignedHeaders=host;x-amz-date, Signature={'0' * 64}",
        f"AWS4-HMAC-SHA256 Credential=000000000000/{SCOPE}, SignedHeaders=host, Signature={'0' * 64}",
        f"AWS4-HMAC-SHA256 Credential=/{SCOPE}, SignedHeaders=host, Signature=",
        f"AWS4-HMAC-SHA256 Credential=ASIASESSION/{SCOPE}, SignedHeaders=host, Signature={'0' * 64}",
        f"AWS4-ECDSA-P256-SHA256 Credential=000000000000/{SCOPE}, SignedHeaders=host, Signature=00",
        "AWS 000000000000:c2lnbmF0dXJl",
        "Basic dGVzdDp0ZXN0",
        "Bearer AWS4-HMAC-SHA256 Credential=000000000000/x",
    ],
)
@pytest.mark.parametrize("target", ["/", f"{PAGE}iam/feeds", f"{PAGE}%69am/feeds", f"{PAGE}/iam/feeds"])
def test_a_made_up_signature_is_refused(authorization: str, target: str) -> None:
    seen = send("POST", target, {"Authorization": authorization, "X-Amz-Date": AMZ}, b"{}")
    assert (seen.status, seen.let_in) == (403, False)


MADE_UP = "&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=00"


@pytest.mark.parametrize(
    "query",
    [
        f"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=000000000000/{SCOPE}&X-Amz-Date={AMZ}{MADE_UP}",
        "AWSAccessKeyId=000000000000&Signature=c2lnbmF0dXJl&Expires=9999999999",
        f"x-amz-credential=123456789012/{SCOPE}",
    ],
)
def test_a_made_up_signature_in_the_address_is_refused(query: str) -> None:
    for target in ("/bucket/key", f"{PAGE}articles", f"{PAGE}iam/feeds"):
        assert not send("GET", f"{target}?{query}").let_in


@pytest.mark.parametrize(
    "path", ["iam", "iam/feeds", "%2Fiam/feeds", "./iam/feeds", "$default/iam", "for-signed-callers"]
)
def test_what_is_for_signed_callers_is_for_nobody_else(path: str) -> None:
    refused(send("GET", f"{PAGE}{path}"), "needs a signature")
    refused(send("POST", f"{PAGE}{path}", {"Authorization": "Bearer sb_abc"}), "needs a signature")
    name = {"Host": f"ab12cd34.execute-api.localhost:{PORT}"}
    refused(send("GET", f"/{path}", name), "needs a signature")


def test_a_signature_by_foreign_credentials_is_refused() -> None:
    for credentials, reason in (
        (Credentials("000000000000", "test"), "not the one that the secret"),
        (Credentials("test", "test"), "not one of this stack"),
        (Credentials("ASIASESSION", "secret of the session"), "not one of this stack"),
        (Credentials("ASIASESSION", "secret of the session", "another token"), "not one of this stack"),
    ):
        refused(send("POST", "/", signed(credentials=credentials)), reason)


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("POST", "/?Action=DeleteStack", b"body"),
        ("POST", "/other", b"body"),
        ("DELETE", "/", b"body"),
        ("POST", "/", b"another body"),
        ("POST", "/", b""),
    ],
)
def test_a_signature_is_of_one_request_only(method: str, target: str, body: bytes) -> None:
    headers = signed("POST", "/", b"body")
    assert send("POST", "/", headers, b"body").let_in
    assert not send(method, target, headers, body).let_in


@pytest.mark.parametrize("service", ["s3", "dynamodb"])
def test_a_digest_that_is_not_of_the_body_is_refused(service: str) -> None:
    said = {"X-Amz-Content-SHA256": hashlib.sha256(b"body").hexdigest()}
    headers = signed("POST", "/bucket/key", b"body", service=service, extra=said)
    assert send("POST", "/bucket/key", headers, b"body").let_in
    refused(send("POST", "/bucket/key", headers, b"another"), "is not that of the body")


@pytest.mark.parametrize(
    ("service", "payload", "good"),
    [
        ("s3", "UNSIGNED-PAYLOAD", True),
        ("s3", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", True),
        ("dynamodb", "UNSIGNED-PAYLOAD", False),
        ("lambda", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", False),
        ("s3", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", False),
        ("s3", "anything", False),
    ],
)
def test_only_s3_takes_a_body_that_is_not_signed(service: str, payload: str, good: bool) -> None:
    request = AWSRequest("PUT", f"http://{HERE}/bucket/key", headers={"X-Amz-Content-SHA256": payload})
    auth = _Unsigned(ROOT, service, "us-east-1")
    auth.add_auth(request)
    seen = send("PUT", "/bucket/key", {"Host": HERE, **dict(request.headers.items())}, b"any")
    assert seen.let_in is good
    if not good:
        refused(seen, "cannot be checked here")


class _Unsigned(SigV4Auth):
    """Signs with the digest that the request has."""

    def _normalize_url_path(self, path: str) -> str:
        return path


@pytest.mark.parametrize("minutes", [-16, 16, -60 * 24 * 365])
def test_a_signature_of_another_time_is_refused(minutes: int) -> None:
    now = datetime.now(UTC) + timedelta(minutes=minutes)
    refused(send("POST", "/", signed(), now=now), "of another time")


# What is refused: another site


HOSTS = [
    "evil.example",
    "evil.example:4610",
    "127.0.0.1",
    "127.0.0.1:80",
    "127.0.0.1:4611",
    "localhost:1",
    "127.0.0.2:4610",
    "0.0.0.0:4610",
    "127.0.0.1.evil.example:4610",
    "localhost.evil.example:4610",
    "localhost.:4610",
    "evil.localhost:4610",
    "a.execute-api.localhost",
    "x.y.execute-api.localhost:4610",
    "evil.example#.execute-api.localhost:4610",
    "user@127.0.0.1:4610",
    "bucket.s3.localhost:4610",
    "127.0.0.1:4610:4610",
    "127.1:4610",
    "2130706433:4610",
    "[::ffff:127.0.0.1]:4610",
    "127.0.0.1:04610x",
    "",
]


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_is_refused_signed_or_not(host: str) -> None:
    refused(send("GET", PAGE, {"Host": host}), "Host is not")
    refused(send("POST", "/", signed() | {"Host": host}), "Host is not")


@pytest.mark.parametrize("host", [HERE, "localhost:4610", "LOCALHOST:4610", "[::1]:4610"])
def test_every_name_of_this_machine_with_the_port_is_let_in(host: str) -> None:
    assert send("GET", PAGE, {"Host": host}).let_in


def test_two_hosts_or_none_are_refused() -> None:
    refused(send("GET", PAGE, [("Host", HERE), ("Host", "evil.example")]), "host is sent 2 times")
    refused(send("GET", PAGE, [("Host", HERE), ("Host", HERE)]), "host is sent 2 times")
    refused(send("GET", PAGE, [("Host", "")]), "Host is not")


ORIGINS = [
    "null",
    "http://evil.example",
    "http://127.0.0.1",
    "http://127.0.0.1:8000",
    "https://127.0.0.1:4610",
    "http://localhost:4610",
    "http://127.0.0.1:4610.evil.example",
    "http://evil.example:4610",
    "file://",
    "chrome-extension://abc",
    "http://127.0.0.1:46100",
    "",
    "http://ab12cd34.execute-api.localhost:4610",
]


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_another_origin_is_refused_signed_or_not(origin: str, method: str) -> None:
    refused(send(method, f"{PAGE}feeds", {"Origin": origin}), "Origin is another one")
    refused(send(method, "/", signed(method) | {"Origin": origin}), "Origin is another one")


def test_two_origins_are_refused() -> None:
    own = f"http://{HERE}"
    refused(send("GET", PAGE, [("Origin", own), ("Origin", "http://evil.example")]), "origin is sent 2 times")


OPENED = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.mark.parametrize("site", ["cross-site", "same-site", "something-new"])
@pytest.mark.parametrize(
    ("method", "rest"),
    [
        ("GET", {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}),
        ("GET", {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}),
        ("GET", {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}),
        ("GET", {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}),
        ("GET", {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "object"}),
        ("GET", {"Sec-Fetch-Mode": "websocket"}),
        ("GET", {}),
        ("POST", OPENED),
        ("POST", {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "empty"}),
        ("PUT", OPENED),
    ],
)
def test_a_request_for_another_site_is_refused(site: str, method: str, rest: dict[str, str]) -> None:
    refused(send(method, f"{PAGE}feeds", {"Sec-Fetch-Site": site, **rest}), "Sec-Fetch-Site is another one")


def test_a_link_on_another_site_opens_a_page_and_nothing_else() -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-User": "?1", **OPENED}
    assert send("GET", f"{PAGE}articles", link).let_in
    refused(send("GET", "/?Action=ListStacks", link), "Sec-Fetch-Site is another one")
    refused(send("GET", presigned("s3", 60), link), "Sec-Fetch-Site is another one")


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_the_pages_own_requests_are_let_in(site: str) -> None:
    own = {
        "Sec-Fetch-Site": site,
        "Sec-Fetch-Mode": "cors",
        "Sec-Fetch-Dest": "empty",
        "Origin": f"http://{HERE}",
    }
    assert send("POST", f"{PAGE}feeds", own, b"{}").received == b"{}"


def test_a_websocket_is_refused() -> None:
    sent: list[Any] = []

    async def application(_scope: Any, _receive: Any, _send: Any) -> None:
        raise AssertionError("let in")

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    async def answer(message: Any) -> None:
        sent.append(message)

    guard = RequestGuard(application, port=PORT, secret_of=secret_of, needs_signature=lambda _m, _p: False)
    asyncio.run(guard({"type": "websocket", "path": PAGE, "headers": []}, receive, answer))
    assert sent == [{"type": "websocket.close", "code": 1008}]


# Requests as boto3 makes them


def client_of(service: str, config: botocore.config.Config | None = None) -> Any:
    session = boto3.session.Session("000000000000", "right secret", region_name="us-east-1")
    return session.client(service, endpoint_url=f"http://{HERE}", config=config)  # type: ignore[call-overload]


class _Captured(Exception):
    def __init__(self, request: Any) -> None:
        self.request = request


def captured(service: str, operation: str, **arguments: object) -> Any:
    """Return the request that a call of boto3 would send."""
    client = client_of(service, botocore.config.Config(inject_host_prefix=False))

    def stop(request: Any, **_: object) -> None:
        raise _Captured(request)

    client.meta.events.register("before-send", stop)
    with pytest.raises(_Captured) as caught:
        getattr(client, operation)(**arguments)
    return caught.value.request


def target_of(request: Any) -> str:
    return str(request.url).removeprefix(f"http://{HERE}")


def headers_of(request: Any) -> list[tuple[str, str]]:
    return [("Host", HERE)] + [
        (name, value.decode() if isinstance(value, bytes) else value)
        for name, value in request.headers.items()
    ]
