"""The client and the server for assistants on the deployed stack, over a network with faults."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from mcp.client import Client as Assistant

from sourcebook.api.tokens import TokenStore
from sourcebook.client import AsyncClient, Client, Forbidden, NotFound, Retries
from sourcebook.table.client import Table
from sourcebook_cli.mcp_tools import server
from tests.served import Answered, Fault, Served, problem, served

if TYPE_CHECKING:
    from tests.e2e.stack import Stack

HOP_BY_HOP = {"host", "connection", "content-length", "accept-encoding"}
RETRIES = Retries(first=0.05)


@pytest.fixture(scope="module")
def network(stack: Stack) -> Iterator[Served]:
    """A way to the deployed API that fails when it is told to."""

    def answer(method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answered:
        passed = {name: value for name, value in headers.items() if name not in HOP_BY_HOP}
        given = stack.api.request(method, target, headers=passed, content=body)
        # httpx has unpacked the body.
        left = {n: v for n, v in given.headers.items() if n not in {*HOP_BY_HOP, "content-encoding"}}
        return given.status_code, left, given.content

    with served(answer) as made:
        yield made


@pytest.fixture(scope="module")
def token(stack: Stack) -> str:
    table = Table(stack.outputs.table_name, stack.session.client("dynamodb"))
    return TokenStore(table).create("programs", ["write"], timedelta(hours=1))[1]


def test_what_is_written_over_a_bad_network_is_written_once_and_read_whole(
    network: Served, token: str
) -> None:
    with Client(network.url, token, retries=RETRIES) as client:
        names = [f"programs-{number}" for number in range(3)]
        for name in names:
            # It is done, and the answer is lost; then the way is closed; then it is asked for a third time.
            network.faults.extend([Fault("done"), Fault("reset")])
            added = client.add_feed(f"https://{name}.example/feed", feed_id=name, enabled=False)
            assert added.created
        network.faults.extend([Fault("cut"), problem(503, retry_after="0"), problem(429), Fault("short")])
        found = {feed.feed_id for feed in client.feeds(health="disabled", size=1)}
        assert found >= set(names)
        assert client.change_feed(names[0], name="Renamed").name == "Renamed"
        for name in names:
            network.faults.append(Fault("done"))
            assert client.remove_feed(name).feed_id == name
            with pytest.raises(NotFound):
                client.feed(name)
        assert client.health().checks.table == "ok"
    with Client(network.url, retries=RETRIES) as nobody, pytest.raises(Forbidden):
        nobody.add_feed("https://programs.example/feed")


def test_an_assistant_reads_the_deployed_stack(network: Served, token: str) -> None:
    async def main() -> str:
        async with AsyncClient(network.url, token, retries=RETRIES) as api, Assistant(server(api)) as client:
            network.faults.append(Fault("reset"))
            answer = await client.call_tool("sources", {})
            assert not answer.is_error, answer.content
            return str(answer.content)

    assert "by_health" in asyncio.run(main())
