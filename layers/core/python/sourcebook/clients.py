"""What a function seldom needs is made when it is first asked for: clients of AWS, adapters of rare kinds.

A client costs 6 to 9 ms of CPU, most of it reading the description of its service. What the rarer adapters
import would be a tenth of each start.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, TypeVar, cast

MadeT = TypeVar("MadeT")

_MAKING = RLock()
"""boto3's session makes one client at a time. What is made may ask for another one on its way."""


class _OnDemand:
    """Stands in for what is not made yet."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make
        self._made: object | None = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the made one has
        with _MAKING:
            if self._made is None:
                self._made = self._make()
        return getattr(self._made, name)


def on_demand(make: Callable[[], MadeT]) -> MadeT:
    """Return what stands in for a client or an adapter, and makes it when its first method is asked for.

    Safe to share between threads, as a client is.
    """
    return cast("MadeT", _OnDemand(make))
