"""URLs in messages."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.http.client import _parsed
from sourcebook.http.errors import FetchError
from sourcebook.http.urls import redact_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.org/feed", "https://example.org/feed"),
        ("https://example.org/feed?token=hush&page=2", "https://example.org/feed?token=…&page=…"),
        ("https://example.org/?hush", "https://example.org/?…"),
        ("https://me:hush@example.org:8443/a", "https://…@example.org:8443/a"),
        ("https://hush@x@example.org/a", "https://…@example.org/a"),
        ("https://example.org/a#hush", "https://example.org/a"),
        ("me:hush@example.org/a", "me:…@example.org/a"),
        ("http://a/\r\nX: y\x1b[0m", "http://a/��X: y�[0m"),
        ("", ""),
    ],
)
def test_secrets_are_hidden(url: str, shown: str) -> None:
    assert redact_url(url) == shown


def test_long_urls_are_cut() -> None:
    assert len(redact_url("https://example.org/" + "x" * 10_000)) == 200
    assert len(redact_url("https://example.org/?" + "a=b&" * 10_000)) <= 200


@given(
    st.text()
    | st.builds("http://{}/{}".format, st.text(), st.text())
    | st.from_regex(r"https?://[^/]{1,9}/.*")
)
def test_any_text_is_a_url_or_a_clear_error(text: str) -> None:
    assert len(redact_url(text)) <= 200
    with contextlib.suppress(FetchError):
        _parsed(text)
