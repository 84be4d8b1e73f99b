"""What comes back from servers that behave."""

import asyncio
import gzip
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from sourcebook.errors import InvalidInput, Retryable, Terminal
from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchCause, FetchError, Severity
from sourcebook.http.policy import HttpPolicy
from sourcebook.http.response import Headers, HttpResponse, error_for
from tests.unit.http.servers import Exchange, ScriptedResolver, quick, serve

NOW = datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)


def answer(status: int = 200, body: bytes = b"", **headers: str) -> HttpResponse:
    items = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    return HttpResponse(status, Headers(items), body, "https://example.org/feed", received_at=NOW)


class TestGet:
    async def test_returns_status_headers_and_body(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(b"<rss/>", Content_Type="text/xml; charset=ISO-8859-1", ETag='W/"7"')

        async with serve(respond) as server, HttpClient(quick(), clock=lambda: NOW) as client:
            response = await client.get(server.url("/feed?a=1"), params={"b": "x y"})
        assert (response.status, response.body) == (200, b"<rss/>")
        assert response.headers["content-type"] == "text/xml; charset=ISO-8859-1"
        assert (response.charset, response.etag, response.content_type) == ("iso-8859-1", 'W/"7"', "text/xml")
        assert response.received_at == NOW
        assert 0 < response.elapsed < 5
        assert response.url == server.url("/feed?a=1&b=x+y")
        assert server.targets == ["/feed?a=1&b=x+y"]

    async def test_introduces_itself_and_offers_only_what_it_can_bound(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer()

        policy = quick(product="Sourcebook", version="1.2", contact="https://example.org/bot")
        async with serve(respond) as server, HttpClient(policy) as client:
            await client.get(server.url("/feed"))
            await client.get(server.url("/feed"), headers={"user-agent": "Other/1", "Accept": "text/xml"})
        first, second = (exchange.headers for exchange in server.exchanges)
        assert first["user-agent"] == "Sourcebook/1.2 (+https://example.org/bot)"
        assert first["accept-encoding"] == "gzip, deflate"
        assert first["host"] == f"127.0.0.1:{server.port}"
        assert (second["user-agent"], second["accept"]) == ("Other/1", "text/xml")

    async def test_not_modified_is_an_answer(self, client: HttpClient) -> None:
        async def respond(exchange: Exchange) -> None:
            known = exchange.headers.get("if-none-match") == '"a"'
            # A length in a 304 is that of the document; no body follows.
            await exchange.send(
                b'HTTP/1.1 304 X\r\nETag: "b"\r\nContent-Length: 999999\r\nContent-Encoding: gzip\r\n\r\n'
            ) if known else await exchange.answer(b"full", ETag='"a"')

        date = "Fri, 27 Nov 2026 21:56:39 GMT"
        async with serve(respond) as server:
            full = await client.get(server.url("/feed"))
            again = await client.get(server.url("/feed"), etag=full.etag, last_modified=date)
            ok = await client.get(server.url("/ok"))
        assert (full.body, full.not_modified) == (b"full", False)
        assert (again.status, again.not_modified, again.body, again.etag) == (304, True, b"", '"b"')
        assert server.exchanges[1].headers["if-modified-since"] == date
        assert ok.body == b"fine"
        assert server.connections == 1

    @pytest.mark.parametrize("status", [200, 203, 400, 404, 410, 429, 500, 503])
    async def test_returns_every_status(self, client: HttpClient, status: int) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(b"body", status)

        async with serve(respond) as server:
            response = await client.get(server.url("/feed"))
        assert (response.status, response.body) == (status, b"body")

    @pytest.mark.parametrize(
        ("coding", "encode"),
        [
            ("gzip", gzip.compress),
            ("x-gzip", gzip.compress),
            ("GZIP", lambda data: gzip.compress(data[:7]) + gzip.compress(data[7:]) + b"\0" * 9),
            ("deflate", zlib.compress),
            ("deflate", lambda data: zlib.compress(data)[2:-4]),
            ("identity", bytes),
            ("utf-8", bytes),
        ],
        ids=["gzip", "x-gzip", "two members and padding", "zlib", "raw deflate", "identity", "no coding"],
    )
    @pytest.mark.parametrize("piece", [1, 10_000])
    async def test_decodes_bodies(
        self, client: HttpClient, coding: str, encode: Callable[[bytes], bytes], piece: int
    ) -> None:
        text = b"<rss>hello</rss>" * 9
        data = encode(text)

        async def respond(exchange: Exchange) -> None:
            head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nTransfer-Encoding: chunked\r\n\r\n"
            await exchange.send(head.encode())
            for start in range(0, len(data), piece):
                part = data[start : start + piece]
                await exchange.send(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            await exchange.send(b"0\r\n\r\n")

        async with serve(respond) as server:
            assert (await client.get(server.url("/feed"))).body == text
            assert (await client.get(server.url("/feed"))).body == text
        assert server.connections == 1

    async def test_reads_bodies_that_end_with_the_connection(self, client: HttpClient) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.0 200 OK\nContent-Type: text/xml\n\n" + b"x" * 90_000)
            exchange.close()

        async with serve(respond) as server:
            assert len((await client.get(server.url("/feed"))).body) == 90_000

    async def test_skips_interim_answers(self, client: HttpClient) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.send(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
            await exchange.answer(b"real")

        async with serve(respond) as server:
            assert (await client.get(server.url("/feed"))).body == b"real"

    async def test_empty_compressed_body_is_empty(self, client: HttpClient) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(b"", Content_Encoding="gzip")

        async with serve(respond) as server:
            assert (await client.get(server.url("/feed"))).body == b""

    async def test_works_over_ipv6(self, client: HttpClient) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(b"six")

        async with serve(respond, host="::1") as server:
            assert (await client.get(server.url("/feed"))).body == b"six"
        assert server.exchanges[0].headers["host"] == f"[::1]:{server.port}"

    async def test_tries_the_next_address_when_one_refuses(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(b"second")

        resolver = ScriptedResolver(["::1", "127.0.0.1"])
        async with serve(respond) as server, HttpClient(quick(), resolver=resolver) as client:
            response = await client.get(server.url("/feed", host="two.example"))
        assert response.body == b"second"
        assert server.exchanges[0].headers["host"] == f"two.example:{server.port}"

    async def test_resolves_with_the_system(self, client: HttpClient) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(b"named")

        async with serve(respond) as server:
            assert (await client.get(server.url("/feed", host="localhost"))).body == b"named"

    @pytest.mark.parametrize(
        "headers",
        [
            {"Host": "x"},
            {"content-length": "3"},
            {"Accept-Encoding": "br"},
            {"X Y": "1"},
            {"X": "a\r\nHost: b"},
        ],
    )
    async def test_refuses_headers_that_would_change_the_request(
        self, client: HttpClient, headers: dict[str, str]
    ) -> None:
        with pytest.raises(InvalidInput) as caught:
            await client.get("http://127.0.0.1/", headers=headers)
        assert "Host: b" not in str(caught.value)

    async def test_must_be_open(self) -> None:
        with pytest.raises(RuntimeError, match="async with"):
            await HttpClient(quick()).get("http://127.0.0.1:1/")


class TestReuse:
    async def test_one_connection_serves_many_requests(self, client: HttpClient) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer()

        async with serve(respond) as server:
            for _ in range(5):
                await client.get(server.url("/feed"))
        assert server.connections == 1

    async def test_repeats_the_request_when_an_idle_connection_was_closed(self) -> None:
        async def respond(exchange: Exchange) -> None:
            if exchange.target == "/second" and server.connections == 1:
                exchange.reset()
            else:
                await exchange.answer(exchange.target.encode())

        async with serve(respond) as server, HttpClient(quick()) as client:
            await client.get(server.url("/first"))
            assert (await client.get(server.url("/second"))).body == b"/second"
        assert server.targets == ["/first", "/second", "/second"]

    async def test_does_not_use_an_idle_connection_that_the_server_closed(self, client: HttpClient) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer()
            exchange.close()

        async with serve(respond) as server:
            await client.get(server.url("/first"))
            await asyncio.sleep(0.02)
            await client.get(server.url("/second"))
        assert server.connections == 2

    async def test_expired_connections_are_not_used(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer()

        async with serve(respond) as server, HttpClient(quick(keepalive_expiry=0.01)) as client:
            await client.get(server.url("/first"))
            await asyncio.sleep(0.05)
            await client.get(server.url("/second"))
        assert server.connections == 2


class TestPoliteness:
    async def test_limits_requests_under_way_per_host_and_in_all(self) -> None:
        running: dict[str, int] = {}
        most: dict[str, int] = {}
        is_full = asyncio.Event()

        async def respond(exchange: Exchange) -> None:
            keys = (exchange.headers["host"], "all")
            for key in keys:
                running[key] = running.get(key, 0) + 1
                most[key] = max(most.get(key, 0), running[key])
            if running["all"] == 5:
                is_full.set()
            await is_full.wait()
            # Time for a sixth request to come, if one were sent.
            await asyncio.sleep(0.01)
            for key in keys:
                running[key] -= 1
            await exchange.answer()

        policy = quick(max_concurrent=5, max_concurrent_per_host=2, read_timeout=5.0, total_timeout=5.0)
        resolver = ScriptedResolver(["127.0.0.1"])
        async with serve(respond) as server, HttpClient(policy, resolver=resolver) as client:
            urls = [server.url("/x", host=f"{name}.example") for name in "abcd" for _ in range(6)]
            answers = await asyncio.gather(*(client.get(url) for url in urls))
        assert len(answers) == 24
        assert most.pop("all") == 5
        assert max(most.values()) == 2

    async def test_a_busy_host_does_not_hold_up_others(self) -> None:
        held = asyncio.Event()

        async def respond(exchange: Exchange) -> None:
            if exchange.target == "/held":
                await held.wait()
            await exchange.answer()

        policy = quick(max_concurrent=3, max_concurrent_per_host=2, read_timeout=5.0, total_timeout=5.0)
        resolver = ScriptedResolver(["127.0.0.1"])
        async with serve(respond) as server, HttpClient(policy, resolver=resolver) as client:
            busy = [
                asyncio.create_task(client.get(server.url("/held", host="busy.example"))) for _ in range(10)
            ]
            await asyncio.sleep(0.02)
            other = await client.get(server.url("/x", host="other.example"))
            held.set()
            answers = await asyncio.gather(*busy)
        assert other.status == 200
        assert [response.status for response in answers] == [200] * 10

    async def test_waiting_for_a_slot_does_not_use_up_the_time(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await asyncio.sleep(0.2)
            await exchange.answer()

        policy = quick(max_concurrent_per_host=1, read_timeout=0.8, total_timeout=0.8)
        async with serve(respond) as server, HttpClient(policy) as client:
            answers = await asyncio.gather(*(client.get(server.url("/x")) for _ in range(5)))
        assert [response.status for response in answers] == [200] * 5

    async def test_a_failure_says_how_long_it_took_without_the_wait_for_a_slot(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await asyncio.sleep(60)

        policy = quick(max_concurrent_per_host=1, read_timeout=0.3, total_timeout=0.3)
        async with serve(respond) as server, HttpClient(policy) as client:
            answers = await asyncio.gather(
                *(client.get(server.url("/x")) for _ in range(3)), return_exceptions=True
            )
        for answer in answers:
            assert isinstance(answer, FetchError)
            assert answer.elapsed is not None
            assert answer.elapsed > 0.25

    async def test_what_was_never_asked_took_no_time(self) -> None:
        async with HttpClient(quick()) as client:
            with pytest.raises(FetchError) as refused:
                await client.get("ftp://a.example/")
        assert refused.value.elapsed is None

    async def test_pauses_between_starts_to_one_host(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer()

        async with serve(respond) as server, HttpClient(quick(pause_per_host=0.1)) as client:
            started = time.monotonic()
            await asyncio.gather(*(client.get(server.url("/x")) for _ in range(4)))
            assert time.monotonic() - started >= 0.3

    async def test_forgets_hosts_that_nobody_asks(self) -> None:
        async with HttpClient(quick()) as client:
            for number in range(1100):
                with pytest.raises(FetchError):
                    await client.get(f"http://10.0.{number // 250}.{number % 250}/")
            assert len(client._hosts) <= 1000


class TestPolicy:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("total_timeout", 0),
            ("read_timeout", -1),
            ("connect_timeout", float("nan")),
            ("max_bytes", 0),
            ("max_concurrent", 0),
            ("max_redirects", -1),
            ("pause_per_host", -0.1),
            ("max_header_bytes", 10**9),
            ("product", "a b"),
            ("contact", "x)\r\nHost: y"),
        ],
    )
    def test_names_the_field_that_cannot_work(self, field: str, value: object) -> None:
        with pytest.raises(InvalidInput) as caught:
            HttpPolicy(**{field: value})  # type: ignore[arg-type]
        assert caught.value.field == field


class TestHeaders:
    def test_names_are_in_lower_case_and_repeats_are_joined(self) -> None:
        headers = Headers(
            [(b"Cache-Control", b"no-cache"), (b"cache-control", b"max-age=3"), (b"X", b"\xfc")]
        )
        assert headers == {"cache-control": "no-cache, max-age=3", "x": "ü"}

    def test_values_do_not_show(self) -> None:
        assert "secret" not in repr(Headers([(b"set-cookie", b"secret")]))

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("120", datetime(2026, 11, 27, 21, 58, 39, tzinfo=UTC)),
            (" 0 ", NOW),
            ("Fri, 27 Nov 2026 22:00:00 GMT", datetime(2026, 11, 27, 22, 0, tzinfo=UTC)),
            ("Friday, 27-Nov-26 22:00:00 GMT", datetime(2026, 11, 27, 22, 0, tzinfo=UTC)),
            ("Fri Nov 27 22:00:00 2026", datetime(2026, 11, 27, 22, 0, tzinfo=UTC)),
            ("Fri, 27 Nov 2026 20:00:00 GMT", NOW),
            ("-5", None),
            ("soon", None),
            ("", None),
            ("99999999999999999", datetime(2027, 11, 28, 21, 56, 39, tzinfo=UTC)),
            ("9" * 200, None),
            ("Fri, 27 Nov 9999 22:00:00 GMT", datetime(2027, 11, 28, 21, 56, 39, tzinfo=UTC)),
            ("Fri, 99 Nov 2026 99:00:00 GMT", None),
        ],
    )
    def test_retry_after(self, value: str, expected: datetime | None) -> None:
        assert answer(429, retry_after=value).retry_after == expected

    def test_dates_count_from_the_servers_own_clock(self) -> None:
        response = answer(
            503,
            date="Thu, 01 Jan 2026 00:00:00 GMT",
            retry_after="Thu, 01 Jan 2026 00:10:00 GMT",
            expires="Thu, 01 Jan 2026 00:01:00 GMT",
        )
        assert response.retry_after == datetime(2026, 11, 27, 22, 6, 39, tzinfo=UTC)
        assert response.expires == datetime(2026, 11, 27, 21, 57, 39, tzinfo=UTC)

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("max-age=300", 300),
            ("public, MAX-AGE = 60, must-revalidate", 60),
            ('max-age="5"', 5),
            ("s-maxage=9", None),
            ("max-age=-1", None),
            ("no-cache", None),
            ("s-maxage=9, max-age=7", 7),
        ],
    )
    def test_max_age(self, value: str, expected: int | None) -> None:
        assert answer(cache_control=value).max_age == expected

    @pytest.mark.parametrize("value", ["0", "-1", "", "never"])
    def test_expires_that_is_no_date_is_none(self, value: str) -> None:
        assert answer(expires=value).expires is None

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("text/xml", None),
            ("text/xml; charset=UTF-8", "utf-8"),
            ('text/xml;charset="windows-1251"', "windows-1251"),
            ("text/xml; foo=1; Charset = 'GBK'", "gbk"),
            ("text/xml; charset=", None),
            ("text/xml; charset=none-such", None),
            ("text/xml; charset=base64", None),
            ("text/xml; charset=utf-7", None),
            ("text/xml; charset=unicode_escape", None),
            ("text/xml; charset=idna", None),
        ],
    )
    def test_charset(self, value: str, expected: str | None) -> None:
        assert answer(content_type=value).charset == expected


class TestErrorFor:
    @pytest.mark.parametrize(
        ("status", "cause", "kind", "severity"),
        [
            (408, FetchCause.SERVER_ERROR, Retryable, Severity.TRANSIENT),
            (425, FetchCause.SERVER_ERROR, Retryable, Severity.TRANSIENT),
            (429, FetchCause.RATE_LIMITED, Retryable, Severity.TRANSIENT),
            (500, FetchCause.SERVER_ERROR, Retryable, Severity.TRANSIENT),
            (503, FetchCause.SERVER_ERROR, Retryable, Severity.TRANSIENT),
            (404, FetchCause.NOT_FOUND, Terminal, Severity.SOFT),
            (410, FetchCause.GONE, Terminal, Severity.FINAL),
            (401, FetchCause.CLIENT_ERROR, Terminal, Severity.SOFT),
            (403, FetchCause.CLIENT_ERROR, Terminal, Severity.SOFT),
            (300, FetchCause.CLIENT_ERROR, Terminal, Severity.SOFT),
            (302, FetchCause.BAD_REDIRECT, Terminal, Severity.SOFT),
        ],
    )
    def test_maps_the_status(
        self, status: int, cause: FetchCause, kind: type[Exception], severity: Severity
    ) -> None:
        error = error_for(answer(status, retry_after="60"))
        assert (error.cause, error.status, error.cause.severity) == (cause, status, severity)
        assert isinstance(error, kind)
        assert error.retry_after == datetime(2026, 11, 27, 21, 57, 39, tzinfo=UTC)

    @pytest.mark.parametrize("status", [200, 204, 304])
    def test_a_good_answer_is_no_error(self, status: int) -> None:
        with pytest.raises(ValueError, match="not an error"):
            error_for(answer(status))

    @pytest.mark.parametrize(
        "response",
        [
            answer(202, b"<html><script>go()</script>", content_type="text/html"),
            answer(403, b"<title>Just a moment...</title><SCRIPT src=x>", content_type="text/html"),
            answer(403, b"", cf_mitigated="challenge"),
            answer(405, b"", x_amzn_waf_action="captcha"),
            answer(503, b"<script>ddos-guard</script>", content_type="text/html; charset=utf-8"),
        ],
    )
    def test_recognizes_bot_checks(self, response: HttpResponse) -> None:
        assert response.is_challenge
        assert error_for(response).cause is FetchCause.CHALLENGED

    @pytest.mark.parametrize(
        "response",
        [
            answer(200, b"<script>captcha</script>", content_type="text/html"),
            answer(403, b"<html><script>menu()</script>Forbidden", content_type="text/html"),
            answer(403, b'{"error": "captcha"}', content_type="application/json"),
            answer(202, b"<rss/>", content_type="text/xml"),
        ],
    )
    def test_leaves_other_pages_alone(self, response: HttpResponse) -> None:
        assert not response.is_challenge
