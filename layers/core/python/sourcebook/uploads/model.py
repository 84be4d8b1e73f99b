"""What an upload is: the files that somebody means to send, and what became of each."""

from __future__ import annotations

import base64
from enum import StrEnum
from pathlib import PurePath
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, field_validator

from sourcebook.errors import InvalidInput
from sourcebook.events import UtcDatetime
from sourcebook.inputs import Input, NovaId, Uuid, expected, matching, refused, text
from sourcebook.lightcurves.parse import MOST_BYTES
from sourcebook.photometry.upload import upload_key
from sourcebook.schema import SHA256
from sourcebook.spectra.providers.donation import LARGEST as LARGEST_SPECTRUM
from sourcebook.spectra.providers.donation import Provenance, plain_name

MOST_FILES: Final = 50
"""Files of one upload; more are several uploads."""


class FileKind(StrEnum):
    """What a file holds."""

    PHOTOMETRY = "photometry"
    SPECTRUM = "spectrum"


class FileState(StrEnum):
    """What became of a file."""

    EXPECTED = "EXPECTED"
    """It is to be sent, and the upload then completed."""
    MISSING = "MISSING"
    """The upload was completed before it was there: send it, and complete the upload again."""
    RUNNING = "RUNNING"
    TAKEN = "TAKEN"
    """Its measurements are in the nova's table, or its spectrum is valid."""
    KNOWN = "KNOWN"
    """The catalogue had it before."""
    HELD = "HELD"
    """A person must decide: see the quarantine."""
    REFUSED = "REFUSED"


CONTENT_TYPES: Final = {
    FileKind.PHOTOMETRY: {
        **dict.fromkeys((".csv", ".tsv", ".txt", ".dat", ".aavso"), "text/plain"),
        **dict.fromkeys((".vot", ".xml", ".votable"), "application/x-votable+xml"),
    },
    FileKind.SPECTRUM: {
        **dict.fromkeys((".fits", ".fit", ".fts"), "application/fits"),
        ".gz": "application/gzip",
        ".zip": "application/zip",
    },
}
"""The type that a file is sent with, by its kind and suffix."""
LARGEST: Final = {FileKind.PHOTOMETRY: MOST_BYTES, FileKind.SPECTRUM: LARGEST_SPECTRUM}
"""Bytes of a file, by its kind."""

_Line = Annotated[str, text(200)]


class NewFile(Input):
    """A file that somebody means to send."""

    nova_id: NovaId = Field(description="The nova that it shows.")
    kind: FileKind
    file_name: Annotated[str, StringConstraints(min_length=1, max_length=255)] = Field(
        description="Its suffix says what it is sent as."
    )
    byte_length: int = Field(ge=1, le=max(LARGEST.values()), strict=True)
    sha256: Annotated[str, matching(SHA256, 64), expected("64 hexadecimal digits in lower case")] = Field(
        description="Of its bytes, in hexadecimal."
    )

    @field_validator("file_name")
    @classmethod
    def _is_of_its_kind(cls, name: str, info: ValidationInfo) -> str:
        kind = info.data.get("kind")
        if kind is not None and PurePath(name).suffix.lower() not in CONTENT_TYPES[kind]:
            suffixes = ", ".join(CONTENT_TYPES[kind])
            raise refused(InvalidInput("file_name", name, f"a name that ends in one of {suffixes}"))
        return name

    @field_validator("byte_length")
    @classmethod
    def _is_not_too_long(cls, length: int, info: ValidationInfo) -> int:
        kind = info.data.get("kind")
        if kind is not None and length > LARGEST[kind]:
            raise refused(InvalidInput("byte_length", length, f"at most {LARGEST[kind]} for a {kind} file"))
        return length

    @property
    def content_type(self) -> str:
        """What it is sent as."""
        return CONTENT_TYPES[self.kind][PurePath(self.file_name).suffix.lower()]

    @property
    def checksum(self) -> str:
        """Its digest as S3 writes it."""
        return base64.b64encode(bytes.fromhex(self.sha256)).decode()


class NewUpload(Input):
    """What somebody means to send."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "donor": "A. Observer",
                    "license": "CC-BY-4.0",
                    "files": [
                        {
                            "nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6",
                            "kind": "photometry",
                            "file_name": "night.csv",
                            "byte_length": 2048,
                            "sha256": "2f91aa1c5b1f0f7a8d1f6d1a3c9e5b7d2f91aa1c5b1f0f7a8d1f6d1a3c9e5b7d",
                        }
                    ],
                }
            ]
        }
    )

    donor: _Line = Field(description="Who hands the files in.")
    observer: _Line | None = Field(None, description="Who took them, if that is somebody else.")
    license: _Line | None = Field(None, description="Under what terms they may be used.")
    note: Annotated[str, text(1_000)] | None = Field(
        None, description="Anything else that helps to judge them."
    )
    files: Annotated[list[NewFile], expected(f"a list of 1 to {MOST_FILES} files")] = Field(
        min_length=1, max_length=MOST_FILES
    )


class UploadedFile(NewFile):
    """A file of an upload, with what was done with it.

    Attributes:
        job_run_id: the run that ingests it.
        data_product_id: the spectrum that it became.
        state: what is known without asking: MISSING, REFUSED, or EXPECTED before the upload was completed.
        reason: why it was refused.
    """

    job_run_id: Uuid | None = None
    data_product_id: Uuid | None = None
    state: FileState = FileState.EXPECTED
    reason: str | None = None


class Upload(BaseModel):
    """An upload, as it lies in the bucket."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: Literal["1"] = "1"
    upload_id: Uuid
    created_at: UtcDatetime
    created_by: str | None = None
    donor: str
    observer: str | None = None
    license: str | None = None
    note: str | None = None
    files: tuple[UploadedFile, ...]

    def provenance(self, file: NewFile) -> Provenance:
        """Return where a spectrum comes from, as it lies beside its file."""
        return Provenance(
            nova_id=file.nova_id,
            file_name=plain_name(file.file_name),
            byte_length=file.byte_length,
            sha256=file.sha256,
            donor=self.donor,
            observer=self.observer,
            license=self.license,
            note=self.note,
            donated_at=self.created_at,
        )

    def key(self, file: NewFile) -> str:
        """Return where a file is sent to."""
        if file.kind is FileKind.PHOTOMETRY:
            return upload_key(file.file_name, file.sha256)
        return self.provenance(file).key
