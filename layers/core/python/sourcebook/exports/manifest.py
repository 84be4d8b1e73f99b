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
    """A file of an export: what one dataset has of one day, in one form."""

    dataset: str
    day: date
    form: FileFormat

    @property
    def key(self) -> str:
        """Return the file's key in the bucket."""
        folder = f"{PREFIX}{self.form}/{self.dataset}/day={self.day.isoformat()}"
        return f"{folder}/{self.dataset}{_SUFFIXES[self.form]}"

    @property
    def name(self) -> str:
        """Return the name under which the file is saved."""
        return f"{self.dataset}-{self.day.isoformat()}{_SUFFIXES[self.form]}"


def files_of(period: Period) -> Iterator[File]:
    """Yield the files of a period, those of a dataset and a form together."""
    for dataset in DATASETS:
        for form in FileFormat:
            for day in period.days():
                yield File(dataset.name, day, form)


def manifest_key(period: Period) -> str:
    """Return where the manifest of a period lies."""
    return f"{MANIFESTS}{period.name}.json"
