"""Pages as they were fetched, kept in the bucket by their content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.bucket.documents import BucketBusy

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

PREFIX: Final = "snapshots/"


@dataclass(frozen=True)
class Snapshots:
    """Pages in the bucket.

    Attributes:
        bucket: its name.
        connect: makes the client; called when the first page is kept, since most runs keep none.
    """

    bucket: str
    connect: Callable[[], S3Client] = field(repr=False)

    @cached_property
    def _client(self) -> S3Client:
        return self.connect()

    def keep(self, source_id: str, digest: str, body: bytes, content_type: str) -> str:
        """Keep a page under its hash; keeping it again writes the same.

        Returns:
            Its key in the bucket.

        Raises:
            BucketBusy: if S3 does not take it.
        """
        key = snapshot_key(source_id, digest)
        try:
            self._client.put_object(
                Bucket=self.bucket,
                Key=key,
                Body=body,
                ContentType=content_type or "application/octet-stream",
            )
        except (ClientError, BotoCoreError) as error:
            raise BucketBusy(f"the page of {source_id} could not be kept: {error}") from error
        return key


def snapshot_key(source_id: str, digest: str) -> str:
    """Return where a page is kept."""
    return f"{PREFIX}{source_id}/{digest}"
