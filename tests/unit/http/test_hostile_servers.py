"""Servers that misbehave: each ends with its cause, in bounded time and memory, and harms nobody else."""

import asyncio
import gzip
import socket
import struct
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

import pytest

from sourcebook.errors import Retryable, Terminal
from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchCause, FetchError, Severity
from tests.unit.http.servers import Exchange, Respond, quick, serve, serve_raw

MEGABYTE = 1_000_000


def zeros_gzip() -> Iterator[bytes]:
    """A gzip stream that goes on for ever, a thousand times smaller than what it holds."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, 31)
    yield compressor.compress(bytes(MEGABYTE)) + compressor.flush(zlib.Z_FULL_FLUSH)
    block = compressor.compress(bytes(MEGABYTE)) + compressor.flush(zlib.Z_FULL_FLUSH)
    while True:
        yield block


@asynccontextmanager
async def failing(respond: Respond, cause: FetchCause, **limits: object) -> AsyncIterator[FetchError]:
    """Fetch from `respond`, expect `cause` in time, then expect the same client to be as good as new."""
    async with serve(respond) as server, HttpClient(quick(max_concurrent=1, **limits)) as client:
        started = time.monotonic()
        with pytest.raises(FetchError) as caught:
            await client.get(server.url("/bad?token=hush"))
        assert time.monotonic() - started < 5
        assert caught.value.cause is cause
        assert caught.value.url == server.url("/bad?token=…")
        assert "hush" not in str(caught.value)
        assert isinstance(caught.value, Retryable if cause.severity is Severity.TRANSIENT else Terminal)
        # There is one slot in all: had the failure kept it, this would wait for ever.
        async with asyncio.timeout(5):
            assert (await client.get(server.url("/ok"))).body == b"fine"
        yield caught.value


async def expect(respond: Respond, cause: FetchCause, **limits: object) -> FetchError:
    async with failing(respond, cause, **limits) as error:
        return error


class TestTime:
    async def test_slow_drip_ends_at_the_total_time(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n")
            while True:
                await exchange.send(b"x")
                await asyncio.sleep(0.02)

        error = await expect(respond, FetchCause.TIMEOUT, read_timeout=0.3, total_timeout=0.4)
        assert "0.4 s" in str(error)

    async def test_slow_drip_of_the_head_ends_at_the_total_time(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\n")
            while True:
                await exchange.send(b"X: y\r\n")
                await asyncio.sleep(0.02)

        await expect(respond, FetchCause.TIMEOUT, read_timeout=0.3, total_timeout=0.4)

    @pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"])
    async def test_silence_ends_at_the_read_time(self, start: bytes) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(start)
            await asyncio.sleep(60)

        error = await expect(respond, FetchCause.TIMEOUT, read_timeout=0.1, total_timeout=5.0)
        assert "silent for 0.1 s" in str(error)

    async def test_redirects_share_the_total_time(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await asyncio.sleep(0.15)
            await exchange.answer(b"", 302, Location=f"{exchange.target}x")

        await expect(respond, FetchCause.TIMEOUT, total_timeout=0.4)

    async def test_a_server_that_never_begins_tls(self) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(60)

        async with serve_raw(handle) as server, HttpClient(quick(connect_timeout=0.1)) as client:
            with pytest.raises(FetchError) as caught:
                await client.get(f"https://127.0.0.1:{server.port}/")
        assert caught.value.cause is FetchCause.TIMEOUT

    async def test_endless_interim_answers(self) -> None:
        async def respond(exchange: Exchange) -> None:
            while True:
                await exchange.send(b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n" * 1000)

        await expect(respond, FetchCause.PROTOCOL_ERROR)

    async def test_a_cancelled_request_leaves_no_trace(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await asyncio.sleep(60)

        policy = quick(max_concurrent=1, max_concurrent_per_host=1, read_timeout=5.0, total_timeout=5.0)
        async with serve(respond) as server, HttpClient(policy) as client:
            for _ in range(3):
                task = asyncio.create_task(client.get(server.url("/slow")))
                await asyncio.sleep(0.02)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert (await client.get(server.url("/ok"))).body == b"fine"


class TestSize:
    async def test_endless_body(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                await exchange.send(b"x" * 65536)

        await expect(respond, FetchCause.TOO_LARGE)

    async def test_endless_chunked_body(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                await exchange.send(b"1000\r\n" + b"x" * 4096 + b"\r\n")

        await expect(respond, FetchCause.TOO_LARGE)

    async def test_announced_size_is_refused_before_it_is_read(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n")
            await asyncio.sleep(60)

        error = await expect(respond, FetchCause.TOO_LARGE, read_timeout=5.0, total_timeout=5.0)
        assert "100001" in str(error)

    async def test_the_cap_itself_is_allowed(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(gzip.compress(bytes(100_000)), Content_Encoding="gzip")

        async with serve(respond) as server, HttpClient(quick(max_bytes=100_000)) as client:
            assert len((await client.get(server.url("/feed"))).body) == 100_000
            with pytest.raises(FetchError) as caught:
                await client.get(server.url("/feed"), max_bytes=99_999)
        assert caught.value.cause is FetchCause.TOO_LARGE

    @pytest.mark.parametrize("coding", ["gzip", "deflate"])
    async def test_decompression_bomb_stops_at_the_cap_in_memory_too(self, coding: str) -> None:
        async def respond(exchange: Exchange) -> None:
            head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n"
            await exchange.send(head.encode())
            blocks = zeros_gzip()
            first = next(blocks)
            await exchange.send(first if coding == "gzip" else first[10:])
            # One write holds 60 MB of zeros, so a decoder that takes what it gets would show.
            while True:
                await exchange.send(b"".join(next(blocks) for _ in range(60)))

        tracemalloc.start()
        try:
            await expect(respond, FetchCause.TOO_LARGE, max_bytes=2 * MEGABYTE)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 8 * MEGABYTE

    async def test_compressed_stream_that_is_endless_and_empty(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n")
            # Stored blocks of length zero.
            while True:
                await exchange.send(b"\x00\x00\x00\xff\xff" * 10_000)

        await expect(respond, FetchCause.TOO_LARGE)

    async def test_many_empty_gzip_members(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
            members = gzip.compress(b"") * 500
            while True:
                await exchange.send(members)

        error = await expect(respond, FetchCause.DECODE_ERROR, max_bytes=10 * MEGABYTE)
        assert "members" in str(error)

    async def test_body_in_countless_tiny_chunks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sourcebook.http.connection._MOST_PIECES", 5000)

        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            chunks = b"1\r\nx\r\n" * 10_000
            while True:
                await exchange.send(chunks)

        error = await expect(respond, FetchCause.PROTOCOL_ERROR)
        assert "5000 pieces" in str(error)

    async def test_errors_that_are_kept_hold_no_bodies(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n" + b"x" * 1_900_000)
            exchange.close()

        limits = quick(max_bytes=2 * MEGABYTE, read_timeout=5.0, total_timeout=5.0)
        async with serve(respond) as server, HttpClient(limits) as client:
            tracemalloc.start()
            try:
                urls = [server.url("/bad")] * 10
                errors = await asyncio.gather(*map(client.get, urls), return_exceptions=True)
                held = tracemalloc.get_traced_memory()[0]
            finally:
                tracemalloc.stop()
        assert {error.cause for error in errors if isinstance(error, FetchError)} == {FetchCause.TRUNCATED}
        assert held < 4 * MEGABYTE

    async def test_header_flood(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\n")
            while True:
                await exchange.send(b"X-Flood: y\r\n" * 1000)

        await expect(respond, FetchCause.HEADER_TOO_LARGE)

    @pytest.mark.parametrize("size", [60_000, 200_000, 50_000_000])
    async def test_one_huge_header(self, size: int) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\nX-Huge: ")
            for _ in range(size // 20_000):
                await exchange.send(b"y" * 20_000)
            await exchange.send(b"\r\nContent-Length: 0\r\n\r\n")

        await expect(respond, FetchCause.HEADER_TOO_LARGE, max_header_bytes=50_000)

    async def test_a_large_head_within_the_limit(self, client: HttpClient) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(b"body", X_Large="y" * 60_000)

        async with serve(respond) as server:
            response = await client.get(server.url("/feed"))
        assert (response.body, len(response.headers["x-large"])) == (b"body", 60_000)

    async def test_trailers_without_end(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n")
            while True:
                await exchange.send(b"X-Trailer: y\r\n" * 1000)

        await expect(respond, FetchCause.HEADER_TOO_LARGE)

    async def test_an_idle_connection_that_is_flooded(self, client: HttpClient) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer()
            await asyncio.sleep(0.05)
            while True:
                await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfalse" * 10_000)

        tracemalloc.start()
        try:
            async with serve(respond) as server:
                assert (await client.get(server.url("/first"))).body == b"fine"
                await asyncio.sleep(0.3)
                assert (await client.get(server.url("/ok"))).body == b"fine"
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert server.connections == 2
        assert peak < 8 * MEGABYTE


class TestLength:
    async def test_longer_than_sent(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            exchange.close()

        await expect(respond, FetchCause.TRUNCATED)

    async def test_longer_than_sent_on_an_open_connection(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            await asyncio.sleep(60)

        await expect(respond, FetchCause.TIMEOUT)

    @pytest.mark.parametrize("delay", [0, 0.02])
    @pytest.mark.parametrize(
        "framing",
        [b"Content-Length: 4\r\n\r\nbody", b"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"],
        ids=["length", "chunked"],
    )
    async def test_what_follows_the_body_is_not_taken_for_the_next_answer(
        self, client: HttpClient, framing: bytes, delay: float
    ) -> None:
        sent = asyncio.Event()

        async def respond(exchange: Exchange) -> None:
            surplus = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfalse"
            if delay:
                await exchange.send(b"HTTP/1.1 200 OK\r\n" + framing)
                await asyncio.sleep(delay)
                await exchange.send(surplus)
            else:
                await exchange.send(b"HTTP/1.1 200 OK\r\n" + framing + surplus)
            sent.set()

        async with serve(respond) as server:
            assert (await client.get(server.url("/short"))).body == b"body"
            await asyncio.wait_for(sent.wait(), 10)
            await asyncio.sleep(0.1)  # sent is not yet arrived
            assert (await client.get(server.url("/ok"))).body == b"fine"

    @pytest.mark.parametrize(
        "head",
        [
            b"Content-Length: 4\r\nContent-Length: 5",
            b"Content-Length: four",
            b"Content-Length: -4",
            b"Content-Length: " + b"9" * 5000,
            b"Content-Length: 4\r\nTransfer-Encoding: gzip",
        ],
    )
    async def test_lengths_that_contradict_themselves(self, head: bytes) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\nbody")

        await expect(respond, FetchCause.PROTOCOL_ERROR)

    async def test_truncated_chunks(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nhalf")
            exchange.close()

        await expect(respond, FetchCause.TRUNCATED)

    @pytest.mark.parametrize("size", [b"zz", b"-1", b"f" * 30])
    async def test_chunk_sizes_that_are_no_sizes(self, size: bytes) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + size + b"\r\nx\r\n"
            )

        await expect(respond, FetchCause.PROTOCOL_ERROR)


class TestEncoding:
    @pytest.mark.parametrize("kept", [1, 2, 12, -9, -1])
    async def test_truncated_gzip(self, kept: int) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(gzip.compress(b"<rss/>" * 100)[:kept], Content_Encoding="gzip")

        await expect(respond, FetchCause.TRUNCATED)

    @pytest.mark.parametrize("kept", [1, 5, -1])
    async def test_truncated_deflate(self, kept: int) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(zlib.compress(b"<rss/>" * 100)[:kept], Content_Encoding="deflate")

        await expect(respond, FetchCause.TRUNCATED)

    async def test_second_gzip_member_is_truncated(self) -> None:
        async def respond(exchange: Exchange) -> None:
            body = gzip.compress(b"one") + gzip.compress(b"two")[:-3]
            await exchange.answer(body, Content_Encoding="gzip")

        await expect(respond, FetchCause.TRUNCATED)

    @pytest.mark.parametrize(
        ("coding", "body"),
        [
            ("gzip", b"<rss>plain</rss>"),
            ("gzip", gzip.compress(b"<rss/>")[:-8] + b"\0" * 8),
            ("gzip", gzip.compress(b"<rss/>" * 50)[:20] + b"\xff" * 60),
            ("deflate", b"\xff" * 40),
            ("deflate", zlib.compress(b"<rss/>")[:-4] + b"abcd"),
            ("br", b"\x8b\x02\x80<rss/>\x03"),
            ("zstd", b"(\xb5/\xfd"),
            ("gzip, gzip", gzip.compress(gzip.compress(b"<rss/>"))),
        ],
        ids=["plain", "checksum", "noise", "deflate noise", "deflate checksum", "br", "zstd", "twice"],
    )
    async def test_broken_or_unwanted_encoding(self, coding: str, body: bytes) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(body, Content_Encoding=coding)

        await expect(respond, FetchCause.DECODE_ERROR)


class TestConnection:
    @pytest.mark.parametrize(
        "start", [b"", b"HTTP/1.1 2", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"]
    )
    async def test_reset(self, start: bytes) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(start)
            await writer.drain()
            await asyncio.sleep(0.01)
            # Linger of zero seconds: closing sends RST.
            writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )

        async with serve_raw(handle) as server, HttpClient(quick()) as client:
            with pytest.raises(FetchError) as caught:
                await client.get(server.url("/"))
        assert caught.value.cause is FetchCause.RESET
        assert isinstance(caught.value, Retryable)

    @pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nContent-"])
    async def test_closed_before_the_head_is_complete(self, start: bytes) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(start)
            exchange.close()

        await expect(respond, FetchCause.RESET)

    async def test_refused(self) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            async with HttpClient(quick()) as client:
                with pytest.raises(FetchError) as caught:
                    await client.get(f"http://127.0.0.1:{port}/")
        assert caught.value.cause is FetchCause.CONNECT
        assert "refused" in str(caught.value)

    @pytest.mark.parametrize(
        "data",
        [
            b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
            b"\x16\x03\x01\x00\x00" * 50 + b"\n\n",
            b"HTTP/1.1 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n",
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
            b"<html>old</html>\r\n\r\n",
        ],
    )
    async def test_not_http(self, data: bytes) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(data)

        await expect(respond, FetchCause.PROTOCOL_ERROR)

    async def test_plain_http_on_a_tls_port(self) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(100)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await writer.drain()

        async with serve_raw(handle) as server, HttpClient(quick()) as client:
            with pytest.raises(FetchError) as caught:
                await client.get(f"https://127.0.0.1:{server.port}/")
        assert caught.value.cause is FetchCause.TLS

    async def test_hostile_and_good_servers_at_once(self) -> None:
        async def drip(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                await exchange.send(b"x")
                await asyncio.sleep(0.02)

        async def flood(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
            for block in zeros_gzip():
                await exchange.send(block)

        async def vanish(exchange: Exchange) -> None:
            exchange.reset()

        behaviours: dict[str, Callable[[Exchange], Awaitable[None]]] = {
            "/drip": drip,
            "/flood": flood,
            "/vanish": vanish,
        }

        async def respond(exchange: Exchange) -> None:
            await behaviours[exchange.target](exchange)

        policy = quick(max_concurrent=40, max_concurrent_per_host=40, read_timeout=1.0, total_timeout=1.5)
        async with serve(respond) as server, HttpClient(policy) as client:
            paths = ["/drip", "/flood", "/vanish", "/ok"] * 10
            answers = await asyncio.gather(
                *(client.get(server.url(path)) for path in paths), return_exceptions=True
            )
        outcomes = {
            path: {answer.cause if isinstance(answer, FetchError) else answer for answer in answers[start::4]}
            for start, path in enumerate(paths[:3])
        }
        assert outcomes == {
            "/drip": {FetchCause.TIMEOUT},
            "/flood": {FetchCause.TOO_LARGE},
            "/vanish": {FetchCause.RESET},
        }
        assert [getattr(answer, "body", answer) for answer in answers[3::4]] == [b"fine"] * 10
