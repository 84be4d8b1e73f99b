"""What a written object is known by. Free of pydantic and boto3, since messages of workflows hold it."""

from __future__ import annotations

from dataclasses import dataclass

from sourcebook.messages import Message


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
