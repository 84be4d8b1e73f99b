"""SQLite with FTS5: the interpreter's own, or apsw's where the interpreter's was built without it.

Which one Lambda's Python has is not promised, so it is looked at once, when the first index is opened.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from sourcebook.errors import SourcebookError


class DamagedIndex(SourcebookError):
    """A file is no index."""


@dataclass(frozen=True, slots=True)
class Database:
    """A database in memory.

    Attributes:
        run: runs a statement with its values and gives its rows.
        content: returns the file that it would be.
    """

    run: Callable[[str, tuple[object, ...]], Iterable[tuple[Any, ...]]]
    content: Callable[[], bytes]

    def execute(self, sql: str, values: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement, and return its rows."""
        return list(self.run(sql, tuple(values)))


def _own(content: bytes | None) -> Database:
    connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    if content is not None:
        connection.deserialize(content)
    return Database(connection.execute, connection.serialize)


def _apsw(content: bytes | None) -> Database:
    import apsw  # noqa: PLC0415 - only where it is needed

    connection = apsw.Connection(":memory:")
    if content is not None:
        connection.deserialize("main", content)
    return Database(connection.execute, partial(connection.serialize, "main"))


@cache
def _opener() -> Callable[[bytes | None], Database]:
    for opened in (_own, _apsw):
        # Whatever an error is, this one cannot be used, and the next is tried.
        with suppress(Exception):
            opened(None).execute("CREATE VIRTUAL TABLE probe USING fts5(word, content='')")
            return opened
    raise SourcebookError(
        "SQLite has no FTS5 here, and apsw is not installed: add apsw to layers/core/requirements.in, run "
        "`make lock`, and deploy (docs/decisions/0213)"
    )


def database(content: bytes | None = None) -> Database:
    """Return a database in memory: a new one, or the one that a file holds.

    Raises:
        SourcebookError: if there is no SQLite that can search.
        DamagedIndex: if the file is no database.
    """
    made = _opener()(content)
    try:
        made.execute("PRAGMA schema_version")
    except Exception as error:  # each of the two has errors of its own
        raise DamagedIndex(f"not a database: {error}") from error
    return made
