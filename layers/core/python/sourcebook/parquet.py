"""Rows as a Parquet file. It imports pyarrow, which only a few functions carry."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from sourcebook.clock import parse_iso
from sourcebook.columns import ColumnKind, Columns

_ROWS_AT_ONCE: Final = 5_000


class ParquetFile:
    """A file that is written row by row; the same rows give the same bytes."""

    def __init__(self, columns: Columns) -> None:
        """Begin a file with these columns."""
        self._columns = columns
        self._schema = pa.schema([(name, _FORMS[kind][0]) for name, kind in columns.items()])
        self._sink = pa.BufferOutputStream()
        self._writer = pq.ParquetWriter(self._sink, self._schema, compression="zstd")
        self._rows: list[Mapping[str, object]] = []

    def add(self, rows: Iterable[Mapping[str, object]]) -> None:
        """Add rows. What a column cannot hold is empty there; members that are no column are left out."""
        for row in rows:
            self._rows.append(row)
            if len(self._rows) >= _ROWS_AT_ONCE:
                self._write()

    def content(self) -> bytes:
        """End the file and return it."""
        if self._rows:
            self._write()
        self._writer.close()
        content: bytes = self._sink.getvalue().to_pybytes()
        return content

    def _write(self) -> None:
        cells = {
            name: [_cell(kind, row.get(name)) for row in self._rows] for name, kind in self._columns.items()
        }
        self._writer.write_table(pa.table(cells, schema=self._schema))
        self._rows = []


def _cell(kind: ColumnKind, value: object) -> object:
    if value is None:
        return None
    _, read = _FORMS[kind]
    try:
        return read(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _text(value: object) -> str:
    return value if isinstance(value, str) else _json(value)


def _texts(value: object) -> list[str]:
    if isinstance(value, list | tuple):
        return [_text(one) for one in value]
    return [_text(value)]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_FORMS: Final[Mapping[ColumnKind, tuple[pa.DataType, Callable[[Any], object]]]] = {
    ColumnKind.TEXT: (pa.string(), _text),
    ColumnKind.TEXTS: (pa.list_(pa.string()), _texts),
    ColumnKind.NUMBER: (pa.float64(), float),
    ColumnKind.INTEGER: (pa.int64(), int),
    ColumnKind.TIME: (pa.timestamp("us", "UTC"), parse_iso),
    ColumnKind.DAY: (pa.date32(), date.fromisoformat),
    ColumnKind.JSON: (pa.string(), _json),
    ColumnKind.FLAG: (pa.bool_(), bool),
}
"""Of each kind, the type in a file, and what makes a value of it."""
