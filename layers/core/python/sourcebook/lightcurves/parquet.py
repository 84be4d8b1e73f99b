"""The canonical table as Parquet. The only module that imports pyarrow, which only one function carries."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from sourcebook.errors import Terminal
from sourcebook.lightcurves.merge import merge
from sourcebook.lightcurves.model import COLUMNS, TABLE_SCHEMA, Measurement

_ABOUT: Final = b"sourcebook.photometry"
_NEEDED: Final = frozenset(
    {"mjd", "time_system", "time_raw", "band", "band_raw", "upper_limit", "file_id", "row"}
)
_TYPES: Final = {
    **dict.fromkeys(("mjd", "magnitude", "magnitude_error", "flux", "flux_error"), pa.float64()),
    "upper_limit": pa.bool_(),
    "row": pa.int64(),
}
"""Types of columns that are no texts."""
_UNITS: Final = {"mjd": "d", "magnitude": "mag", "magnitude_error": "mag"}


class NotATable(Terminal):
    """What lies where a nova's photometry table should be is something else."""


@dataclass(frozen=True, slots=True)
class StoredUpload:
    """One upload that is in the table.

    Attributes:
        rows: measurements that it had.
        added: those that were new then.
    """

    file_id: str
    rows: int
    added: int


@dataclass(frozen=True, slots=True)
class PhotometryFile:
    """A table with what it was made of.

    Attributes:
        revision: of the table; each one that is written has a higher one.
    """

    nova_id: str
    measurements: Sequence[Measurement] = ()
    uploads: tuple[StoredUpload, ...] = ()
    revision: int = 0
    schema_version: str = TABLE_SCHEMA

    def with_upload(self, file_id: str, coming: Collection[Measurement]) -> PhotometryFile:
        """Return the next revision, which has the measurements of an upload too."""
        merged = merge(self.measurements, coming)
        uploads = (*self.uploads, StoredUpload(file_id, len(coming), merged.added))
        return PhotometryFile(self.nova_id, merged.rows, uploads, self.revision + 1)

    def has(self, file_id: str) -> StoredUpload | None:
        """Return an upload that is in it, or None."""
        return next((upload for upload in self.uploads if upload.file_id == file_id), None)


_SCHEMA: Final = pa.schema(
    [
        pa.field(
            name,
            _TYPES.get(name, pa.string()),
            nullable=name not in _NEEDED,
            metadata={"unit": _UNITS[name]} if name in _UNITS else None,
        )
        for name in COLUMNS
    ]
)


def write_table(table: PhotometryFile) -> bytes:
    """Return a table as Parquet; the same table gives the same bytes."""
    about = {
        "schema_version": TABLE_SCHEMA,
        "nova_id": table.nova_id,
        "revision": table.revision,
        "uploads": [[one.file_id, one.rows, one.added] for one in table.uploads],
    }
    columns = {name: [getattr(one, name) for one in table.measurements] for name in COLUMNS}
    made = pa.table(columns, schema=_SCHEMA.with_metadata({_ABOUT: json.dumps(about).encode()}))
    sink = pa.BufferOutputStream()
    pq.write_table(made, sink, compression="zstd")
    return bytes(sink.getvalue())


def read_table(body: bytes) -> PhotometryFile:
    """Return what `write_table` wrote, also under an older schema: columns that it lacks are empty.

    Raises:
        NotATable: if it is not that.
    """
    try:
        file = pq.ParquetFile(pa.BufferReader(body))
        about = json.loads((file.schema_arrow.metadata or {})[_ABOUT])
        uploads = tuple(StoredUpload(str(f), int(rows), int(added)) for f, rows, added in about["uploads"])
        there = [name for name in COLUMNS if name in file.schema_arrow.names]
        rows = file.read(columns=there).to_pylist()
        measurements = [Measurement(**row) for row in rows]
        return PhotometryFile(
            about["nova_id"], measurements, uploads, int(about["revision"]), str(about["schema_version"])
        )
    except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise NotATable(
            f"the photometry table cannot be read ({type(error).__name__}: {error}); an earlier version of "
            "the object is in the bucket; `sourcebook photometry rebuild` makes it anew of its uploads"
        ) from error
