"""The routes of the HTTP API, without the CDK, so that tests use the deployed routes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from sourcebook.api.operations import Access
from sourcebook.api.parts import operations
from sourcebook.api.requests import EVERY_PATH, SIGNED, UNROUTED, UNROUTED_SIGNED


class Limit(NamedTuple):
    """What API Gateway throttles to: requests a second, and requests at once."""

    rate: int
    burst: int


_WRITES: Final = Limit(10, 20)
_OWN_LIMITS: Final[Mapping[str, Limit]] = {
    # What starts work that costs more than an answer.
    "startWorkflow": Limit(2, 5),
    "initializeNova": Limit(2, 5),
    "importFeeds": Limit(1, 3),
}
"""The limits of operations that have a route of their own."""


@dataclass(frozen=True, slots=True)
class Route:
    """A route of the gateway.

    Attributes:
        key: method and path, or ``$default``.
        signed: whether the gateway asks for a signature.
        limit: that of the stage if None.
    """

    key: str
    signed: bool
    limit: Limit | None = None


def api_routes() -> Iterator[Route]:
    """Return the routes to the function of the API, in a fixed order.

    One for each method that an operation has, whose paths the function takes apart itself, and those of the
    operations with a limit of their own. Each twice: below `SIGNED` the gateway asks for a signature. What is
    left over, such as HEAD, has a route by which the function runs reads alone.
    """
    declared = operations()
    for method in sorted({operation.method for operation in declared}):
        writes = any(one.access is Access.WRITE for one in declared if one.method == method)
        yield from _both(method, EVERY_PATH, _WRITES if writes else None)
    for operation in declared:
        if limit := _OWN_LIMITS.get(operation.name):
            yield from _both(operation.method, operation.path, limit)
    yield Route(UNROUTED, signed=False)
    yield Route(f"ANY {UNROUTED_SIGNED}", signed=True)


def _both(method: str, path: str, limit: Limit | None) -> Iterator[Route]:
    yield Route(f"{method} {path}", signed=False, limit=limit)
    yield Route(f"{method} {SIGNED}{path}", signed=True, limit=limit)
