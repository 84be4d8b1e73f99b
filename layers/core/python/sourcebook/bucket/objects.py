"""Objects in the bucket: bytes, files and JSON, in one request each, so that what is there is always whole.

An object can be replaced only if nobody has replaced it meanwhile. S3 compares and writes in one step
(conditional writes: If-Match, If-None-Match), so that of two writers at once one gets an error and reads
again. Only `etags` needs s3:ListBucket, without which S3 answers "forbidden" for what is not
there: whoever does not know whether an object exists tries to create it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any, Final, Self, TypeAlias

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.bucket.stored import StoredObject
from sourcebook.errors import Retryable, SourcebookError, Terminal
from sourcebook.settings import required
from sourcebook.table.client import aws_config

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from sourcebook.http.bodies import Sink

Body: TypeAlias = bytes | IO[bytes]
"""What is written: a file is sent from its beginning."""

_CONDITIONS: Final = {"IfMatch": "If-Match", "IfNoneMatch": "If-None-Match"}
"""Arguments of PutObject, by name, and the headers in which they are sent."""
_CHANGED: Final = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "412", "409"})

_BUSY: Final = frozenset({"SlowDown", "RequestTimeout", "Throttling"})
_LARGEST_JSON: Final = 20_000_000
_PIECE: Final = 1 << 18

LINK_SECONDS: Final = 300
"""How long a signed link holds: long enough to begin a download, and no longer."""
UPLOAD_SECONDS: Final = 3600
"""How long a link for an upload holds: long enough to send fifty files over a slow line."""


class BucketBusy(Retryable):
    """S3 did not answer, or throttles."""


class DocumentRefused(Terminal):
    """S3 refused the call, or the object is no JSON."""


class ObjectTooLarge(DocumentRefused):
    """The object is longer than what is read."""


class ObjectChanged(SourcebookError):
    """The object was written since it was read, or exists although it must not."""


@dataclass(frozen=True, slots=True)
class Content:
    """An object as it is.

    Attributes:
        etag: as S3 gives it, with its quotation marks.
        metadata: from its writer.
    """

    body: bytes
    etag: str
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Beginning:
    """The beginning of an object.

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
class Objects:
    """Objects of one bucket.

    Raises `BucketBusy` when S3 is not able to answer now, `DocumentRefused` when it never will.
    """

    client: S3Client
    bucket: str

    @classmethod
    def connect(cls) -> Self:
        """Return the objects of this function's bucket. Raise MissingSetting if it has none."""
        return cls(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))

    def read(self, key: str, largest: int) -> Content:
        """Return an object.

        Raises:
            ObjectTooLarge: if it is longer than `largest` bytes.
        """
        with errors_of_s3(key):
            answer = self.client.get_object(Bucket=self.bucket, Key=key)
            _check_length(key, answer["ContentLength"], largest)
            return Content(answer["Body"].read(), answer["ETag"], answer["Metadata"])

    def read_json(self, key: str) -> Any:  # noqa: ANN401 - JSON
        """Return a JSON document. Raise DocumentRefused if it is none, or too long."""
        try:
            return json.loads(self.read(key, _LARGEST_JSON).body)
        except ValueError as error:
            raise DocumentRefused(f"s3 {key}: not JSON ({error})") from error

    def copy_to(self, key: str, sink: Sink, largest: int) -> None:
        """Write an object's content to `sink`.

        Raises:
            ObjectTooLarge: if it is longer than `largest` bytes.
        """
        with errors_of_s3(key):
            answer = self.client.get_object(Bucket=self.bucket, Key=key)
            _check_length(key, answer["ContentLength"], largest)
            for piece in answer["Body"].iter_chunks(_PIECE):
                sink.write(piece)

    def beginning(self, key: str, most: int) -> Beginning:
        """Return the first bytes of an object, `most` of them at most."""
        with errors_of_s3(key):
            answer = self.client.get_object(Bucket=self.bucket, Key=key, Range=f"bytes=0-{most - 1}")
            whole = int(answer.get("ContentRange", "").rpartition("/")[2] or answer["ContentLength"])
            return Beginning(answer["Body"].read(), whole)

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

    def signed_upload(
        self, key: str, content_type: str, byte_length: int, checksum: str
    ) -> tuple[str, dict[str, str]]:
        """Return a link by which one object is put, of this type, length and SHA-256 in base 64.

        With it come the headers to send; the length is sent by every client itself. S3 refuses any other
        object: the headers are part of the signature.
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
        return url, {"content-type": content_type, "x-amz-checksum-sha256": checksum}

    def byte_length(self, key: str) -> int | None:
        """Return how many bytes an object has; None if it is not there, or this function may not see it."""
        try:
            with errors_of_s3(key):
                return self.client.head_object(Bucket=self.bucket, Key=key)["ContentLength"]
        except DocumentRefused:
            return None

    def state(self, key: str) -> tuple[str, Mapping[str, str]]:
        """Return an object's ETag and metadata."""
        with errors_of_s3(key):
            answer = self.client.head_object(Bucket=self.bucket, Key=key)
            return answer["ETag"], answer["Metadata"]

    def etags(self, prefix: str) -> dict[str, str]:
        """Return the ETags of the objects below a prefix, by key."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
        with errors_of_s3(prefix):
            return {one["Key"]: one["ETag"] for page in pages for one in page.get("Contents", ())}

    def write_json(self, key: str, content: object) -> None:
        """Write a JSON document, whatever is there."""
        body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        self.write(key, body, "application/json")

    def duplicate(self, source: str, target: str) -> None:
        """Copy an object within the bucket."""
        with errors_of_s3(source):
            self.client.copy_object(
                Bucket=self.bucket, Key=target, CopySource={"Bucket": self.bucket, "Key": source}
            )

    def write(
        self, key: str, body: Body, content_type: str, *, metadata: Mapping[str, str] | None = None
    ) -> StoredObject:
        """Write an object, whatever is there, and return what it is known by."""
        return self._put(key, body, content_type, metadata, {})

    def create(
        self, key: str, body: bytes, content_type: str, *, metadata: Mapping[str, str] | None = None
    ) -> str:
        """Write an object where there is none, and return its ETag.

        Raises:
            ObjectChanged: if there is one.
        """
        return self._put(key, body, content_type, metadata, {"IfNoneMatch": "*"}).etag

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
        return self._put(key, body, content_type, metadata, {"IfMatch": etag}).etag

    def _put(
        self,
        key: str,
        body: Body,
        content_type: str,
        metadata: Mapping[str, str] | None,
        condition: dict[str, Any],
    ) -> StoredObject:
        length, sha256 = measured(BytesIO(body) if isinstance(body, bytes) else body)
        if condition:
            _send_conditions(self.client)
        with errors_of_s3(key):
            try:
                answer = self.client.put_object(
                    Bucket=self.bucket,
                    Key=key,
                    Body=body,
                    ContentLength=length,
                    ContentType=content_type,
                    Metadata=dict(metadata or {}),
                    **condition,
                )
            except ClientError as error:
                if condition and error.response.get("Error", {}).get("Code", "") in _CHANGED:
                    raise ObjectChanged(f"s3 {key}: it was written meanwhile") from error
                raise
        return StoredObject(key, length, content_type, answer["ETag"], sha256)


def measured(file: IO[bytes]) -> tuple[int, str]:
    """Return how many bytes a file has and their SHA-256; it is at its beginning then."""
    digest = hashlib.sha256()
    file.seek(0)
    while piece := file.read(_PIECE):
        digest.update(piece)
    length = file.tell()
    file.seek(0)
    return length, digest.hexdigest()


@contextmanager
def errors_of_s3(key: str) -> Iterator[None]:
    """Raise BucketBusy or DocumentRefused for errors of boto3."""
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if status >= 500 or code in _BUSY:
            raise BucketBusy(f"s3 {key}: {code}: try again later") from error
        raise DocumentRefused(
            f"s3 {key}: {code}; see whether the function may use it and it exists"
        ) from error
    except BotoCoreError as error:
        raise BucketBusy(f"s3 {key}: no answer ({type(error).__name__})") from error


def _check_length(key: str, length: int, largest: int) -> None:
    if length > largest:
        raise ObjectTooLarge(f"s3 {key}: {length} bytes, at most {largest} are read")


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
