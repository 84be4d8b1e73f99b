"""What an export consists of, and where it lies in the bucket.

``exports/parquet/articles/day=2026-11-01/articles.parquet``: folders as Hive names them, so that Athena,
DuckDB and pandas read a dataset as a table with a column `day`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final

from sourcebook.exports.datasets import DATASETS
from sourcebook.exports.period import Period

PREFIX: Final = "exports/"
MANIFESTS: Final = f"{PREFIX}manifests/"
LARGEST: Final = 4_000_000
"""Bytes of a manifest, more than one of the longest period has."""


class FileFormat(StrEnum):
    """What a file is written as."""

    PARQUET = "parquet"
    NDJSON = "ndjson"


_SUFFIXES: Final[Mapping[FileFormat, str]] = {FileFormat.PARQUET: ".parquet", FileFormat.NDJSON: ".ndjson.gz"}


@dataclass(frozen=True, slots=True)
class File:
    """A file of an export.

    Attributes:
        size: bytes.
        sha256: of its content, in hexadecimal digits.
    """

    dataset: str
    form: FileFormat
    day: date
    rows: int
    size: int
    sha256: str

    @property
    def key(self) -> str:
        """Return the file's key in the bucket."""
        return file_key(self.dataset, self.day, self.form)

    @property
    def name(self) -> str:
        """Return the name under which the file is saved."""
        return file_name(self.dataset, self.day, self.form)

    def written(self) -> dict[str, object]:
        """Return it as the manifest has it."""
        return {
            "name": self.name,
            "dataset": self.dataset,
            "format": self.form.value,
            "day": self.day.isoformat(),
            "rows": self.rows,
            "bytes": self.size,
            "sha256": self.sha256,
            "key": self.key,
        }


@dataclass(frozen=True, slots=True)
class Manifest:
    """All files of a period.

    Attributes:
        made_at: when the last of them was written.
    """

    period: Period
    made_at: str
    files: tuple[File, ...]

    def written(self) -> dict[str, object]:
        """Return it as it is written."""
        return {
            "export_id": self.period.name,
            "since": self.period.since.isoformat(),
            "until": self.period.until.isoformat(),
            "made_at": self.made_at,
            "datasets": [
                {
                    "name": dataset.name,
                    "rows": sum(
                        one.rows
                        for one in self.files
                        if (one.dataset, one.form) == (dataset.name, FileFormat.PARQUET)
                    ),
                    "columns": [{"name": one.name, "kind": one.kind.value} for one in dataset.columns],
                }
                for dataset in DATASETS
            ],
            "files": [one.written() for one in self.files],
        }


def file_key(dataset: str, day: date, form: FileFormat) -> str:
    """Return where the file of a day lies."""
    return f"{PREFIX}{form}/{dataset}/day={day.isoformat()}/{dataset}{_SUFFIXES[form]}"


def file_name(dataset: str, day: date, form: FileFormat) -> str:
    """Return what the file of a day is saved as."""
    return f"{dataset}-{day.isoformat()}{_SUFFIXES[form]}"


def manifest_key(period: Period) -> str:
    """Return where the manifest of a period lies."""
    return f"{MANIFESTS}{period.name}.json"


def names(period: Period) -> Iterator[tuple[str, str]]:
    """Yield what the files of a period are saved as, with where they lie."""
    for dataset in DATASETS:
        for form in FileFormat:
            for day in period.days():
                yield file_name(dataset.name, day, form), file_key(dataset.name, day, form)
