"""A body that goes to a file: bounded, measured as it was sent, and never mixed with an error page."""

import gzip
import hashlib
from io import BytesIO

import pytest

from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchCause, FetchError
from tests.unit.http.servers import Exchange, quick, serve

BODY = bytes(range(256)) * 300


async def test_the_body_is_in_the_sink_and_measured(client: HttpClient) -> None:
    async def respond(exchange: Exchange) -> None:
        await exchange.answer(BODY, Content_Type="application/fits")

    sink = BytesIO()
    async with serve(respond) as server:
        response = await client.download(server.url("/file"), sink, headers={"Accept": "application/fits"})
    assert sink.getvalue() == BODY
    assert (response.status, response.body) == (200, b"")
    assert response.received == len(BODY)
    assert response.sha256 == hashlib.sha256(BODY).hexdigest()
    assert server.exchanges[0].headers["accept"] == "application/fits"


async def test_a_compressed_body_is_measured_as_it_was_sent(client: HttpClient) -> None:
    packed = gzip.compress(BODY)

    async def respond(exchange: Exchange) -> None:
        await exchange.answer(packed, Content_Encoding="gzip")

    sink = BytesIO()
    async with serve(respond) as server:
        response = await client.download(server.url("/file"), sink)
    assert sink.getvalue() == BODY
    assert (response.received, response.sha256) == (len(packed), hashlib.sha256(packed).hexdigest())


async def test_a_redirect_is_followed_and_leaves_nothing_in_the_sink(client: HttpClient) -> None:
    async def respond(exchange: Exchange) -> None:
        if exchange.target == "/old":
            await exchange.answer(b"moved, see there", 302, Location="/new")
        else:
            await exchange.answer(b"the file")

    sink = BytesIO()
    async with serve(respond) as server:
        response = await client.download(server.url("/old"), sink)
    assert sink.getvalue() == b"the file"
    assert [redirect.status for redirect in response.redirects] == [302]


@pytest.mark.parametrize("status", [401, 404, 429, 503])
async def test_an_error_page_stays_out_of_the_sink(client: HttpClient, status: int) -> None:
    async def respond(exchange: Exchange) -> None:
        await exchange.answer(b"<html>no</html>", status, Retry_After="120")

    sink = BytesIO()
    async with serve(respond) as server:
        response = await client.download(server.url("/file"), sink)
    assert sink.getvalue() == b""
    assert (response.status, response.body) == (status, b"<html>no</html>")
    assert (response.received, response.sha256) == (0, "")
    assert response.retry_after is not None


@pytest.mark.parametrize(
    ("body", "headers", "cause"),
    [
        (BODY, {}, FetchCause.TOO_LARGE),
        (gzip.compress(b"\0" * 10_000_000, mtime=0), {"Content_Encoding": "gzip"}, FetchCause.TOO_LARGE),
        (gzip.compress(BODY[:4_000], mtime=0)[:-20], {"Content_Encoding": "gzip"}, FetchCause.TRUNCATED),
        (b"\x1f\x8b" + b"x" * 50, {"Content_Encoding": "gzip"}, FetchCause.DECODE_ERROR),
    ],
    ids=["long", "bomb", "cut", "broken"],
)
async def test_what_is_too_long_or_broken_is_refused_and_the_sink_stays_bounded(
    body: bytes, headers: dict[str, str], cause: FetchCause
) -> None:
    async def respond(exchange: Exchange) -> None:
        await exchange.answer(body, 200, **headers)

    sink = BytesIO()
    async with serve(respond) as server, HttpClient(quick()) as client:
        with pytest.raises(FetchError) as failed:
            await client.download(server.url("/file"), sink, max_bytes=50_000)
    assert failed.value.cause is cause
    assert len(sink.getvalue()) <= 50_000


async def test_a_body_that_breaks_off_is_no_success(client: HttpClient) -> None:
    async def respond(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + BODY[:2000])
        exchange.close()

    async with serve(respond) as server:
        with pytest.raises(FetchError) as failed:
            await client.download(server.url("/file"), BytesIO())
    assert failed.value.cause is FetchCause.TRUNCATED
