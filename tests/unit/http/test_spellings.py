"""No way to write an address leads where its plain form may not."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchCause, FetchError
from sourcebook.http.policy import HttpPolicy
from tests.unit.http.servers import ScriptedResolver

REFUSALS = {FetchCause.BLOCKED_ADDRESS, FetchCause.INVALID_URL}
INNER = ("127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "172.16.0.1", "100.64.0.1", "0.0.0.0")


class System:
    """Resolves numbers in every spelling that the C library takes, and no name."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return [socket.inet_ntoa(socket.inet_aton(host))]


def spellings(address: int) -> set[str]:
    """All the ways of inet_aton(3): one to four parts, each decimal, octal or hexadecimal."""
    parts = list(address.to_bytes(4))
    found = set()
    for kept in range(4):
        last = int.from_bytes(bytes(parts[kept:]))
        numbers = [*parts[:kept], last]
        for forms in product(("{}", "0{:o}", "0x{:x}", "0X{:08X}"), repeat=len(numbers)):
            found.add(".".join(form.format(number) for form, number in zip(forms, numbers, strict=True)))
    return found


async def cause_of(url: str, resolver: System | ScriptedResolver) -> FetchCause:
    async with HttpClient(HttpPolicy(connect_timeout=1), resolver=resolver) as client:
        with pytest.raises(FetchError) as refused:
            await client.get(url)
    return refused.value.cause


@pytest.mark.parametrize("address", INNER)
async def test_an_inner_address_is_refused_in_every_spelling_of_the_c_library(address: str) -> None:
    written = spellings(int(ipaddress.IPv4Address(address)))
    assert len(written) > 60
    for host in sorted(written):
        assert await cause_of(f"http://{host}/", System()) in REFUSALS, host


@settings(max_examples=40, derandomize=True)
@given(st.sampled_from(("10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "192.168.0.0/16")), st.data())
async def test_so_is_any_other(network: str, data: st.DataObject) -> None:
    inner = ipaddress.ip_network(network)
    address = data.draw(st.integers(int(inner[0]), int(inner[-1])))
    host = data.draw(st.sampled_from(sorted(spellings(address))))
    assert await cause_of(f"http://{host}/", System()) in REFUSALS


@pytest.mark.parametrize("address", INNER)
async def test_an_inner_address_is_refused_inside_of_an_ipv6_one(address: str) -> None:
    number = int(ipaddress.IPv4Address(address))
    mapped = ipaddress.IPv6Address((0xFFFF << 32) + number)
    nat64 = ipaddress.IPv6Address((0x64FF9B << 96) + number)
    six_to_four = ipaddress.IPv6Address((0x2002 << 112) + (number << 80) + 1)
    for six in (mapped, nat64, six_to_four, ipaddress.IPv6Address(number)):
        for text in {str(six), six.exploded, six.exploded.upper(), f"::ffff:{address}"}:
            assert await cause_of(f"http://[{text}]/", System()) in REFUSALS, text


@pytest.mark.parametrize(
    "url",
    [
        "http://8.8.8.8@127.0.0.1/",
        "http://8.8.8.8%40127.0.0.1/",
        "http://127.0.0.1#@8.8.8.8/",
        "http://127.0.0.1?@8.8.8.8/",
        "http://127.0.0.1\\@8.8.8.8/",
        "http://127.0.0.1:80\\@8.8.8.8/",
        "http://127.0.0.1:80@8.8.8.8:80/",
        "http://１２７.0.0.1/",
        "http://127｡0｡0｡1/",
        "http://%31%32%37.0.0.1/",
        "http://127.0.0.1%00.example.org/",
        "http://127.0.0.1\t/",
        "http:\\\\127.0.0.1/",
        "http:127.0.0.1/",
        "http:///127.0.0.1/",
        "//127.0.0.1/",
        "http://[::ffff:127.0.0.1%25lo]/",
        "http://[v1.127]/",
        "dict://127.0.0.1:11211/stats",
        "ldap://127.0.0.1/",
        "data:text/xml,<rss/>",
        "jar:http://127.0.0.1!/",
    ],
)
async def test_what_parsers_of_urls_disagree_about_is_refused(url: str) -> None:
    resolver = System()
    assert await cause_of(url, resolver) in REFUSALS
    assert resolver.asked == []


@pytest.mark.parametrize(
    ("host", "leads_to"),
    [
        ("localhost", "127.0.0.1"),
        ("localhost.", "::1"),
        ("LOCALHOST", "127.0.0.1"),
        ("a.localhost", "127.0.0.1"),
        ("metadata.google.internal", "169.254.169.254"),
        ("instance-data", "169.254.169.254"),
        ("127.0.0.1.nip.example", "127.0.0.1"),
        ("mapped.example", "::ffff:10.0.0.1"),
        ("nat64.example", "64:ff9b::a00:1"),
        ("link-local.example", "fe80::1%2"),
        ("unique-local.example", "fd00:ec2::254"),
    ],
)
async def test_a_name_is_judged_by_where_it_leads(host: str, leads_to: str) -> None:
    resolver = ScriptedResolver([leads_to])
    assert await cause_of(f"http://{host}/", resolver) is FetchCause.BLOCKED_ADDRESS
    assert [name.rstrip(".") for name in resolver.asked] == [host.lower().rstrip(".")]


async def test_a_name_that_is_bound_anew_is_judged_anew() -> None:
    resolver = ScriptedResolver(["10.0.0.1"], ["127.0.0.1"])
    async with HttpClient(HttpPolicy(connect_timeout=1), resolver=resolver) as client:
        for _ in range(2):
            with pytest.raises(FetchError) as refused:
                await client.get("http://rebind.example/")
            assert refused.value.cause is FetchCause.BLOCKED_ADDRESS
    assert resolver.asked == ["rebind.example"] * 2
