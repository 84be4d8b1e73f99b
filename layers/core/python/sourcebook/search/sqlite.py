"""SQLite with FTS5: the interpreter's own, or apsw's where the interpreter's was built without it.

Which one Lambda's Python has is not promised, so it is looked at once, when the first index is opened.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Protocol

from sourcebook.errors import SourcebookError


class NoFullTextSearch(SourcebookError):
    """Neither SQLite has FTS5."""


class DamagedIndex(SourcebookError):
    """A file is no index."""


class Database(Protocol):
    """A database in memory."""

    def execute(self, sql: str, values: Sequence[object] = ()) -> Iterable[tuple[Any, ...]]:
        """Run a statement, and return its rows."""

    def content(self) -> bytes:
        """Return the file that it would be."""


class _Own:
    """A connection of the interpreter's own sqlite3."""

    def __init__(self, content: bytes | None) -> None:
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        if content is not None:
            self._connection.deserialize(content)

    def execute(self, sql: str, values: Sequence[object] = ()) -> Iterable[tuple[Any, ...]]:
        return self._connection.execute(sql, tuple(values))

    def content(self) -> bytes:
        return self._connection.serialize()


class _Apsw:
    """A connection of apsw."""

    def __init__(self, content: bytes | None) -> None:
        import apsw  # noqa: PLC0415 - only where it is needed

        self._connection = apsw.Connection(":memory:")
        if content is not None:
            self._connection.deserialize("main", content)

    def execute(self, sql: str, values: Sequence[object] = ()) -> Iterable[tuple[Any, ...]]:
        rows: Iterable[tuple[Any, ...]] = self._connection.execute(sql, tuple(values))
        return rows

    def content(self) -> bytes:
        content: bytes = self._connection.serialize("main")
        return content


def _works(kind: type[_Own | _Apsw]) -> bool:
    try:
        kind(None).execute("CREATE VIRTUAL TABLE probe USING fts5(word, content='')")
    except Exception:  # noqa: BLE001 - whatever it is, this one cannot be used; the caller tries the next
        return False
    return True


@cache
def _kind() -> type[_Own | _Apsw]:
    for kind in (_Own, _Apsw):
        if _works(kind):
            return kind
    raise NoFullTextSearch(
        "SQLite has no FTS5 here, and apsw is not installed: add apsw to layers/core/requirements.in, run "
        "`make lock`, and deploy (docs/decisions/0213)"
    )


def database(content: bytes | None = None) -> Database:
    """Return a database in memory: a new one, or the one that a file holds.

    Raises:
        NoFullTextSearch: if there is no SQLite that can search.
        DamagedIndex: if the file is no database.
    """
    made = _kind()(content)
    try:
        for _ in made.execute("PRAGMA schema_version"):
            pass
    except Exception as error:  # each of the two has errors of its own
        raise DamagedIndex(f"not a database: {error}") from error
    return made
