"""Where redirects lead, what follows them, and what must not."""

from dataclasses import replace

import pytest

from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchCause, FetchError
from sourcebook.http.guard import Guard
from sourcebook.http.response import Redirect
from tests.unit.http.servers import LOOPBACK, Exchange, Respond, ScriptedResolver, quick, serve


def through(*hops: tuple[int, str]) -> Respond:
    """Answer the n-th request with the n-th hop, then with a document."""
    left = list(hops)

    async def respond(exchange: Exchange) -> None:
        if not left:
            await exchange.answer(b"document")
            return
        status, location = left.pop(0)
        await exchange.answer(b"moved", status, Location=location)

    return respond


@pytest.mark.parametrize(
    ("hops", "permanent"),
    [
        ([(301, "/b")], "/b"),
        ([(308, "/b"), (301, "/c")], "/c"),
        ([(301, "/b"), (302, "/c")], "/b"),
        ([(301, "/b"), (307, "/c"), (301, "/d")], "/b"),
        ([(302, "/b"), (301, "/c")], None),
        ([(303, "/b")], None),
        ([], None),
    ],
)
async def test_permanent_url_ends_the_unbroken_chain_from_the_first(
    client: HttpClient, hops: list[tuple[int, str]], permanent: str | None
) -> None:
    async with serve(through(*hops)) as server:
        response = await client.get(server.url("/a"))
        assert response.permanent_url == (server.url(permanent) if permanent else None)
        paths = ["/a", *(location for _, location in hops)]
        assert response.redirects == tuple(
            Redirect(status, server.url(paths[index]), server.url(location))
            for index, (status, location) in enumerate(hops)
        )
        assert (response.body, response.url) == (b"document", server.url(paths[-1]))


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("b", "/x/b"),
        ("../b", "/b"),
        ("?q=1", "/x/a?q=1"),
        ("/b#part", "/b"),
        ("/ü", "/%C3%BC"),
        (" /b ", "/b"),
        ("/a b", "/a%20b"),
    ],
)
async def test_locations_are_resolved(client: HttpClient, location: str, path: str) -> None:
    raw = location.encode().decode("latin-1")
    async with serve(through((302, raw))) as server:
        response = await client.get(server.url("/x/a"))
    assert response.url == server.url(path)


@pytest.mark.parametrize(
    ("location", "cause"),
    [
        ("file:///etc/passwd", FetchCause.INVALID_URL),
        ("gopher://127.0.0.1/", FetchCause.INVALID_URL),
        ("data:text/xml,x", FetchCause.INVALID_URL),
        ("http://user:hush@127.0.0.1/", FetchCause.INVALID_URL),
        ("http://[::1", FetchCause.INVALID_URL),
        ("http://10.0.0.1/", FetchCause.BLOCKED_ADDRESS),
        ("http://169.254.169.254/latest/", FetchCause.BLOCKED_ADDRESS),
        ("http://[::ffff:a9fe:a9fe]/", FetchCause.BLOCKED_ADDRESS),
        ("http://0xa9fea9fe/", FetchCause.BLOCKED_ADDRESS),
        ("//192.168.1.1/", FetchCause.BLOCKED_ADDRESS),
        ("/x", FetchCause.TOO_MANY_REDIRECTS),
    ],
)
async def test_every_hop_is_checked(client: HttpClient, location: str, cause: FetchCause) -> None:
    async def respond(exchange: Exchange) -> None:
        await exchange.answer(b"", 301, Location=location)

    async with serve(respond) as server:
        with pytest.raises(FetchError) as caught:
            await client.get(server.url("/x"))
        assert caught.value.cause is cause
        assert "hush" not in str(caught.value)
        assert (await client.get(server.url("/ok"))).body == b"fine"
    assert len(server.exchanges) == 2


async def test_names_in_redirects_are_judged_too() -> None:
    resolver = ScriptedResolver(["127.0.0.1"], ["172.16.0.1"])
    async with (
        serve(through((302, "http://internal.example/"))) as server,
        HttpClient(quick(allowed_networks=LOOPBACK), resolver=resolver) as client,
    ):
        with pytest.raises(FetchError) as caught:
            await client.get(server.url("/x", host="public.example"))
    assert caught.value.cause is FetchCause.BLOCKED_ADDRESS
    assert resolver.asked == ["public.example", "internal.example"]


async def test_gives_up_after_the_allowed_number(client: HttpClient) -> None:
    async def respond(exchange: Exchange) -> None:
        await exchange.answer(b"", 302, Location=exchange.target + "x")

    async with serve(respond) as server:
        with pytest.raises(FetchError) as caught:
            await client.get(server.url("/"))
    assert caught.value.cause is FetchCause.TOO_MANY_REDIRECTS
    assert len(server.exchanges) == 6


async def test_stops_when_redirects_go_in_a_circle(client: HttpClient) -> None:
    async def respond(exchange: Exchange) -> None:
        await exchange.answer(b"", 302, Location="/b" if exchange.target == "/a" else "/a")

    async with serve(respond) as server:
        with pytest.raises(FetchError) as caught:
            await client.get(server.url("/a"))
        assert (await client.get(server.url("/ok"))).body == b"fine"
    assert caught.value.cause is FetchCause.TOO_MANY_REDIRECTS
    assert server.targets == ["/a", "/b", "/ok"]


async def test_redirect_without_location_is_returned(client: HttpClient) -> None:
    async def respond(exchange: Exchange) -> None:
        await exchange.answer(b"", 302)

    async with serve(respond) as server:
        assert (await client.get(server.url("/"))).status == 302


async def test_the_body_of_a_redirect_is_not_read(client: HttpClient) -> None:
    async def respond(exchange: Exchange) -> None:
        if exchange.target == "/b":
            await exchange.answer(b"document")
            return
        await exchange.send(b"HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\n")
        while True:
            await exchange.send(b"x" * 65536)

    async with serve(respond) as server:
        assert (await client.get(server.url("/a"))).body == b"document"


async def test_credentials_stay_with_their_origin() -> None:
    async def respond(exchange: Exchange) -> None:
        await exchange.answer()

    resolver = ScriptedResolver(["127.0.0.1"])
    headers = {"Authorization": "Token hush", "X-Finnhub-Token": "hush", "Accept": "text/xml"}
    async with serve(respond) as other, HttpClient(quick(), resolver=resolver) as client:
        target = other.url("/b", host="two.example")
        async with serve(through((302, "/same"), (302, target))) as server:
            await client.get(server.url("/a", host="one.example"), headers=headers, etag='"1"')
    same = server.exchanges[1].headers
    assert (same["authorization"], same["x-finnhub-token"]) == ("Token hush", "hush")
    elsewhere = other.exchanges[0].headers
    assert "hush" not in str(elsewhere)
    assert (elsewhere["accept"], elsewhere["if-none-match"]) == ("text/xml", '"1"')


async def test_what_is_outside_leads_to_nothing_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        serve(through()) as server,
        HttpClient(quick(allowed_networks=LOOPBACK)) as client,
    ):
        page = await client.get(server.url("/ok"))
        assert page.is_inside
        assert (await client.get(server.url("/ok"), led_by=page)).is_inside
        outside = replace(page, is_inside=False)
        with pytest.raises(FetchError, match="an address outside has led there") as found:
            await client.get(server.url("/ok"), led_by=outside)
        # As if this server were at a public address.
        monkeypatch.setattr(Guard, "is_inside", lambda _guard, _address: False)
    async with (
        serve(through((302, "/ok"))) as server,
        HttpClient(quick(allowed_networks=LOOPBACK)) as client,
    ):
        with pytest.raises(FetchError, match="an address outside has led there") as redirected:
            await client.get(server.url("/x"))
    assert found.value.cause is redirected.value.cause is FetchCause.BLOCKED_ADDRESS


@pytest.mark.parametrize("host", ["127.0.0.1", "cloud.example", "[::ffff:127.0.0.1]"])
async def test_the_port_of_the_embedded_cloud_is_refused_at_every_hop(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(through((302, "/?Action=DeleteStack"))) as cloud:
        port = cloud.url("/").rsplit(":", 1)[1].strip("/")
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        target = f"http://{host}:{port}/?Action=DeleteStack"
        resolver = ScriptedResolver(["127.0.0.1"])
        async with (
            serve(through((302, target))) as feed,
            HttpClient(quick(allowed_networks=LOOPBACK), resolver=resolver) as client,
        ):
            for url in (target, feed.url("/x")):
                with pytest.raises(FetchError) as caught:
                    await client.get(url)
                assert caught.value.cause is FetchCause.BLOCKED_PORT
        assert cloud.exchanges == []
