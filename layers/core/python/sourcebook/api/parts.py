"""The parts of the API: which module answers below which paths. Each is loaded with its first request.

An operation is declared once, in the module of its part. What stands here is less than an operation and more
than one: paths that belong together. Whoever adds an operation below one of them has nothing to add here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeVar, cast

from sourcebook.clock import Clock, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.table.client import Table

if TYPE_CHECKING:
    from sourcebook.api.operations import Operation
    from sourcebook.bucket.objects import Objects
    from sourcebook.novae.review import Starter

T = TypeVar("T")

PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "service": ("/health", "/openapi.json", "/docs"),
    "articles": ("/articles", "/articles.atom", "/articles.json", "/events"),
    "decisions": ("/decisions",),
    "feeds": ("/feeds", "/feeds.opml"),
    "sentiment": ("/api/v1",),
    "observations": ("/latest", "/history", "/observations", "/banks", "/series", "/meta"),
    "overviews": ("/sources", "/overviews"),
    "ingestion": tuple(f"/overviews/{name}" for name in ("sources", "ingestion", "dead-letters")),
    "alerts": ("/alerts",),
    "workflows": ("/workflows",),
    "exports": ("/exports",),
    "uploads": ("/uploads",),
    "novae": ("/novae", "/job-runs", "/quarantine"),
    "products": ("/novae/{nova_id}/products", "/novae/{nova_id}/photometry", "/novae/{nova_id}/references"),
    "observatory": ("/vo",),
    "downloads": (
        *(f"/novae/{{nova_id}}/photometry.{suffix}" for suffix in ("csv", "vot", "aavso")),
        *(
            f"/novae/{{nova_id}}/products/{{data_product_id}}/spectrum.{suffix}"
            for suffix in ("csv", "ecsv", "fits")
        ),
        "/quarantine/{quarantine_id}/file",
    ),
}
"""Modules of this package, in the order of the reference, by the paths that theirs are, or begin with.

Of two that a path begins with, the longer one counts.
"""

_BY_PATH: Final = {path: name for name, paths in PARTS.items() for path in paths}


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What operations work with.

    Attributes:
        start: starts a workflow.
        workflows: names of the workflows that this stack has.
        objects: returns the bucket; its client is made when something is read from there.
        environ: the function's environment, where a part has settings of its own.
        made: what `once` has made, by what makes it.
    """

    table: Table
    start: Starter
    workflows: tuple[str, ...]
    objects: Callable[[], Objects]
    environ: Mapping[str, str]
    clock: Clock = utc_now
    made: dict[Callable[[Services], object], object] = field(default_factory=dict)

    def once(self, make: Callable[[Services], T]) -> T:
        """Return what `make` makes of these services: the first request that needs it has it made.

        Raises:
            RuntimeError: if `make` raises `InvalidInput`, because a setting is wrong.
        """
        if make not in self.made:
            try:
                self.made[make] = make(self)
            except InvalidInput as error:
                # Who asks cannot mend it, so it must not become an answer of 400.
                raise RuntimeError(f"the function's environment is wrong: {error}") from error
        return cast("T", self.made[make])


@cache
def routes(name: str) -> Mapping[str, Operation]:
    """Return a part's operations by method and path."""
    return {operation.route: operation for operation in import_module(f"sourcebook.api.{name}").OPERATIONS}


def find(route: str) -> Operation | None:
    """Return the operation of a method and a path's template, or None. Loads its part, and no other."""
    path = route.partition(" ")[2]
    while path:
        if name := _BY_PATH.get(path):
            return routes(name).get(route)
        path = path.rpartition("/")[0]
    return None


def match(path: str) -> tuple[str, Mapping[str, str]] | None:
    """Return the template of a path and its variables, None where no operation has such a path.

    Of two templates the one with fewer variables counts. Loads the part that the path is of, and no other.
    """
    name = next((name for name, beginning in _beginnings() if beginning.fullmatch(path)), None)
    for template, pattern in () if name is None else _patterns(name):
        if found := pattern.fullmatch(path):
            return template, found.groupdict()
    return None


def methods(template: str) -> list[str]:
    """Return the methods of a path, those that every path or every read has among them."""
    own = {operation.method for operation in operations() if operation.path == template}
    return sorted(own | {"OPTIONS"} | ({"HEAD"} if "GET" in own else set()))


@cache
def _beginnings() -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return each part with what its paths are or begin with: the longest first, as in `find`."""
    longest_first = sorted(_BY_PATH, key=lambda path: (-path.count("/"), path.count("{"), path))
    return [(_BY_PATH[path], re.compile(f"{_pattern(path)}(/.*)?", re.DOTALL)) for path in longest_first]


@cache
def _patterns(name: str) -> Sequence[tuple[str, re.Pattern[str]]]:
    templates = {operation.path for operation in routes(name).values()}
    ordered = sorted(templates, key=lambda path: (path.endswith("+}"), path.count("{"), path))
    return [(template, re.compile(_pattern(template), re.DOTALL)) for template in ordered]


def _pattern(template: str) -> str:
    """Return the regular expression of a template: a variable is one segment, a greedy one the rest."""
    literal = re.escape(template).replace(r"\{", "{").replace(r"\}", "}").replace(r"\+", "+")
    return re.sub(r"\{(\w+)(\+?)\}", lambda v: f"(?P<{v[1]}>{'.+' if v[2] else '[^/]+'})", literal)


def operations() -> tuple[Operation, ...]:
    """Return every operation. Loads all parts."""
    return tuple(operation for name in PARTS for operation in routes(name).values())
