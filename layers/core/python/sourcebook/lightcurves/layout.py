"""What a reader of a format hands on: rows of cells, and what they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.columns import Columns
from sourcebook.lightcurves.model import Format


class Row(NamedTuple):
    """One row: its cells, or why it has none that can be read."""

    number: int
    cells: Sequence[str]
    columns: Columns
    error: InvalidInput | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """An upload as rows, read as they are asked for."""

    format: Format
    rows: Iterator[Row]
    notes: list[str] = field(default_factory=list)
