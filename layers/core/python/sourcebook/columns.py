"""Columns of a table that is taken away: what each is called, and what it holds.

`sourcebook.parquet` writes them. Nothing here loads a library, so that whoever only names them need not wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ColumnKind(StrEnum):
    """What a column holds, in the words of a manifest."""

    TEXT = "text"
    TEXTS = "list of texts"
    NUMBER = "number"
    INTEGER = "whole number"
    TIME = "time in UTC"
    DAY = "day"
    JSON = "JSON"
    FLAG = "yes or no"


@dataclass(frozen=True, slots=True)
class Column:
    """A column; each may be empty."""

    name: str
    kind: ColumnKind


def columns(**kinds: ColumnKind) -> tuple[Column, ...]:
    """Return columns by their names, in this order."""
    return tuple(Column(name, kind) for name, kind in kinds.items())
