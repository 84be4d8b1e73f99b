"""What both clients have in common of sending and receiving."""

from __future__ import annotations

import os
import uuid
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from sourcebook.client._asking import LARGEST, Ask, trouble_of
from sourcebook.client.errors import Unreachable, Unreadable

_AGENT: Final = "sourcebook-client/1"


def environment() -> tuple[str, str | None]:
    """Return the address and the token that the environment names.

    Raises:
        LookupError: if it names no address.
    """
    address = os.environ.get("SOURCEBOOK_URL")
    if not address:
        raise LookupError("set SOURCEBOOK_URL to the address of the API, and SOURCEBOOK_TOKEN to a token")
    return address, os.environ.get("SOURCEBOOK_TOKEN") or None


class Sending:
    """Sends requests, and repeats those that may be.

    Attributes:
        address: of the API, without a slash at its end.
        timeout: seconds that an answer may take.
    """

    def __init__(self, address: str, token: str | None, timeout: float) -> None:
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"{address!r} is not the address of an API such as https://abc.example")
        self.address = address.rstrip("/")
        self.timeout = timeout
        self._token = token

    def request(self, ask: Ask[Any], cursor: str | None) -> httpx.Request:
        """Return the request; all attempts at one operation send the same."""
        headers = {"accept": "application/json", "user-agent": _AGENT}
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        content = ask.content()
        if content is not None:
            headers["content-type"] = ask.media_type
        if ask.method != "GET":
            headers["idempotency-key"] = str(uuid.uuid4())
        return httpx.Request(
            ask.method,
            self.address + ask.address,
            params=ask.parameters(cursor),
            headers=headers,
            content=content,
            # httpx keeps each of connecting, sending and the wait for a piece within it.
            extensions={"timeout": httpx.Timeout(self.timeout).as_dict()},
        )


class SentAnswer:
    """An answer while it comes."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._content = bytearray()

    def take(self, part: bytes, *, late: bool) -> None:
        """Add a part of the body.

        Raises:
            Unreachable: if it comes too late.
            Unreadable: if the body is larger than any of the API's.
        """
        if late:
            raise Unreachable("the answer did not end in time")
        self._content += part
        if len(self._content) > LARGEST:
            raise Unreadable(f"an answer of more than {LARGEST:,} bytes")

    @property
    def content(self) -> bytes:
        """Return the body of the answer."""
        return bytes(self._content)

    def check(self, ask: Ask[Any], now: datetime) -> None:
        """Raise the error that the answer is, if it is one."""
        trouble = trouble_of(ask, self._response.status_code, self._response.headers, self.content, now)
        if trouble is not None:
            raise trouble
