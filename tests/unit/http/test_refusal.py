"""What is never fetched is not registered either."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.http.guard import refusal
from sourcebook.sources.model import parse_spec


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "169.254.169.254.",
        "2852039166",
        "0xA9FEA9FE",
        "0251.0376.0251.0376",
        "169.254.43518",
        "①⑥⑨.254.169.254",
        "169%2e254.169.254",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[fd00:ec2::254]",
        "127.0.0.1",
        "127.1",
        "0",
        "localhost",
        "a.localhost",
        "LOCALHOST",
        "10.0.0.1",
        "192.168.1.1",
        "172.16.0.1",
        "100.64.0.1",
        "[::1]",
    ],
)
def test_an_address_that_is_not_public_is_refused_in_every_spelling(host: str) -> None:
    assert "not a public address" in refusal(f"http://{host}/feed")


@pytest.mark.parametrize("port", [22, 25, 6379, 4566, 65535])
def test_other_ports_are_refused(port: int) -> None:
    assert refusal(f"https://news.example:{port}/feed")


@pytest.mark.parametrize(
    "url",
    [
        "https://news.example/feed",
        "https://news.example:8443/",
        "https://93.184.216.34/",
        "http://bücher.example/",
    ],
)
def test_what_can_be_fetched_is_taken(url: str) -> None:
    assert refusal(url) == ""


def test_a_network_that_is_allowed_is_taken_at_any_port() -> None:
    assert refusal("http://127.0.0.1:4999/feed", [ip_network("127.0.0.0/8")]) == ""
    assert refusal("http://10.0.0.1:4999/feed", [ip_network("127.0.0.0/8")])


@pytest.mark.parametrize(
    "character", ["\r", "\n", "\r\nX: y", "\x00", "\x7f", "\x85", "\u2028", "\u202e", "\t"]
)
def test_no_source_has_control_characters_in_its_url(character: str) -> None:
    url = f"https://news.example/a{character}b"
    assert refusal(url)
    with pytest.raises(InvalidInput) as refused:
        parse_spec({"source_id": "a", "url": url})
    assert refused.value.field == "url"
