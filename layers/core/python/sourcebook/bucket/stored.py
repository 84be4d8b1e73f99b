"""The description of a written object. Free of pydantic and boto3, since messages of workflows hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sourcebook.messages import Message

FITS: Final = "application/fits"
LARGEST_FILE: Final = 64 * 1024 * 1024
"""Bytes of a spectrum's file, as it comes and unpacked; a million samples with their errors have a third."""


@dataclass(frozen=True, slots=True)
class StoredObject(Message):
    """One object in the bucket.

    Attributes:
        etag: as S3 gives it, with its quotation marks.
        sha256: in hexadecimal.
    """

    key: str
    byte_length: int
    content_type: str
    etag: str
    sha256: str
