"""The search for secrets finds them."""

from __future__ import annotations

import pytest

from sourcebook_local.samples import API_KEYS
from tests.leaks import SHAPES, secrets_in

FOUND = {
    "token of this project": f"caller sent sb_{'0a' * 8}_{'aB-_' * 10}xyz",
    "bearer token": '{"authorization": "Bearer abcdefghijklmnop"}',
    "AWS access key": "Credential=AKIAIOSFODNN7EXAMPLE/2026",
    "AWS secret key": '"SecretAccessKey": "' + "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" + '"',
    "AWS session token": '"SessionToken": "' + "a" * 80 + '"',
    "AWS signature": f"SignedHeaders=host, Signature={'0f' * 32}",
    "authorization header": "{'Authorization': 'Token abc'}",
    "private key": "-----BEGIN EC PRIVATE KEY-----",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_secret_of_each_shape_is_found_and_not_repeated(shape: str) -> None:
    (found,) = [where for name, where in secrets_in(f"before {FOUND[shape]} after") if name == shape]
    assert found.endswith("…")
    assert "EXAMPLE" not in found
    assert "abc" not in found


def test_the_keys_of_the_samples_and_those_named_are_found() -> None:
    text = f"x {API_KEYS['tiingo']} y hush z"
    assert [name for name, _ in secrets_in(text, ["hush"])] == ["a secret of the tests"] * 2


def test_ordinary_lines_are_none() -> None:
    assert (
        secrets_in(
            '{"message":"request_answered","caller":"token:0a0a0a0a0a0a0a0a","route":"GET /articles"}\n'
            'Send a token as `Authorization: Bearer sb_…`; WWW-Authenticate: Bearer realm="sourcebook"\n'
            'secret sourcebook/tiingo has no API key in it; {"secret":"sourcebook/finnhub"}\n'
            f"dedup:{'0a' * 16} sha256 {'0f' * 32}"
        )
        == []
    )
