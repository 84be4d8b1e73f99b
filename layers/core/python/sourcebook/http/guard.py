"""The guard against server-side request forgery: what may be connected to, decided when connecting.

A check of the URL alone is not enough, since a name can resolve to anything, and to something else a moment
later. So the name is resolved once for each connection, every address is judged, and the
connection goes to the very addresses that were judged. The name stays in the URL, in Host and in SNI.
"""

from __future__ import annotations

import asyncio
import socket
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from sourcebook.errors import InvalidInput
from sourcebook.http.errors import FetchCause, fetch_error
from sourcebook.http.policy import ports_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourcebook.http.policy import HttpPolicy, Network

# Beyond what `ipaddress` calls not global, so that the answer does not hang on the patch level of Python:
# IANA IPv4 and IPv6 Special-Purpose Address Registries.
_REFUSED = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT; Alibaba's metadata service is in it
        "168.63.129.16/32",  # Azure's metadata and DNS service, at a global address
        "192.0.0.0/24",  # protocol assignments; Oracle's metadata service is in it
        "192.88.99.0/24",  # 6to4 relays
        "198.18.0.0/15",
        "224.0.0.0/3",  # multicast, reserved, broadcast
        "2001::/23",  # protocol assignments, with Teredo
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
)
_GLOBAL_UNICAST = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")
_MOST_TRIED = 8
_FULL_STOPS = str.maketrans("\u3002\uff0e\uff61", "...")
"""What domain names take for a full stop (IDNA, RFC 3490)."""


class Resolver(Protocol):
    """Turns a host name into addresses."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses of `host` as text, in the order in which to try them.

        Raises:
            OSError: if the name cannot be resolved.
        """
        ...


class SystemResolver:
    """Asks the system's resolver, in threads of its own so that dead name servers starve nobody else."""

    def __init__(self, threads: int = 20) -> None:
        self._executor = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="resolve")

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses of `host`, IPv4 and IPv6, in the system's order.

        Raises:
            OSError: if the name cannot be resolved.
        """
        found = await asyncio.get_running_loop().run_in_executor(
            self._executor, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        )
        return list(dict.fromkeys(str(address[0]) for *_, address in found))

    def close(self) -> None:
        """Stop the threads."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def effective_address(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv4-mapped or NAT64 address leads to, or the address itself."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(address.packed[12:])
    return address


def is_allowed(address: IPv4Address | IPv6Address, allowed_networks: Sequence[Network] = ()) -> bool:
    """Whether one of the networks covers `address`, or the IPv4 address inside it."""
    return any(address in network or effective_address(address) in network for network in allowed_networks)


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether `address` is an ordinary address of the public internet.

    IPv4-mapped and NAT64 addresses (RFC 6052; IPv6-only networks reach IPv4 by them) are judged by the IPv4
    address inside. 6to4, Teredo, IPv4-compatible, scoped, multicast and reserved addresses are not public.
    """
    address = effective_address(address)
    if isinstance(address, IPv6Address) and (address.scope_id is not None or address not in _GLOBAL_UNICAST):
        return False
    return address.is_global and not any(address in net for net in _REFUSED)


class Guard:
    """Finds the addresses of a host, and lets pass only what the policy allows."""

    def __init__(self, policy: HttpPolicy, resolver: Resolver) -> None:
        self._policy = policy
        self._resolver = resolver

    def is_inside(self, address: IPv4Address | IPv6Address) -> bool:
        """Whether only the allowed networks make `address` reachable."""
        return is_allowed(address, self._policy.allowed_networks) and not is_public(address)

    async def addresses(
        self, host: str, port: int, url: str, *, inside: bool = True
    ) -> list[IPv4Address | IPv6Address]:
        """Resolve `host` once and return its addresses, each judged; connect to these, not to the name.

        Args:
            host: a name or an address.
            port: where the connection is to go.
            url: what is asked for, for the error.
            inside: whether the allowed networks may be reached; not where a public address has led here.

        Raises:
            FetchError: ``dns`` if there is none, ``blocked_address`` if any is not allowed, ``blocked_port``.
        """
        addresses = await self._resolve(host, port, url)
        networks = self._policy.allowed_networks if inside else ()
        outside = [found for found in addresses if not is_allowed(found, networks)]
        for address in outside:
            if not is_public(address):
                raise fetch_error(
                    FetchCause.BLOCKED_ADDRESS,
                    url,
                    f"the host leads to {address}, which is not a public address; "
                    + (
                        "add its network to allowed_networks if it is meant"
                        if inside
                        else "an address outside has led there"
                    ),
                )
        if port in self._policy.refused_ports and len(outside) < len(addresses):
            raise fetch_error(FetchCause.BLOCKED_PORT, url, f"port {port} is that of the embedded cloud")
        self._check_loopback(addresses, port, url)
        if outside and port not in self._policy.allowed_ports:
            ports = ", ".join(str(number) for number in sorted(self._policy.allowed_ports))
            raise fetch_error(FetchCause.BLOCKED_PORT, url, f"port {port} is not one of {ports}")
        return addresses[:_MOST_TRIED]

    def _check_loopback(self, addresses: Sequence[IPv4Address | IPv6Address], port: int, url: str) -> None:
        """Refuse other ports of this machine where the policy names the allowed ones.

        Raises:
            FetchError: ``blocked_port``.
        """
        file = self._policy.loopback_ports
        if file is None or not any(effective_address(address).is_loopback for address in addresses):
            return
        if port not in ports_in(file):
            raise fetch_error(
                FetchCause.BLOCKED_PORT,
                url,
                f"port {port} of this machine is not that of a server of `sourcebook serve-folder`",
            )

    async def _resolve(self, host: str, port: int, url: str) -> list[IPv4Address | IPv6Address]:
        try:
            return [ip_address(host)]
        except ValueError:
            pass
        limit = self._policy.connect_timeout
        try:
            async with asyncio.timeout(limit):
                texts = await self._resolver.resolve(host, port)
            addresses = [ip_address(text) for text in texts]
        except TimeoutError:
            raise fetch_error(FetchCause.DNS, url, f"the name was not resolved within {limit:g} s") from None
        except (OSError, ValueError) as error:
            # ValueError: a label that is too long, or an answer that is no address.
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise fetch_error(FetchCause.DNS, url, f"the name cannot be resolved: {reason}") from None
        if not addresses:
            raise fetch_error(FetchCause.DNS, url, "the name has no address")
        return addresses


def refusal(url: str, policy: HttpPolicy) -> str:
    """Return why the guard would refuse a URL whatever its name resolves to; "" if it may be asked.

    A host that is an address in any spelling is judged here, so that nobody registers what is never fetched.
    """
    if not url.isascii():
        url = unicodedata.normalize("NFKC", url)
    if any(character.isspace() or not character.isprintable() for character in url):
        return "it holds white space or control characters"
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").translate(_FULL_STOPS), parts.port
    except ValueError:
        return "it is no URL"
    if parts.scheme not in {"http", "https"} or not host or "\\" in parts.netloc:
        return "it is no address of the web"
    if port is None:
        port = 80 if parts.scheme == "http" else 443
    networks = policy.allowed_networks
    address = _literal(unquote(host).rstrip("."))
    inside = address is not None and is_allowed(address, networks)
    if address is not None and not inside and not is_public(address):
        return f"its host is {address}, which is not a public address"
    if port in policy.refused_ports and (inside or port not in policy.allowed_ports):
        return f"port {port} is that of the embedded cloud"
    # Names of this machine are addresses to `_literal`; one of another network may be any name.
    may_be_inside = inside or (address is None and not all(network.is_loopback for network in networks))
    if port not in policy.allowed_ports and not may_be_inside:
        return f"port {port} is not one of {', '.join(map(str, sorted(policy.allowed_ports)))}"
    return ""


def check_address(url: str, policy: HttpPolicy) -> None:
    """Refuse a URL that fetching would refuse: the one judgement of whoever registers a source.

    Raises:
        InvalidInput: naming `url`.
    """
    if reason := refusal(url, policy):
        raise InvalidInput("url", url, f"an address that can be fetched: {reason}")


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a host is by itself, as the system's resolver reads it; None for a name."""
    if host == "localhost" or host.endswith(".localhost"):
        return IPv4Address("127.0.0.1")
    with suppress(ValueError):
        return ip_address(host)
    with suppress(OSError, ValueError):  # decimal, octal and hexadecimal, one to four parts
        return IPv4Address(socket.inet_aton(host)) if host[:1].isdigit() else None
    return None
