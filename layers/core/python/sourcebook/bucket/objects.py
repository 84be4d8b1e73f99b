"""Objects in the bucket that are replaced only if nobody has replaced them meanwhile.

S3 compares and writes in one step (conditional writes: If-Match, If-None-Match), so that of two writers at
once one is told to read again. Nothing here needs s3:ListBucket, without which S3 says "forbidden" of what is
not there: whoever does not know whether an object exists tries to create it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.bucket.documents import DocumentRefused, bucket_error, own_bucket
from sourcebook.errors import SourcebookError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_CONDITIONS: Final = {"IfMatch": "If-Match", "IfNoneMatch": "If-None-Match"}
"""Arguments of PutObject, by name, and the headers in which they are sent."""
_CHANGED: Final = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "412", "409"})

LINK_SECONDS: Final = 300
"""How long a signed link holds: long enough to begin a download, and no longer."""
UPLOAD_SECONDS: Final = 3600
"""How long a link for an upload holds: long enough to send fifty files over a slow line."""


class ObjectChanged(SourcebookError):
    """The object was written since it was read, or exists although it must not."""


@dataclass(frozen=True, slots=True)
class Content:
    """An object as it is.

    Attributes:
        etag: as S3 gives it, with its quotation marks.
        metadata: what its writer said of it.
    """

    body: bytes
    etag: str
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Beginning:
    """What an object begins with.

    Attributes:
        whole: how many bytes the object has.
    """

    body: bytes
    whole: int


@dataclass(frozen=True, slots=True)
class SignedLink:
    """An address at which anybody can read one object for a short time."""

    url: str
    seconds: int


@dataclass(frozen=True, slots=True)
class SignedUpload:
    """A link by which one object can be put for a while.

    Attributes:
        headers: to send with it; the length is sent by every client itself.
    """

    url: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects of one bucket.

    Raises `BucketBusy` when S3 is not able to answer now, `DocumentRefused` when it never will.
    """

    client: S3Client
    bucket: str

    @classmethod
    def connect(cls) -> Self:
        """Return those of this function's bucket. Raise InvalidInput if its environment names none."""
        return cls(*own_bucket())

    def read(self, key: str, largest: int) -> Content:
        """Return an object.

        Raises:
            DocumentRefused: if it is longer than `largest` bytes.
        """
        try:
            answer = self.client.get_object(Bucket=self.bucket, Key=key)
            if answer["ContentLength"] > largest:
                raise DocumentRefused(
                    f"s3 {key}: {answer['ContentLength']} bytes, at most {largest} are read"
                )
            return Content(answer["Body"].read(), answer["ETag"], answer["Metadata"])
        except (ClientError, BotoCoreError) as error:
            raise bucket_error(error, key) from error

    def beginning(self, key: str, most: int) -> Beginning:
        """Return the first bytes of an object, `most` of them at most."""
        try:
            answer = self.client.get_object(Bucket=self.bucket, Key=key, Range=f"bytes=0-{most - 1}")
            whole = int(answer.get("ContentRange", "").rpartition("/")[2] or answer["ContentLength"])
            return Beginning(answer["Body"].read(), whole)
        except (ClientError, BotoCoreError) as error:
            raise bucket_error(error, key) from error

    def signed_link(self, key: str, name: str) -> SignedLink:
        """Return a link to an object, which is saved under a name; nothing is asked of S3."""
        url = self.client.generate_presigned_url(
            "get_object",
            Params={
                "Bucket": self.bucket,
                "Key": key,
                "ResponseContentDisposition": f'attachment; filename="{name}"',
            },
            ExpiresIn=LINK_SECONDS,
        )
        return SignedLink(url, LINK_SECONDS)

    def signed_upload(self, key: str, content_type: str, byte_length: int, checksum: str) -> SignedUpload:
        """Return a link by which one object is put, of this type, length and SHA-256 in base 64.

        S3 refuses any other: the headers are part of the signature.
        """
        url = self.client.generate_presigned_url(
            "put_object",
            Params={
                "Bucket": self.bucket,
                "Key": key,
                "ContentType": content_type,
                "ContentLength": byte_length,
                "ChecksumSHA256": checksum,
            },
            ExpiresIn=UPLOAD_SECONDS,
        )
        return SignedUpload(url, {"content-type": content_type, "x-amz-checksum-sha256": checksum})

    def byte_length(self, key: str) -> int | None:
        """Return how many bytes an object has; None if it is not there, or this function may not see it."""
        try:
            return self.client.head_object(Bucket=self.bucket, Key=key)["ContentLength"]
        except (ClientError, BotoCoreError) as error:
            refused = bucket_error(error, key)
            if isinstance(refused, DocumentRefused):
                return None
            raise refused from error

    def state(self, key: str) -> tuple[str, Mapping[str, str]]:
        """Return an object's ETag and metadata."""
        try:
            answer = self.client.head_object(Bucket=self.bucket, Key=key)
        except (ClientError, BotoCoreError) as error:
            raise bucket_error(error, key) from error
        return answer["ETag"], answer["Metadata"]

    def etags(self, prefix: str) -> dict[str, str]:
        """Return the ETags of the objects below a prefix, by key. This one needs s3:ListBucket."""
        found: dict[str, str] = {}
        try:
            for page in self.client.get_paginator("list_objects_v2").paginate(
                Bucket=self.bucket, Prefix=prefix
            ):
                found |= {one["Key"]: one["ETag"] for one in page.get("Contents", ())}
        except (ClientError, BotoCoreError) as error:
            raise bucket_error(error, prefix) from error
        return found

    def write(
        self, key: str, body: bytes, content_type: str, *, metadata: Mapping[str, str] | None = None
    ) -> str:
        """Write an object, whatever is there, and return its ETag."""
        return self._put(key, body, content_type, metadata, {})

    def create(
        self, key: str, body: bytes, content_type: str, *, metadata: Mapping[str, str] | None = None
    ) -> str:
        """Write an object where there is none, and return its ETag.

        Raises:
            ObjectChanged: if there is one.
        """
        return self._put(key, body, content_type, metadata, {"IfNoneMatch": "*"})

    def replace(
        self,
        key: str,
        body: bytes,
        content_type: str,
        *,
        etag: str,
        metadata: Mapping[str, str] | None = None,
    ) -> str:
        """Write an object in place of the one with this ETag, and return the new one's.

        Raises:
            ObjectChanged: if another one is there.
        """
        return self._put(key, body, content_type, metadata, {"IfMatch": etag})

    def _put(
        self,
        key: str,
        body: bytes,
        content_type: str,
        metadata: Mapping[str, str] | None,
        condition: dict[str, Any],
    ) -> str:
        if condition:
            _send_conditions(self.client)
        try:
            answer = self.client.put_object(
                Bucket=self.bucket,
                Key=key,
                Body=body,
                ContentType=content_type,
                Metadata=dict(metadata or {}),
                **condition,
            )
        except ClientError as error:
            if condition and error.response.get("Error", {}).get("Code", "") in _CHANGED:
                raise ObjectChanged(f"s3 {key}: it was written meanwhile") from error
            raise bucket_error(error, key) from error
        except BotoCoreError as error:
            raise bucket_error(error, key) from error
        return answer["ETag"]


def _send_conditions(client: S3Client) -> None:
    """Let a client send conditions with PutObject, also if its boto3 does not know them.

    boto3 knows IfNoneMatch since August 2024 and IfMatch since November 2024, and Lambda's runtime may have
    an older one. S3 goes by the headers, which are signed as all others are.
    """
    events = client.meta.events
    events.register("before-parameter-build.s3.PutObject", _take_conditions, unique_id="take-conditions")
    events.register("before-call.s3.PutObject", _add_conditions, unique_id="add-conditions")


def _take_conditions(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    """Move the conditions from an operation's arguments, which boto3 checks, to the request's context."""
    context["conditions"] = {
        header: params.pop(name) for name, header in _CONDITIONS.items() if name in params
    }


def _add_conditions(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    """Add the conditions to the headers of a request."""
    params["headers"].update(context["conditions"])
