"""The sample world of the ways out: a whole table with news, figures and a nova, and the API over it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

from sourcebook.api.access import AccessControl
from sourcebook.api.idempotency import IdempotentRequests
from sourcebook.api.parts import Services
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from sourcebook.articles.read import SENTIMENTS
from sourcebook.bucket.objects import Objects
from sourcebook.search.days import Days
from sourcebook.search.index import Indexer
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.pages import walk_shards
from tests.incoming import NOON
from tests.integration.api.gateway import Gateway
from tests.integration.integrity.healthy import BUCKET, Healthy
from tests.integration.integrity.in_moto import built_in_moto
from tests.integration.observations.world import World as Figures
from tests.served import Answer, Answered, Served, served


@dataclass
class Sample:
    """What the tests hold in their hand: the world, the server, and a token that may write."""

    world: Healthy
    server: Served
    token: str


@pytest.fixture(scope="module")
def sample() -> Iterator[Sample]:
    with built_in_moto() as world:
        table = world.table
        rates(table)
        objects = Objects(world.s3, BUCKET)
        indexed = (
            walk_shards(table, "sentiment", one, index=keys.SENTIMENT_INDEX, page_size=100)
            for one in SENTIMENTS
        )
        Indexer(Days(objects), table).take_keys(one["PK"] for found in indexed for one in found)
        token = TokenStore(table).create("a test", ["write"], timedelta(days=1))[1]
        with served(through_gateway(api_over(world, objects))) as server:
            yield Sample(world, server, token)


def rates(table: Table) -> None:
    """Let a bank's page say two rates of six months, one after the other, and another bank a third."""
    figures = Figures(table)
    figures.declare("quay-page", 1)
    terms = {"Quay Bank": (4.0, 4.25, 4.5), "Pier Bank": (4.6, 4.6, 4.6)}
    for day in range(3):
        said = {(bank, "deposit_branch", "M0006"): rate[day] for bank, rate in terms.items()}
        figures.scrape("quay-page", NOON + timedelta(days=day - 3), said)
    figures.sql.close()


def api_over(world: Healthy, objects: Objects) -> Api:
    """The API at the present of the world."""
    table = world.table
    started: dict[str, Any] = {}

    def start(workflow: str, payload: Any, name: str) -> str:
        started[name] = payload
        return f"arn:aws:states:us-east-1:123456789012:execution:{workflow}:{name}"

    services = Services(
        table=table,
        start=start,
        workflows=("initialize_nova", "refresh_sources"),
        objects=lambda: objects,
        environ={},
        clock=world.clock,
    )
    return Api(AccessControl(TokenStore(table), public_read=True), IdempotentRequests(table), services)


class _Log:
    def info(self, msg: str, *, extra: Any) -> None: ...

    def error(self, msg: str, *, exc_info: BaseException, extra: Any) -> None: ...


def through_gateway(api: Api) -> Answer:
    """Return what answers requests by an API, with API Gateway's part before it."""
    gateway = Gateway()
    gateway.answer = lambda event: api.answer(event, _Log())

    def answer(method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answered:
        path, _, query = target.partition("?")
        found: list[tuple[str, list[tuple[str, str]]]] = []
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            # WSGI has the bytes of the decoded path as if they were Latin-1.
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": io.BytesIO(body),
            **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()},
        }
        (content,) = gateway(environ, lambda status, fields: found.append((status, fields)))
        status, fields = found[0]
        return int(status.split(" ")[0]), dict(fields), content

    return answer


@pytest.fixture
def server(sample: Sample) -> Served:
    """The server, with nothing seen and no fault to come."""
    sample.server.seen.clear()
    sample.server.faults.clear()
    return sample.server
