"""Posting: the body arrives whole, redirects are not followed, and the guard judges each connection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchCause, FetchError, Severity
from sourcebook.http.policy import HttpPolicy
from tests.served import Answered, Fault, Served, served
from tests.unit.http.servers import LOOPBACK

POLICY = HttpPolicy(allowed_networks=LOOPBACK, total_timeout=5)
GOT: list[tuple[str, bytes, Mapping[str, str]]] = []


@pytest.fixture
def server() -> Iterator[Served]:
    GOT.clear()

    def answer(method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answered:
        GOT.append((method, body, headers))
        return 202, {"content-type": "text/plain"}, b"taken"

    with served(answer) as made:
        yield made


@pytest.mark.parametrize("content", [b"", b"{}", b"x" * 300_000])
async def test_the_body_arrives_whole_and_the_connection_serves_again(server: Served, content: bytes) -> None:
    async with HttpClient(POLICY) as client:
        for _ in range(2):
            answer = await client.post(f"{server.url}/hook?x=1", content, headers={"webhook-id": "1"})
            assert (answer.status, answer.body) == (202, b"taken")
    assert [(method, body) for method, body, _ in GOT] == [("POST", content)] * 2
    assert GOT[0][2]["webhook-id"] == "1"
    assert GOT[0][2]["content-length"] == str(len(content))
    assert server.paths == ["/hook?x=1"] * 2


@pytest.mark.parametrize("status", [301, 307, 308])
async def test_a_redirect_is_an_answer_and_no_way(server: Served, status: int) -> None:
    server.faults.append(Fault("answer", status, {"location": f"{server.url}/elsewhere"}))
    async with HttpClient(POLICY) as client:
        answer = await client.post(f"{server.url}/hook", b"{}")
    assert answer.status == status
    assert len(server.seen) == 1


async def test_a_private_address_is_not_asked(server: Served) -> None:
    async with HttpClient(HttpPolicy()) as client:
        with pytest.raises(FetchError) as raised:
            await client.post(f"{server.url}/hook", b"{}")
    assert raised.value.cause in {FetchCause.BLOCKED_ADDRESS, FetchCause.BLOCKED_PORT}
    assert server.seen == []


async def test_a_reset_is_an_error_of_its_own(server: Served) -> None:
    server.faults.append(Fault("reset"))
    async with HttpClient(POLICY) as client:
        with pytest.raises(FetchError) as raised:
            await client.post(f"{server.url}/hook", b"{}")
    assert raised.value.cause.severity is Severity.TRANSIENT
