"""Writing observations to a file: JSON, CSV or Parquet, by the file's suffix."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sourcebook.csv_text import Cell, write_csv
from sourcebook.errors import InvalidInput
from sourcebook.observations.raw_read import observed_row
from sourcebook.observations.read import ObservationReader

COLUMNS: Final = (
    "bank_name",
    "series_code",
    "term_months",
    "term",
    "observed_day",
    "rate_pct",
    "rate_min_pct",
    "rate_max_pct",
    "raw_value",
    "parse_warnings",
    "source_id",
    "source_priority",
    "first_seen_at",
    "scraped_at",
)
"""Columns of an export, in its order; `parse_warnings` are joined by spaces in CSV and Parquet."""

_NUMBERS: Final = frozenset({"rate_pct", "rate_min_pct", "rate_max_pct", "term_months"})

Row = Mapping[str, Any]


def canonical_rows(reader: ObservationReader) -> Iterator[dict[str, Any]]:
    """Yield one row for each bank, series and term: the figure that counts."""
    cursor: str | None = None
    while True:
        page = reader.latest(cursor=cursor)
        for row in page["items"]:
            yield {name: row.get(name) for name in COLUMNS if name != "first_seen_at"} | {
                "first_seen_at": None
            }
        if (cursor := page["next_cursor"]) is None:
            return


def raw_rows(reader: ObservationReader) -> Iterator[dict[str, Any]]:
    """Yield every observation of every source, also of sources that are registered no more."""
    priorities: dict[str, int | None] = {}
    for target in reader.targets():
        for item in reader.observations(target):
            source_id = str(item["source_id"])
            reader.learn(priorities, [source_id])
            yield observed_row(target, item, priorities[source_id])


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
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise InvalidInput(
            "export",
            path.name,
            "the package pyarrow for Parquet: run `make install`, or export .csv or .json",
        ) from error
    content: Sequence[Row] = list(rows)
    fields = [(name, pa.float64() if name in _NUMBERS else pa.string()) for name in COLUMNS]
    schema = pa.schema([(n, pa.int64() if n == "source_priority" else kind) for n, kind in fields])
    columns = {name: [_typed(name, row.get(name)) for row in content] for name in COLUMNS}
    pq.write_table(pa.table(columns, schema=schema), path)
    return len(content)


def _flat(value: Any) -> Cell:  # noqa: ANN401 - one value of a row
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _typed(name: str, value: object) -> object:
    flat = _flat(value)
    return float(str(flat)) if name in _NUMBERS and flat is not None else flat
