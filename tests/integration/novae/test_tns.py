"""TNS as the last resolver: behind a key, by its own rules, and never asked without."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.novae.resolve import NameResolver
from sourcebook.novae.resolvers.archive import (
    ArchiveRejected,
    ArchiveStatus,
    ArchiveUnavailable,
    set_addresses,
)
from sourcebook.novae.resolvers.identity import Kind
from sourcebook.novae.resolvers.tns import TnsBot
from sourcebook_local.astronomy.services import addresses
from sourcebook_local.webserver import Request, Response, WebServer, json_response

if TYPE_CHECKING:
    from sourcebook.http.client import HttpClient
    from sourcebook.table.client import Table
    from tests.integration.astronomy import Archives, Clock

pytestmark = pytest.mark.integration

BOT = TnsBot(12345, "our_bot", "the-key")
OBJECTS: dict[str, dict[str, Any]] = {
    "2021abz": {
        "objname": "2021abz",
        "name_prefix": "AT",
        "radeg": 270.5,
        "decdeg": -28.25,
        "object_type": {"id": 26, "name": "Nova"},
        "internal_names": "ATLAS21xyz, Gaia21qrs",
    },
    "2021abx": {"objname": "2021abx", "name_prefix": "AT", "radeg": 1.0, "decdeg": 1.0, "object_type": {}},
}


@dataclass
class PlayedTns:
    """TNS as it answers: a search by a survey's name, an object by its own, and its limit."""

    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    trouble: Response | None = None
    remaining: str = "9"

    async def answer(self, request: Request) -> Response:
        form = parse_qs(request.body.decode())
        question = json.loads(form["data"][0])
        self.asked.append((request.path, question))
        self.agents.add(request.headers["user-agent"])
        if self.trouble is not None:
            return self.trouble
        if form["api_key"] != ["the-key"]:
            return json_response(401, {"id_code": 401, "id_message": "Unauthorized"})
        if request.path.endswith("/search"):
            wanted = question["internal_name"]
            found = [
                {"objname": one["objname"], "prefix": "AT"}
                for one in OBJECTS.values()
                if wanted in str(one.get("internal_names", "")).split(", ")
            ]
            data: object = {"reply": found}
        else:
            data = {"reply": OBJECTS.get(question["objname"], {"objname": None})}
        headers = {"X-Rate-Limit-Remaining": self.remaining, "X-Rate-Limit-Reset": "50"}
        answer = json_response(200, {"id_code": 200, "id_message": "OK", "data": data})
        return Response(answer.status, answer.body, {**answer.headers, **headers})


@pytest.fixture
async def played(table: Table, archives: Archives) -> AsyncIterator[PlayedTns]:
    tns = PlayedTns()
    server = WebServer(tns.answer)
    url = f"http://127.0.0.1:{await server.start(0)}/api/get"
    set_addresses(table, {**addresses(archives.url), "tns": [url]})
    yield tns
    await server.stop()


@pytest.fixture
def resolver(
    http: HttpClient, table: Table, archives: Archives, clock: Clock, played: PlayedTns
) -> NameResolver:
    return NameResolver(http, table, clock, archives.sleep, tns=lambda: BOT)


@pytest.mark.parametrize("name", ["AT 2021abz", "at2021abz", "ATLAS21xyz"])
async def test_a_name_that_only_tns_knows_is_its_object(
    resolver: NameResolver, played: PlayedTns, name: str
) -> None:
    found = await resolver.resolve(name)
    assert found is not None
    assert (found.archive, found.main_name, found.kind) == ("tns", "AT 2021abz", Kind.NOVA)
    assert (found.ra_deg, found.dec_deg) == (270.5, -28.25)
    assert "Gaia21qrs" in found.names
    assert played.agents == {'tns_marker{"tns_id":12345,"type":"bot","name":"our_bot"}'}


async def test_what_simbad_knows_is_not_asked_of_tns(resolver: NameResolver, played: PlayedTns) -> None:
    assert await resolver.resolve("V1324 Sco") is not None
    assert played.asked == []


async def test_without_a_key_tns_is_not_asked(
    http: HttpClient, table: Table, archives: Archives, clock: Clock, played: PlayedTns
) -> None:
    assert await NameResolver(http, table, clock, archives.sleep).resolve("AT 2021abz") is None
    assert played.asked == []


@pytest.mark.parametrize("name", ["AT 2021abx", "AT 2021zzz", "ATLAS99zzz"])
async def test_what_has_no_class_or_is_not_there_is_unknown(resolver: NameResolver, name: str) -> None:
    assert await resolver.resolve(name) is None


async def test_its_limit_is_kept_and_unknown_needs_its_answer(
    resolver: NameResolver, played: PlayedTns, clock: Clock
) -> None:
    played.trouble = Response(429, b"{}", {"X-Rate-Limit-Reset": "50"})
    with pytest.raises(ArchiveUnavailable) as failed:
        await resolver.resolve("AT 2021abz")
    assert failed.value.status is ArchiveStatus.RATE_LIMITED
    assert failed.value.retry_after == clock.now + timedelta(seconds=50)
    played.trouble = None
    with pytest.raises(ArchiveUnavailable, match="left alone"):
        await resolver.resolve("AT 2021abz")
    clock.now += timedelta(seconds=60)
    assert await resolver.resolve("AT 2021abz") is not None


async def test_the_last_request_of_a_minute_is_the_last(
    resolver: NameResolver, played: PlayedTns, clock: Clock
) -> None:
    played.remaining = "0"
    assert await resolver.resolve("AT 2021abz") is not None
    with pytest.raises(ArchiveUnavailable, match="left alone"):
        await resolver.resolve("AT 2021aby")
    assert len(played.asked) == 1


async def test_a_wrong_key_is_reported_without_the_key(
    http: HttpClient, table: Table, archives: Archives, clock: Clock, played: PlayedTns
) -> None:
    bot = TnsBot(1, "b", "not-the-key")
    resolver = NameResolver(http, table, clock, archives.sleep, tns=lambda: bot)
    with pytest.raises(ArchiveRejected) as refused:
        await resolver.resolve("AT 2021abz")
    assert "not-the-key" not in f"{refused.value} {bot!r}"


def test_a_bot_is_an_id_and_a_name() -> None:
    assert TnsBot.of("12345:our_bot", "k").user_agent.startswith('tns_marker{"tns_id":12345,')
    for wrong in ("our_bot", "x:y", '1:a"b', ""):
        with pytest.raises(InvalidInput):
            TnsBot.of(wrong, "k")
