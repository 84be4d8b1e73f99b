"""What an upload is: the files that somebody means to send, and what became of each."""

from __future__ import annotations

import base64
from enum import StrEnum
from pathlib import PurePath
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from sourcebook.events import UtcDatetime
from sourcebook.lightcurves.parse import MOST_BYTES
from sourcebook.novae.model import Sha256, Uuid
from sourcebook.photometry.upload import upload_key
from sourcebook.spectra.providers.donation import LARGEST as LARGEST_SPECTRUM
from sourcebook.spectra.providers.donation import Provenance, plain_name
from sourcebook.validation import first_wrong

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

_Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"\S")]
_Note = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
_Name = Annotated[str, StringConstraints(min_length=1, max_length=255)]


class NewFile(BaseModel):
    """A file that somebody means to send."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    nova_id: Annotated[Uuid, Field(description="The nova that it shows.")]
    kind: FileKind
    file_name: Annotated[_Name, Field(description="Its suffix says what it is sent as.")]
    byte_length: Annotated[int, Field(ge=1, strict=True)]
    sha256: Annotated[Sha256, Field(description="Of its bytes, in hexadecimal.")]

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if self.byte_length > LARGEST[self.kind]:
            raise ValueError(f"a {self.kind} file has at most {LARGEST[self.kind]} bytes")
        if PurePath(self.file_name).suffix.lower() not in CONTENT_TYPES[self.kind]:
            suffixes = ", ".join(CONTENT_TYPES[self.kind])
            raise ValueError(f"the name of a {self.kind} file ends in one of {suffixes}")
        return self

    @property
    def content_type(self) -> str:
        """What it is sent as."""
        return CONTENT_TYPES[self.kind][PurePath(self.file_name).suffix.lower()]

    @property
    def checksum(self) -> str:
        """Its digest as S3 writes it."""
        return base64.b64encode(bytes.fromhex(self.sha256)).decode()


class NewUpload(BaseModel):
    """What somebody means to send."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    donor: Annotated[_Line, Field(description="Who hands the files in.")]
    observer: _Line | None = Field(default=None, description="Who took them, if that is somebody else.")
    license: _Line | None = Field(default=None, description="Under what terms they may be used.")
    note: _Note | None = Field(default=None, description="Anything else that helps to judge them.")
    files: Annotated[tuple[NewFile, ...], Field(min_length=1, max_length=MOST_FILES)]

    @classmethod
    def read(cls, body: object) -> Self:
        """Read a request. Raise InvalidInput naming the first field that is wrong."""
        try:
            return (
                cls.model_validate_json(body) if isinstance(body, str | bytes) else cls.model_validate(body)
            )
        except ValidationError as error:
            raise first_wrong(error, "body") from error


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
