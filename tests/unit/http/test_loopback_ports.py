"""Where a policy names the ports of this machine that are meant, no other program of it is reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from sourcebook.feeds.discovery import NoFeedFound, discover
from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchCause, FetchError
from sourcebook.http.policy import LOOPBACK_PORTS_VARIABLE, HttpPolicy, loopback_file, ports_in
from tests.unit.http.servers import Exchange, ScriptedResolver, quick, serve

FEED = b'<rss version="2.0"><channel><title>T</title><item><title>A headline</title></item></channel></rss>'


async def answer_with_a_feed(exchange: Exchange) -> None:
    await exchange.answer(FEED, Connection="close")


def policy_of(tmp_path: Path, *ports: int) -> HttpPolicy:
    file = tmp_path / "served-ports"
    file.write_text("".join(f"{port}\n" for port in ports))
    return quick(loopback_ports=file)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "localhost", "named.example", "mapped.example"])
async def test_a_port_that_is_not_named_is_refused_by_every_name(tmp_path: Path, host: str) -> None:
    address = {"mapped.example": "::ffff:127.0.0.1"}.get(host, "127.0.0.1")
    async with (
        serve(answer_with_a_feed) as server,
        HttpClient(policy_of(tmp_path, server.port + 1), resolver=ScriptedResolver([address])) as client,
    ):
        with pytest.raises(FetchError) as caught:
            await client.get(server.url("/?Action=DeleteStack", host=host))
        assert caught.value.cause is FetchCause.BLOCKED_PORT
        assert "serve-folder" in str(caught.value)
        assert server.connections == 0


async def test_ports_are_looked_up_at_each_request_and_without_the_file_there_are_none(
    tmp_path: Path,
) -> None:
    async with serve(answer_with_a_feed) as server:
        policy = policy_of(tmp_path, 1, server.port)
        async with HttpClient(policy) as client:
            assert (await client.get(server.url("/"))).body == FEED
        (tmp_path / "served-ports").unlink()
        async with HttpClient(policy) as client:
            with pytest.raises(FetchError) as caught:
                await client.get(server.url("/"))
            assert caught.value.cause is FetchCause.BLOCKED_PORT


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"])
async def test_a_redirect_leads_to_no_other_port(tmp_path: Path, host: str) -> None:
    async with serve(answer_with_a_feed) as other:

        async def lead_on(exchange: Exchange) -> None:
            place = f"http://{host}:{other.port}/?Action=DeleteStack"
            await exchange.answer(b"", status=302, Location=place, Connection="close")

        async with (
            serve(lead_on) as server,
            HttpClient(policy_of(tmp_path, server.port), resolver=ScriptedResolver(["127.0.0.1"])) as client,
        ):
            with pytest.raises(FetchError):
                await client.get(server.url("/"))
        assert other.connections == 0


@pytest.mark.parametrize("named", [True, False])
async def test_the_feed_that_a_page_names_is_looked_for_at_no_other_port(tmp_path: Path, named: bool) -> None:
    async with serve(answer_with_a_feed) as other:

        async def page(exchange: Exchange) -> None:
            link = f"http://127.0.0.1:{other.port}/?Action=DeleteStack"
            html = (
                f'<html><head><link rel="alternate" type="application/rss+xml" href="{link}"></head></html>'
            )
            await exchange.answer(html.encode(), Connection="close", Content_Type="text/html")

        async with serve(page) as server:
            ports = [server.port, other.port] if named else [server.port]
            async with HttpClient(policy_of(tmp_path, *ports)) as client:
                if named:
                    assert str(other.port) in (await discover(client, server.url("/"))).url
                else:
                    with pytest.raises(NoFeedFound):
                        await discover(client, server.url("/"))
        assert bool(other.connections) is named


def test_the_environment_names_the_file_and_only_numbers_in_it_are_ports(tmp_path: Path) -> None:
    assert loopback_file({}) is None
    assert loopback_file({LOOPBACK_PORTS_VARIABLE: "/somewhere/ports"}) == Path("/somewhere/ports")
    (tmp_path / "ports").write_text("80\n\nx\n-1\n443 8080")
    assert ports_in(tmp_path / "ports") == {80, 443, 8080}
