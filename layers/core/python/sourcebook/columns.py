"""Columns of a table that is taken away: what each is called, and what it holds.

`sourcebook.parquet` writes them. Nothing here loads a library, so that whoever only names them need not wait.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias


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


Columns: TypeAlias = Mapping[str, ColumnKind]
"""The columns of a table by their names, in their order. Each may be empty."""
