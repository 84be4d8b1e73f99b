"""Bearer tokens: made, found, ended."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from boto3.dynamodb.conditions import Key
from click.testing import CliRunner

from sourcebook.api.tokens import TokenStore
from sourcebook.errors import InvalidInput
from sourcebook.table import keys
from sourcebook_cli import token as command

if TYPE_CHECKING:
    from sourcebook.table.client import Table

pytestmark = pytest.mark.integration

NOW = datetime(2026, 11, 27, 21, 56, 39, 123456, tzinfo=UTC)


@dataclass
class Clock:
    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(table: Table, clock: Clock) -> TokenStore:
    return TokenStore(table, clock)


def test_a_token_is_found_by_its_text_alone_and_only_its_hash_is_kept(
    store: TokenStore, table: Table
) -> None:
    made, text = store.create(" reader ", ["read"], timedelta(days=1))
    assert re.fullmatch(r"sb_[0-9a-f]{16}_[A-Za-z0-9_-]{43}", text)
    assert store.find(text) == made
    assert (made.name, made.scopes, made.expires_at) == (
        "reader",
        ("read",),
        datetime(2026, 11, 28, 21, 56, 39, tzinfo=UTC),
    )
    (item,) = table.query_all(Key("PK").eq(keys.API_TOKENS))
    secret = text[len("sb_") + 17 :]
    assert secret not in repr(item)
    assert item["secret_sha256"] == hashlib.sha256(secret.encode()).hexdigest()
    assert item["ttl_timestamp"] == int(made.expires_at.timestamp()) + 30 * 86_400


def test_what_is_almost_a_token_is_none(store: TokenStore) -> None:
    made, text = store.create("a", ["read"], timedelta(days=1))
    _, other = store.create("b", ["write"], timedelta(days=1))
    swapped = other[:19] + text[19:]
    flipped = text[:-2] + ("A" if text[-2] != "A" else "B") + text[-1]
    for wrong in (
        "",
        "sb_",
        text[:-1],
        text + "A",
        text.upper(),
        f" {text}",
        swapped,
        flipped,
        made.token_id,
    ):
        assert store.find(wrong) is None


def test_two_tokens_never_share_a_secret(store: TokenStore) -> None:
    texts = {store.create("a", ["read"], timedelta(days=1))[1] for _ in range(20)}
    assert len({text[20:] for text in texts}) == len({text[3:19] for text in texts}) == 20


def test_a_token_ends_by_time_or_at_once(store: TokenStore, clock: Clock) -> None:
    made, text = store.create("a", ["write", "read"], timedelta(hours=1))
    assert made.scopes == ("read", "write")
    clock.now = made.expires_at - timedelta(seconds=1)
    assert made.state(clock.now) == "active"
    assert made.state(made.expires_at) == "expired"
    clock.now = NOW
    revoked = store.revoke(made.token_id)
    assert revoked is not None
    assert revoked.state(NOW) == "revoked"
    found = store.find(text)
    assert found is not None
    assert found.state(NOW) == "revoked"
    clock.now += timedelta(minutes=5)
    assert store.revoke(made.token_id) == revoked, "the first time stands"
    assert store.revoke("0" * 16) is None
    assert store.revoke(text) is None


def test_write_allows_reading_and_read_does_not_allow_writing(store: TokenStore) -> None:
    reader, _ = store.create("a", ["read"], timedelta(days=1))
    writer, _ = store.create("b", ["write"], timedelta(days=1))
    assert [reader.allows("read"), reader.allows("write")] == [True, False]
    assert [writer.allows("read"), writer.allows("write")] == [True, True]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"scopes": []}, "scope"),
        ({"scopes": ["read", "admin"]}, "scope"),
        ({"life": timedelta(0)}, "expires"),
        ({"life": timedelta(days=367)}, "expires"),
    ],
)
def test_what_a_token_cannot_be_is_named(store: TokenStore, arguments: dict[str, Any], field: str) -> None:
    right: dict[str, Any] = {"name": "a", "scopes": ["read"], "life": timedelta(days=1)}
    with pytest.raises(InvalidInput) as refused:
        store.create(**right | arguments)
    assert refused.value.field == field


def test_the_command_makes_lists_and_revokes(store: TokenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_store", lambda **_: store)
    monkeypatch.setattr(command, "utc_now", lambda: NOW)
    run = CliRunner()
    made = run.invoke(command.token, ["create", "dashboard", "--scope", "write", "--days", "7"])
    assert made.exit_code == 0, made.output
    text = made.stdout.strip()
    found = store.find(text)
    assert found is not None
    assert "Keep it now" in made.stderr
    listed = run.invoke(command.token, ["list"]).output
    assert f"{found.token_id}  active    write" in listed
    assert text[20:] not in listed
    assert run.invoke(command.token, ["revoke", found.token_id]).exit_code == 0
    assert "revoked" in run.invoke(command.token, ["list", "--json"]).output
    wrong = run.invoke(command.token, ["revoke", text])
    assert isinstance(wrong.exception, InvalidInput)
    assert text[20:] not in str(wrong.exception), "a token given by mistake is not repeated"
