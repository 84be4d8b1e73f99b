"""Writing an export: a piece of the work in each call, so that it ends at any size.

Every day of every dataset is a file of its own, in both forms, at a place that depends on nothing else. To
export a day again replaces its files; the same records give the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from io import BytesIO
from typing import Final

from sourcebook.bucket.objects import Objects
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.exports.datasets import DATASETS, Dataset, Row
from sourcebook.exports.manifest import File, FileFormat, files_of, manifest_key
from sourcebook.exports.messages import ExportDays, Exported
from sourcebook.exports.period import Period
from sourcebook.parquet import ParquetFile
from sourcebook.records.article import RETENTION
from sourcebook.records.base import View
from sourcebook.table.client import Table

SECONDS: Final = 30.0
"""After so many seconds a call ends, with the number of the piece that is next."""

_CONTENT_TYPES: Final[Mapping[FileFormat, str]] = {
    FileFormat.PARQUET: "application/vnd.apache.parquet",
    FileFormat.NDJSON: "application/gzip",
}


@dataclass(frozen=True, slots=True)
class Exporter:
    """Writes days of records into the bucket."""

    table: Table
    objects: Objects
    clock: Clock = utc_now
    seconds: float = SECONDS
    monotonic: Callable[[], float] = time.monotonic

    def run(self, request: ExportDays) -> Exported:
        """Export the next days, as far as the time goes, and return what was done.

        Raises:
            InvalidInput: if the period is none.
            Retryable: if the table or the bucket could not answer; the same call may be made again.
        """
        period = Period.of(request.since, request.until)
        pieces = [(one, part) for one in DATASETS for part in period.parts(one.days_at_once)]
        rows, kept = request.rows, request.kept
        number, ends = request.next, self.monotonic() + self.seconds
        while number < len(pieces):
            written, left = self._write(*pieces[number])
            rows, kept = rows + written, kept + left
            number += 1
            if self.monotonic() > ends:
                break
        else:
            self._conclude(period)
            number += 1
        return Exported(
            period.since.isoformat(),
            period.until.isoformat(),
            number,
            len(pieces) + 1,
            rows,
            kept,
            done=number > len(pieces),
        )

    def _write(self, dataset: Dataset, part: Period) -> tuple[int, int]:
        """Write the files of a piece; return how many records they have, and how many files were left."""
        written = kept = 0
        for day, rows in dataset.rows(self.table, part):
            count, bodies = _written(dataset, rows)
            written += count
            for form, body in bodies.items():
                key = File(dataset.name, day, form).key
                if dataset.expires and self._has_more(key, day, count):
                    kept += 1
                    continue
                about = {
                    "rows": str(count),
                    "bytes": str(len(body)),
                    "sha256": hashlib.sha256(body).hexdigest(),
                }
                self.objects.write(key, body, _CONTENT_TYPES[form], metadata=about)
        return written, kept

    def _has_more(self, key: str, day: date, count: int) -> bool:
        """Whether the file that is there has what the table has not any more: records of that day expire."""
        if day + RETENTION > self.clock().date() or key not in self.objects.etags(key):
            return False
        return int(self.objects.state(key)[1]["rows"]) > count

    def _conclude(self, period: Period) -> None:
        """Write the manifest, last of all: whoever finds it finds every file of it."""
        files: list[View] = []
        records: Counter[str] = Counter()
        for file in files_of(period):
            about = self.objects.state(file.key)[1]
            rows = int(about["rows"])
            files.append(
                {
                    "name": file.name,
                    "dataset": file.dataset,
                    "format": file.form.value,
                    "day": file.day.isoformat(),
                    "rows": rows,
                    "bytes": int(about["bytes"]),
                    "sha256": about["sha256"],
                    "key": file.key,
                }
            )
            if file.form is FileFormat.PARQUET:  # each record is in a file of either form
                records[file.dataset] += rows
        manifest = {
            "export_id": period.name,
            "since": period.since.isoformat(),
            "until": period.until.isoformat(),
            "made_at": isoformat(self.clock()),
            "datasets": [
                {
                    "name": dataset.name,
                    "rows": records[dataset.name],
                    "columns": [{"name": name, "kind": kind.value} for name, kind in dataset.columns.items()],
                }
                for dataset in DATASETS
            ],
            "files": files,
        }
        body = json.dumps(manifest, ensure_ascii=False, indent=1).encode()
        self.objects.write(manifest_key(period), body, "application/json")


def _written(dataset: Dataset, rows: Iterable[Row]) -> tuple[int, dict[FileFormat, bytes]]:
    """Return how many records there are, and their files."""
    count = 0
    parquet, packed = ParquetFile(dataset.columns), BytesIO()
    # Without a time within, so that the same records give the same bytes.
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=6, mtime=0) as lines:
        for row in rows:
            parquet.add((row,))
            line = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
            lines.write(f"{line}\n".encode())
            count += 1
    return count, {FileFormat.PARQUET: parquet.content(), FileFormat.NDJSON: packed.getvalue()}
