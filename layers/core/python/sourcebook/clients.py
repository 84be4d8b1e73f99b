"""Clients of AWS for what a function seldom does: each is made with its first call.

A client costs 6 to 9 ms of CPU, most of it reading the description of its service.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar, cast

ClientT = TypeVar("ClientT")

_MAKING = Lock()
"""boto3's session makes one client at a time."""


class _OnDemand:
    """Stands in for a client."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make
        self._client: object | None = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the client has
        with _MAKING:
            if self._client is None:
                self._client = self._make()
        return getattr(self._client, name)


def on_demand(make: Callable[[], ClientT]) -> ClientT:
    """Return what stands in for a client and makes it when the first of its methods is asked for.

    Safe to share between threads, as the client is.
    """
    return cast("ClientT", _OnDemand(make))
