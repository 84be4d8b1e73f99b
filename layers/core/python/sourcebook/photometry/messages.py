"""Requests and results of the tasks of photometry. Free of pydantic, since the API loads the workflows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sourcebook.messages import Message, TaskRequest, TaskResult


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadValid(TaskResult):
    """An upload that has measurements.

    Attributes:
        file_id: SHA-256 of the upload.
        problems: the first of what is wrong with its rows; all of them are in the report.
        report_key: of the report in the bucket.
        etag: of the upload.
    """

    outcome: Literal["VALIDATED"] = "VALIDATED"
    nova_id: str
    file_id: str
    format: str
    rows: int
    accepted: int
    duplicates: int
    rejected: int
    problems: tuple[str, ...]
    report_key: str
    etag: str
    byte_length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadKnown(TaskResult):
    """An upload that the nova has already."""

    outcome: Literal["SKIPPED_DUPLICATE"] = "SKIPPED_DUPLICATE"
    nova_id: str
    file_id: str
    ingested_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidateUpload(TaskRequest):
    """Asks for an upload of photometry to be read."""

    function = "validate_photometry"
    results = (UploadValid, UploadKnown)
    nova_id: str
    s3_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadObject(Message):
    """The object that an upload is."""

    s3_key: str
    etag: str
    byte_length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRebuilt(TaskResult):
    """A table that has an upload's measurements.

    Attributes:
        added: measurements of the upload that were new.
        ingestion_count: uploads in the table.
    """

    outcome: Literal["INGESTED"] = "INGESTED"
    nova_id: str
    file_id: str
    added: int
    known_before: int
    table_rows: int
    ingestion_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildTable(TaskRequest):
    """Asks for an upload's measurements to be added to the table of its nova."""

    function = "rebuild_photometry"
    results = (TableRebuilt,)
    nova_id: str
    file_id: str
    upload: UploadObject
