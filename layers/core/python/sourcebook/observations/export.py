"""Writing observations to a file: JSON, CSV or Parquet, by the file's suffix."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from sourcebook.columns import ColumnKind, Columns
from sourcebook.csv_text import Cell, write_csv
from sourcebook.errors import InvalidInput

OBSERVED: Final[Columns] = {
    "bank_name": ColumnKind.TEXT,
    "series_code": ColumnKind.TEXT,
    "term_months": ColumnKind.NUMBER,
    "term": ColumnKind.TEXT,
    "observed_day": ColumnKind.DAY,
    "rate_pct": ColumnKind.NUMBER,
    "rate_min_pct": ColumnKind.NUMBER,
    "rate_max_pct": ColumnKind.NUMBER,
    "raw_value": ColumnKind.TEXT,
    "parse_warnings": ColumnKind.TEXTS,
    "source_id": ColumnKind.TEXT,
    "source_priority": ColumnKind.INTEGER,
    "first_seen_at": ColumnKind.TIME,
    "scraped_at": ColumnKind.TIME,
}
"""Columns of an observation that is taken away, in their order."""
COLUMNS: Final = tuple(OBSERVED)
"""Their names; `parse_warnings` are joined by spaces in CSV."""

Row = Mapping[str, object]


def writer_for(path: Path) -> Callable[[Path, Iterable[Row]], int]:
    """Return what writes a file of this suffix; it returns how many rows it wrote.

    Raises:
        InvalidInput: if the suffix is none of .json, .csv and .parquet.
    """
    writers = {".json": _write_json, ".csv": _write_csv, ".parquet": _write_parquet}
    if path.suffix.lower() not in writers:
        raise InvalidInput("export", path.name, f"a file name that ends in {', '.join(writers)}")
    return writers[path.suffix.lower()]


def _write_json(path: Path, rows: Iterable[Row]) -> int:
    content = [{name: row.get(name) for name in COLUMNS} for row in rows]
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return len(content)


def _write_csv(path: Path, rows: Iterable[Row]) -> int:
    with path.open("w", encoding="utf-8", newline="") as file:
        return write_csv(file, COLUMNS, ([_flat(row.get(name)) for name in COLUMNS] for row in rows))


def _write_parquet(path: Path, rows: Iterable[Row]) -> int:
    try:
        # Large, and needed by nobody who exports JSON or CSV.
        from sourcebook.parquet import ParquetFile  # noqa: PLC0415
    except ImportError as error:
        raise InvalidInput(
            "export",
            path.name,
            "the package pyarrow for Parquet: run `make install`, or export .csv or .json",
        ) from error
    content = list(rows)
    file = ParquetFile(OBSERVED)
    file.add(content)
    path.write_bytes(file.content())
    return len(content)


def _flat(value: Any) -> Cell:  # noqa: ANN401 - one value of a row
    return " ".join(map(str, value)) if isinstance(value, list) else value
