"""Files in the bucket: spectra as they came, and what is made of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, Self

from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.bucket.documents import DocumentRefused, bucket_error, own_bucket
from sourcebook.bucket.objects import Objects
from sourcebook.bucket.stored import StoredObject

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from sourcebook.http import Sink

LARGEST_FILE: Final = 64 * 1024 * 1024
"""Bytes of a spectrum's file, as it comes and unpacked; a million samples with their errors have a third."""
FITS: Final = "application/fits"

_PIECE: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one bucket.

    Raises `BucketBusy` when S3 is not able to answer now, `DocumentRefused` when it never will.
    """

    client: S3Client
    bucket: str

    @classmethod
    def connect(cls) -> Self:
        """Return those of this function's bucket. Raise InvalidInput if its environment names none."""
        return cls(*own_bucket())

    def put(self, key: str, body: bytes | IO[bytes], content_type: str) -> StoredObject:
        """Write an object, in place of the one that is there. A file is sent from its beginning.

        One request, so that what is there is always whole: what this project keeps is far below the 5 GB
        that S3 takes in one.
        """
        digest = hashlib.sha256()
        if isinstance(body, bytes):
            digest.update(body)
            length = len(body)
        else:
            body.seek(0)
            length = 0
            while piece := body.read(_PIECE):
                digest.update(piece)
                length += len(piece)
            body.seek(0)
        try:
            answer = self.client.put_object(
                Bucket=self.bucket, Key=key, Body=body, ContentLength=length, ContentType=content_type
            )
        except (ClientError, BotoCoreError) as error:
            raise bucket_error(error, key) from error
        return StoredObject(key, length, content_type, answer["ETag"], digest.hexdigest())

    def read(self, key: str, largest: int) -> bytes:
        """Return an object's content.

        Raises:
            DocumentRefused: if it is longer than `largest` bytes.
        """
        return Objects(self.client, self.bucket).read(key, largest).body

    def copy_to(self, key: str, sink: Sink, largest: int) -> tuple[int, str]:
        """Write an object's content to `sink`; return its length and SHA-256.

        Raises:
            DocumentRefused: if it is longer than `largest` bytes.
        """
        digest, length = hashlib.sha256(), 0
        try:
            answer = self.client.get_object(Bucket=self.bucket, Key=key)
            if answer["ContentLength"] > largest:
                raise DocumentRefused(
                    f"s3 {key}: {answer['ContentLength']} bytes, at most {largest} are read"
                )
            for piece in answer["Body"].iter_chunks(_PIECE):
                digest.update(piece)
                length += len(piece)
                sink.write(piece)
        except (ClientError, BotoCoreError) as error:
            raise bucket_error(error, key) from error
        return length, digest.hexdigest()

    def duplicate(self, source: str, target: str) -> None:
        """Copy an object within the bucket."""
        try:
            self.client.copy_object(
                Bucket=self.bucket, Key=target, CopySource={"Bucket": self.bucket, "Key": source}
            )
        except (ClientError, BotoCoreError) as error:
            raise bucket_error(error, source) from error
