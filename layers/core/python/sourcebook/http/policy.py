"""What the outgoing client may do: limits, politeness and the networks that it may reach."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from os import environ
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from sourcebook.errors import InvalidInput

Network: TypeAlias = IPv4Network | IPv6Network

LOOPBACK_PORTS_VARIABLE = "HTTP_LOOPBACK_PORTS_FILE"
"""Environment variable: the file for `HttpPolicy.loopback_ports`. Ports are chosen while functions run."""

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_COMMENT = re.compile(r"[\x20-\x27\x2a-\x5b\x5d-\x7e]*")
_HIGHEST_HEADER_LIMIT = 1024 * 1024


@dataclass(frozen=True, slots=True)
class HttpPolicy:
    """Limits of one `HttpClient`. Times are in seconds, sizes in bytes.

    Attributes:
        connect_timeout: for name resolution; and again for connecting, all addresses and TLS together.
        read_timeout: longest silence of the server.
        total_timeout: for the whole exchange with all its redirects, so that a server that drips a byte now
            and then cannot hold a slot. Time spent waiting for a slot of our own does not count.
        max_bytes: longest body, before and after decompression.
        max_header_bytes: longest response head (status line and headers).
        max_redirects: redirects followed before giving up.
        max_concurrent: requests under way at once.
        max_concurrent_per_host: requests under way at once to one host name.
        pause_per_host: least time between the starts of two requests to one host name.
        keepalive_expiry: how long an idle connection is kept.
        allowed_networks: networks reachable besides global addresses, at any port that is not refused, and
            only for the address that was asked for or where an address in them led on.
        refused_ports: ports never reachable in the allowed networks: by default that of the embedded cloud.
        loopback_ports: a file of the only ports reachable at loopback addresses, one a line; None for any
            port that is not refused. The embedded cloud names the file of the servers that it has started.
        allowed_ports: ports reachable at global addresses.
        product: name in the User-Agent header.
        version: version in the User-Agent header.
        contact: web page or mail address in the User-Agent header, where an annoyed operator finds us.
    """

    connect_timeout: float = 5.0
    read_timeout: float = 10.0
    total_timeout: float = 10.0
    max_bytes: int = 10_000_000
    max_header_bytes: int = 64 * 1024
    max_redirects: int = 5
    max_concurrent: int = 20
    max_concurrent_per_host: int = 2
    pause_per_host: float = 0.0
    keepalive_expiry: float = 15.0
    allowed_networks: tuple[Network, ...] = ()
    refused_ports: frozenset[int] = field(default_factory=lambda: endpoint_ports(environ))
    loopback_ports: Path | None = field(default_factory=lambda: loopback_file(environ))
    allowed_ports: frozenset[int] = frozenset({80, 443, 8080, 8443})
    product: str = "Sourcebook"
    version: str = "0.1"
    contact: str = ""

    def __post_init__(self) -> None:
        """Refuse limits that cannot work.

        Raises:
            InvalidInput: naming the field.
        """
        for name in ("connect_timeout", "read_timeout", "total_timeout", "keepalive_expiry"):
            if not 0 < getattr(self, name) <= 3600:
                raise InvalidInput(name, getattr(self, name), "seconds above 0 and up to 3600")
        for name in ("max_bytes", "max_header_bytes", "max_concurrent", "max_concurrent_per_host"):
            if getattr(self, name) < 1:
                raise InvalidInput(name, getattr(self, name), "a whole number of at least 1")
        if self.max_header_bytes > _HIGHEST_HEADER_LIMIT:
            raise InvalidInput("max_header_bytes", self.max_header_bytes, f"at most {_HIGHEST_HEADER_LIMIT}")
        if self.max_redirects < 0:
            raise InvalidInput("max_redirects", self.max_redirects, "0 or more")
        if not 0 <= self.pause_per_host <= 3600:
            raise InvalidInput("pause_per_host", self.pause_per_host, "seconds from 0 to 3600")
        for name in ("product", "version"):
            if not _TOKEN.fullmatch(getattr(self, name)):
                raise InvalidInput(name, getattr(self, name), "letters, digits, dots and hyphens, no spaces")
        if not _COMMENT.fullmatch(self.contact):
            raise InvalidInput(
                "contact", self.contact, "a web or mail address in ASCII, no brackets or backslash"
            )

    @property
    def user_agent(self) -> str:
        """The User-Agent header, e.g. ``Sourcebook/0.1 (+https://example.org/bot)``."""
        contact = self.contact.strip()
        return f"{self.product}/{self.version}" + (f" (+{contact})" if contact else "")


def endpoint_ports(variables: Mapping[str, str]) -> frozenset[int]:
    """Return the port that AWS itself is asked at, when the environment sets one: of the embedded cloud."""
    try:
        port = urlsplit(variables.get("AWS_ENDPOINT_URL", "")).port
    except ValueError:
        port = None
    return frozenset() if port is None else frozenset({port})


def loopback_file(variables: Mapping[str, str]) -> Path | None:
    """Return the file of ports that the environment names; None without one."""
    named = variables.get(LOOPBACK_PORTS_VARIABLE, "")
    return Path(named) if named else None


def ports_in(file: Path) -> frozenset[int]:
    """Return the ports in a file, one a line; none if there is no such file yet."""
    try:
        lines = file.read_text(encoding="ascii").split()
    except FileNotFoundError:
        return frozenset()
    return frozenset(int(line) for line in lines if line.isdigit())


def parse_networks(text: str) -> tuple[Network, ...]:
    """Read a comma separated list of networks in CIDR form, e.g. ``127.0.0.0/8, ::1/128``.

    Raises:
        InvalidInput: if one of them is not a network.
    """
    networks = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        try:
            networks.append(ip_network(part))
        except ValueError:
            raise InvalidInput(
                "allowed_networks", part, "networks in CIDR form, e.g. 127.0.0.0/8,::1/128"
            ) from None
    return tuple(networks)
