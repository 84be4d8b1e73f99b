"""Requests that go the short way: bytes and outcomes are boto3's, which is asked where it is not so easy."""

from __future__ import annotations

import contextlib
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote_plus
from zlib import crc32

import boto3.session
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError, SSLError
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.clock import utc_now
from sourcebook.direct import DirectClient, Signer, _quoted, with_direct_calls
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import encode_item
from sourcebook_local.tls import Certificates, ensure

NOW = datetime(2026, 11, 28, 6, 5, 4, tzinfo=UTC)
THROTTLED = {"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException", "message": "slow down"}
REFUSED = {
    "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
    "message": "The conditional request failed",
    "Item": {"PK": {"S": "k"}, "SK": {"S": "s"}, "revision": {"N": "2"}},
}


@dataclass
class Asked:
    """One request as the server has seen it."""

    headers: dict[str, str]
    body: bytes
    connection: tuple[str, int]

    @property
    def is_boto3(self) -> bool:
        return "amz-sdk-invocation-id" in self.headers


@dataclass
class Service:
    """A server that answers in turn as it is told, and the last answer from then on.

    An answer is its status and what is sent as JSON or as it is, or a function that writes it.
    """

    answers: list[Any]
    url: str = ""
    asked: list[Asked] = field(default_factory=list)

    def client(self, name: Any = "dynamodb", **options: Any) -> Any:
        session = boto3.session.Session("key", "secret", region_name="us-east-1")
        config = Config(retries={"mode": "standard", "total_max_attempts": 2}, **options)
        return with_direct_calls(session.client(name, endpoint_url=self.url, config=config), session)

    @property
    def short(self) -> list[bool]:
        """Of each request, whether it came the short way."""
        return [not asked.is_boto3 for asked in self.asked]


@contextmanager
def serving(*answers: Any, tls: Certificates | None = None) -> Iterator[Service]:
    service = Service(list(answers))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            named = {name.lower(): value for name, value in self.headers.items()}
            service.asked.append(Asked(named, body, self.client_address))
            answer = service.answers.pop(0) if len(service.answers) > 1 else service.answers[0]
            if callable(answer):
                answer(self)
                return
            status, content = answer
            raw = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("x-amz-crc32", str(crc32(raw)))
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def handle(self) -> None:
            with contextlib.suppress(OSError):  # a client that does not trust the certificate hangs up
                super().handle()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls.certificate, tls.key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    service.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def chunked(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"2\r\n{}\r\n0\r\n\r\n")


def broken_off(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b'{"Item"')
    handler.close_connection = True


def closing(handler: BaseHTTPRequestHandler) -> None:
    """Answer, and close the connection without a word of it."""
    handler.send_response(200)
    handler.send_header("Content-Length", "2")
    handler.end_headers()
    handler.wfile.write(b"{}")
    handler.close_connection = True


def corrupt(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("x-amz-crc32", "1")
    handler.send_header("Content-Length", "2")
    handler.end_headers()
    handler.wfile.write(b"{}")


@pytest.mark.parametrize("token", [None, "a-token=="])
@pytest.mark.parametrize("host", ["dynamodb.us-east-1.amazonaws.com", "127.0.0.1:4567"])
@pytest.mark.parametrize("body", [b"", b'{"a": 1}', "Grüße".encode()])
def test_a_signature_is_the_one_of_botocore(
    token: str | None, host: str, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"host": host, "content-type": "application/x-amz-json-1.0", "x-amz-target": "A_1.Get  Item"}
    credentials = Credentials("key", "secret", token)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda: NOW.replace(tzinfo=None))
    theirs = AWSRequest("POST", f"https://{host}/", headers=headers, data=body)
    SigV4Auth(credentials, "dynamodb", "us-east-1").add_auth(theirs)
    signed = Signer("us-east-1", "dynamodb").sign(headers, body, credentials.get_frozen_credentials(), NOW)
    assert signed["authorization"] == theirs.headers["Authorization"]
    assert signed["x-amz-date"] == theirs.headers["X-Amz-Date"]
    assert signed.get("x-amz-security-token") == theirs.headers.get("X-Amz-Security-Token")


def test_the_key_that_signs_changes_with_the_day_and_with_the_secret() -> None:
    kept = Signer("us-east-1", "sns")
    for secret, now in (("one", NOW), ("two", NOW), ("two", NOW + timedelta(days=1)), ("one", NOW)):
        frozen = Credentials("key", secret).get_frozen_credentials()
        expected = Signer("us-east-1", "sns").sign({"host": "h"}, b"", frozen, now)
        assert kept.sign({"host": "h"}, b"", frozen, now) == expected


def test_an_item_comes_back_as_boto3_brings_it_on_one_connection() -> None:
    item = {"PK": "k", "SK": "s", "n": 1.5, "binary": b"\x00\xff", "words": {"a": ["b", None, True]}}
    wire = json.loads(json.dumps(encode_item(item), default=lambda _: "AP8="))
    with serving((200, {"Item": wire})) as service:
        table = Table("t", service.client())
        assert table.get({"PK": "k", "SK": "s"}) == item
        assert Table("t", service.client()._client).get({"PK": "k", "SK": "s"}) == item
        assert table.get({"PK": "k", "SK": "s"}) == item
        table.client.close()
    assert service.short == [True, False, True]
    first, theirs, second = service.asked
    assert json.loads(first.body) == json.loads(theirs.body)
    assert first.connection == second.connection != theirs.connection
    for name in ("x-amz-target", "content-type", "host"):
        assert first.headers[name] == theirs.headers[name]


def test_what_is_written_is_what_boto3_writes() -> None:
    item = {"PK": "k", "SK": "s", "binary": b"\x00\xff", "name": "Grüße", "none": None}
    with serving((200, {})) as service:
        client = service.client()
        Table("t", client).put(item)
        Table("t", client._client).put(item)
        client.close()
    ours, theirs = service.asked
    assert service.short == [True, False]
    assert json.loads(ours.body) == json.loads(theirs.body)


def test_the_trace_of_a_function_goes_on_as_with_boto3(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "fetch_sources")
    monkeypatch.setenv("_X_AMZN_TRACE_ID", trace)
    with serving((200, {})) as service:
        client = service.client()
        Table("t", client).put({"PK": "k", "SK": "s"})
        Table("t", client._client).put({"PK": "k", "SK": "s"})
        client.close()
    ours, theirs = service.asked
    assert service.short == [True, False]
    assert ours.headers["x-amzn-trace-id"] == theirs.headers["x-amzn-trace-id"] == trace
    assert "x-amzn-trace-id" not in ours.headers["authorization"]


def test_an_empty_answer_is_an_answer() -> None:
    with serving((200, {})) as service:
        client = service.client()
        assert Table("t", client).get({"PK": "k", "SK": "s"}) is None
        client.close()
    assert service.short == [True]


def test_a_condition_that_fails_is_asked_once_and_says_what_it_found() -> None:
    with serving((400, REFUSED)) as service:
        client = service.client()
        table = Table("t", client)
        assert table.create({"PK": "k", "SK": "s"}) == {"PK": "k", "SK": "s", "revision": 2}
        with pytest.raises(ConditionFailed):
            table.change({"PK": "k", "SK": "s"}, assign={"a": 1})
        with pytest.raises(client.exceptions.ConditionalCheckFailedException) as caught:
            client.put_item(TableName="t", Item={})
        client.close()
    assert service.short == [True] * 3
    assert caught.value.response["Error"]["Code"] == "ConditionalCheckFailedException"
    assert caught.value.operation_name == "PutItem"


@pytest.mark.parametrize(
    "trouble",
    [(400, THROTTLED), (500, {"message": "x"}), (200, b""), broken_off, corrupt],
    ids=["throttled", "failing", "no JSON", "broken off", "corrupt"],
)
def test_any_trouble_is_left_to_boto3(trouble: Any) -> None:
    with serving(trouble, (200, {"Item": {"PK": {"S": "k"}}})) as service:
        client = service.client()
        for _ in range(2):
            assert Table("t", client).get({"PK": "k", "SK": "s"}) == {"PK": "k"}
        client.close()
    assert service.short == [True, False, True]


def test_a_refusal_is_the_one_of_boto3() -> None:
    with serving((400, {"__type": "x#AccessDeniedException", "Message": "no"})) as service:
        client = service.client()
        with pytest.raises(ClientError, match=r"\(AccessDeniedException\).*GetItem operation: no"):
            client.get_item(TableName="t", Key={})
        client.close()
    assert service.short == [True, False]


def test_a_connection_that_was_closed_while_idle_is_replaced() -> None:
    with serving(closing, (200, {})) as service:
        client = service.client()
        client.get_item(TableName="t", Key={})
        wait_for_close(client)
        client.get_item(TableName="t", Key={})
        client.close()
    first, second = service.asked
    assert service.short == [True, True]
    assert first.connection != second.connection


def test_a_connection_that_was_idle_for_long_is_replaced() -> None:
    now = [NOW]
    with serving((200, {})) as service:
        client = service.client()
        client._clock = lambda: now[0]
        for minutes in (0, 0, 1):
            now[0] += timedelta(minutes=minutes)
            client.get_item(TableName="t", Key={})
        client.close()
    first, second, third = (asked.connection for asked in service.asked)
    assert first == second != third


def wait_for_close(client: DirectClient) -> None:
    """Wait, at most as long as a request may take, until what is idle has heard of its end."""
    for connection, _ in client._idle:
        connection._poll.poll(5_000)
        return


def test_answers_in_chunks_are_read() -> None:
    with serving(chunked) as service:
        client = service.client()
        for _ in range(2):
            client.get_item(TableName="t", Key={})
        client.close()
    assert service.short == [True, True]


def test_without_credentials_or_through_a_proxy_boto3_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving((200, {})) as service:
        client = service.client()
        client._credentials = lambda: None
        client.get_item(TableName="t", Key={})
        client.close()
        proxied = service.client(proxies={"http": service.url})
        proxied.get_item(TableName="t", Key={})
        proxied.close()
        monkeypatch.setenv("http_proxy", service.url)
        from_environment = service.client()
        from_environment.get_item(TableName="t", Key={})
        from_environment.close()
    assert service.short == [False] * 3


def test_a_server_that_is_not_there_is_what_boto3_says_it_is() -> None:
    with serving((200, {})) as service:
        client = service.client()
    with pytest.raises(Exception, match="Could not connect to the endpoint"):
        client.get_item(TableName="t", Key={})


def test_servers_are_asked_over_tls_when_their_certificate_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificates = ensure(tmp_path, utc_now)
    with serving((200, {"Item": {"PK": {"S": "k"}}}), tls=certificates) as service:
        stranger = service.client()
        for _ in range(2):
            with pytest.raises(SSLError):
                stranger.get_item(TableName="t", Key={})
        assert not stranger.goes_direct
        assert service.asked == []
        stranger.close()
        monkeypatch.setenv("AWS_CA_BUNDLE", str(certificates.bundle))
        client = service.client()
        for _ in range(2):
            assert Table("t", client).get({"PK": "k", "SK": "s"}) == {"PK": "k"}
        client.close()
    first, second = service.asked
    assert service.short == [True, True]
    assert first.connection == second.connection


def test_hooks_may_answer_in_place_of_the_server() -> None:
    def answer(request: Any, **_: Any) -> AWSResponse:
        assert request.headers["x-amz-target"] == "DynamoDB_20120810.GetItem"
        return AWSResponse(request.url, 200, HTTPHeaders(), Raw(b'{"Item": {"PK": {"S": "hooked"}}}'))

    with serving((500, {})) as service:
        client = service.client()
        client.meta.events.register("before-send.dynamodb.GetItem", answer)
        assert Table("t", client).get({"PK": "k", "SK": "s"}) == {"PK": "hooked"}
        client.close()
    assert service.asked == []


class Raw:
    def __init__(self, body: bytes) -> None:
        self._body = [body]

    def stream(self) -> list[bytes]:
        return self._body


def test_other_operations_are_those_of_the_client() -> None:
    with serving((200, {"TableNames": []})) as service:
        client = service.client()
        assert client.list_tables()["TableNames"] == []
        client.close()
    assert service.short == [False]


def test_events_go_the_short_way() -> None:
    entry = {"EventBusName": "bus", "Source": "s", "DetailType": "d", "Detail": "{}"}
    with serving((200, {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]})) as service:
        client = service.client("events")
        ours = client.put_events(Entries=[entry])
        theirs = client._client.put_events(Entries=[entry])
        client.close()
    assert ours["Entries"] == theirs["Entries"]
    assert service.short == [True, False]
    assert json.loads(service.asked[0].body) == json.loads(service.asked[1].body)
    assert service.asked[0].headers["content-type"] == service.asked[1].headers["content-type"]


PUBLISHED = (
    '<PublishBatchResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishBatchResult>{}'
    "<Successful/></PublishBatchResult></PublishBatchResponse>"
)
REFUSAL = "<Failed><member><Id>1</Id><Code>Throttled</Code><SenderFault>false</SenderFault></member></Failed>"


@pytest.mark.parametrize(("failed", "ids"), [("<Failed/>", []), ("", []), (REFUSAL, ["1"])])
def test_messages_go_the_short_way_and_refused_ones_are_returned(failed: str, ids: list[str]) -> None:
    entries = [{"Id": str(n), "Message": f'{{"a": "ü&={n}"}}'} for n in range(3)]
    with serving((200, PUBLISHED.format(failed).encode())) as service:
        client = service.client("sns")
        request = {"TopicArn": "arn:aws:sns:us-east-1:0:t", "PublishBatchRequestEntries": entries}
        ours, theirs = client.publish_batch(**request), client._client.publish_batch(**request)
        client.close()
    assert [one["Id"] for one in ours.get("Failed", ())] == ids
    assert [one["Id"] for one in theirs.get("Failed", ())] == ids
    assert service.short == [True, False]
    assert parse_qs(service.asked[0].body.decode()) == parse_qs(service.asked[1].body.decode())
    assert service.asked[0].headers["content-type"] == service.asked[1].headers["content-type"]


@given(st.text() | st.text('{}":,/ %+&=~-._ü'))
def test_a_form_is_written_as_the_standard_library_writes_it(text: str) -> None:
    assert _quoted(text) == quote_plus(text)


def test_a_message_with_attributes_is_left_to_boto3() -> None:
    attributes = {"kind": {"DataType": "String", "StringValue": "x"}}
    with serving((200, PUBLISHED.format("<Failed/>").encode())) as service:
        client = service.client("sns")
        client.publish_batch(
            TopicArn="t",
            PublishBatchRequestEntries=[{"Id": "1", "Message": "m", "MessageAttributes": attributes}],
        )
        client.close()
    assert service.short == [False]


def test_threads_share_a_client() -> None:
    with serving((200, {"Item": {"PK": {"S": "k"}}})) as service:
        client = service.client()
        table = Table("t", client)
        found: list[object] = []

        def ask() -> None:
            found.extend(table.get({"PK": "k", "SK": "s"}) for _ in range(20))

        threads: list[threading.Thread] = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        client.close()
    assert found == [{"PK": "k"}] * 80
    assert service.short == [True] * 80
    assert len({asked.connection for asked in service.asked}) <= 4
