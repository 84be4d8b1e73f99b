"""Comparing a token takes the same way whatever is wrong with it."""

from __future__ import annotations

import ast
import hmac
import inspect
import re
from datetime import UTC, datetime, timedelta

import pytest

from sourcebook.api import access, tokens
from sourcebook.api.tokens import TokenStore
from tests.unit.security.memory import Kept

NOW = datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)


def test_every_comparison_is_of_two_digests_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    store = TokenStore(Kept(), lambda: NOW)
    made, right = store.create("test", ["read"], timedelta(hours=1))
    compared: list[tuple[str, str]] = []
    constant_time = hmac.compare_digest

    def compare(one: str, other: str) -> bool:
        compared.append((one, other))
        return constant_time(one, other)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    other_id = f"sb_{'0' * 16}_{right[20:]}"
    empty = f"sb_{'0' * 16}_{'A' * 43}"
    found = [store.find(text) for text in (right, right[:-3] + "AAA", other_id, empty)]
    assert [token and token.token_id for token in found] == [made.token_id, None, None, None]
    # Also where there is no such token: the time tells nobody which ids there are.
    assert len(compared) == 4
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for pair in compared for digest in pair)


def test_a_secret_is_compared_in_no_other_way() -> None:
    for module in (tokens, access):
        compared = [
            ast.unparse(node)
            for node in ast.walk(ast.parse(inspect.getsource(module)))
            if isinstance(node, ast.Compare)
            and any(isinstance(operator, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for operator in node.ops)
        ]
        suspicious = [text for text in compared if re.search("digest|secret|known|credentials|read\\[", text)]
        assert suspicious == [], module.__name__
    assert inspect.getsource(tokens).count("secret_sha256") == 2, "written once, read once"
