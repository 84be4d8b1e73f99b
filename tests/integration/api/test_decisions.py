"""A person's decisions over the API: what is answered, refused and listed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sourcebook.api import decisions
from sourcebook.api.access import AccessControl
from sourcebook.api.idempotency import IdempotentRequests
from sourcebook.api.parts import Services
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from sourcebook.articles.ingest import ArticleStore
from sourcebook.table.client import Table
from tests.incoming import incoming
from tests.integration.api.test_uploads import World

DECIDE = "POST /decisions/{action}"
WHY = {"decided_by": "Ada", "reason": "One recall."}


@pytest.fixture
def world(table: Table) -> World:
    quiet: Any = SimpleNamespace(announce=lambda _keys, _correlation: 0)
    services = Services(table=table, start=quiet, workflows=(), objects=quiet, environ={})
    services.made[decisions._announcer] = quiet
    api = Api(AccessControl(TokenStore(table), public_read=False), IdempotentRequests(table), services)
    return World(api, table, None, "")  # type: ignore[arg-type]


def test_articles_are_joined_listed_and_separated(world: World) -> None:
    store = ArticleStore(world.table)
    one = store.store(incoming("wire")).dedup_key
    other = store.store(incoming("ledger", headline="Apple beats in the fourth quarter")).dedup_key
    joined = world.call(DECIDE, {"article_id": one, "other_id": other, **WHY}, action="join_articles")
    assert (joined.status, joined.body["about"]) == (200, [one, other])
    assert joined.body["caller"]
    again = world.call(DECIDE, {"article_id": other, "other_id": one, **WHY}, action="join_articles")
    assert again.status == 409
    undone = world.call(DECIDE, {"decision_id": joined.body["decision_id"], **WHY}, action="undo")
    assert undone.body["undoes"] == joined.body["decision_id"]
    listed = world.call("GET /decisions").body["items"]
    assert [item["action"] for item in listed] == ["undo", "join_articles"]
    assert listed[1]["undone_by"] == listed[0]["decision_id"]


@pytest.mark.parametrize(
    ("action", "fields", "status"),
    [
        ("split_article", {"article_id": "0" * 32, "source": "wire", **WHY}, 404),
        ("take_out", {"article_id": "0" * 32, **WHY}, 404),
        ("merge_events", {"event_id": "0" * 32, "other_id": "1" * 32, **WHY}, 404),
        ("undo", {"decision_id": "20261127T130000000Z-00000000", **WHY}, 404),
        ("guess", WHY, 404),
        ("take_out", {"article_id": "0" * 32, "decided_by": "Ada"}, 400),
        ("take_out", {"article_id": "0" * 32, "decided_by": "Ada", "reason": " "}, 400),
        ("take_out", {"article_id": "x", **WHY}, 400),
    ],
)
def test_what_is_not_there_or_not_said_is_refused(
    world: World, action: str, fields: dict[str, str], status: int
) -> None:
    assert world.call(DECIDE, fields, action=action).status == status
