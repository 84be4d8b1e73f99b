"""What is never fetched is not registered either."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.http.guard import refusal
from sourcebook.http.policy import HttpPolicy, parse_networks
from sourcebook.sources.model import parse_spec

OUTSIDE = HttpPolicy(refused_ports=frozenset(), loopback_ports=None)
LOCAL = replace(
    OUTSIDE, allowed_networks=parse_networks("127.0.0.0/8,::1/128"), refused_ports=frozenset({4566})
)


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
        "169\u3002254\u3002169\u3002254",
        "169\uff61254\uff61169\uff61254",
        "localhost\u3002",
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
    assert "not a public address" in refusal(f"http://{host}/feed", OUTSIDE)


@pytest.mark.parametrize("port", [22, 25, 6379, 4566, 65535])
def test_other_ports_are_refused(port: int) -> None:
    assert refusal(f"https://news.example:{port}/feed", OUTSIDE)
    assert refusal(f"https://news.example:{port}/feed", LOCAL), "no name but localhost is of this machine"


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
    assert refusal(url, OUTSIDE) == refusal(url, LOCAL) == ""


@pytest.mark.parametrize(
    "url",
    [
        r"http://169.254.169.254\@news.example/",
        r"http:\\169.254.169.254",
        "file:///etc/passwd",
        "gopher://news.example/",
        "http:///feed",
        "news.example/feed",
    ],
)
def test_what_is_no_address_of_the_web_is_refused(url: str) -> None:
    for policy in (OUTSIDE, LOCAL):
        assert refusal(url, policy) == "it is no address of the web"


def test_a_network_that_is_allowed_is_taken_at_any_port() -> None:
    for host in ("127.0.0.1", "localhost", "a.localhost", "127.1", "[::ffff:127.0.0.1]"):
        assert refusal(f"http://{host}:4999/feed", LOCAL) == ""
    for host in ("10.0.0.1", "169.254.169.254"):
        assert "not a public address" in refusal(f"http://{host}:4999/feed", LOCAL)
    inner = replace(LOCAL, allowed_networks=parse_networks("10.0.0.0/8"))
    assert refusal("http://wiki.inner:4999/feed", inner) == "", (
        "the name may lead to an address that is allowed"
    )


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "[::1]", "127.0.0.1.", "news.example", "[::ffff:7f00:1]"]
)
def test_the_port_of_the_embedded_cloud_is_refused(host: str) -> None:
    for policy in (LOCAL, replace(LOCAL, allowed_networks=parse_networks("127.0.0.0/8,::1/128,10.0.0.0/8"))):
        assert (
            refusal(f"http://{host}:4566/?Action=DeleteStack", policy)
            == "port 4566 is that of the embedded cloud"
        )


def test_a_port_that_the_embedded_cloud_shares_with_the_web_is_refused_here_alone() -> None:
    policy = replace(LOCAL, refused_ports=frozenset({443}))
    assert refusal("https://127.0.0.1/feed", policy)
    assert refusal("https://news.example/feed", policy) == ""


@pytest.mark.parametrize(
    "character", ["\r", "\n", "\r\nX: y", "\x00", "\x7f", "\x85", "\u2028", "\u202e", "\t"]
)
def test_no_source_has_control_characters_in_its_url(character: str) -> None:
    url = f"https://news.example/a{character}b"
    assert refusal(url, OUTSIDE)
    assert refusal(url, LOCAL)
    with pytest.raises(InvalidInput) as refused:
        parse_spec({"source_id": "a", "url": url})
    assert refused.value.field == "url"
