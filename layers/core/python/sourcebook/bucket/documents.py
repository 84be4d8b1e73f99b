"""JSON documents in the bucket, for what is too large for the table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.errors import Retryable, Terminal
from sourcebook.settings import required
from sourcebook.table.client import aws_config

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_LARGEST = 20_000_000


class BucketBusy(Retryable):
    """S3 did not answer, or throttles."""


class DocumentRefused(Terminal):
    """S3 refused the call, or what is there is not a document of ours."""


@dataclass(frozen=True, slots=True)
class Documents:
    """JSON documents of one bucket.

    Raises `BucketBusy` when S3 is not able to answer now, `DocumentRefused` when it never will.
    """

    client: S3Client
    bucket: str

    @classmethod
    def connect(cls) -> Self:
        """Return those of this function's bucket. Raise InvalidInput if its environment names none."""
        return cls(*own_bucket())

    def put(self, key: str, content: object) -> None:
        """Write a document, in place of the one that is there."""
        body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            self.client.put_object(Bucket=self.bucket, Key=key, Body=body, ContentType="application/json")
        except (ClientError, BotoCoreError) as error:
            raise bucket_error(error, key) from error

    def get(self, key: str) -> Any:  # noqa: ANN401 - JSON
        """Return a document."""
        try:
            answer = self.client.get_object(Bucket=self.bucket, Key=key)
            if answer["ContentLength"] > _LARGEST:
                raise DocumentRefused(
                    f"s3 {key}: {answer['ContentLength']} bytes, at most {_LARGEST} are read"
                )
            return json.loads(answer["Body"].read())
        except (ClientError, BotoCoreError) as error:
            raise bucket_error(error, key) from error
        except ValueError as error:
            raise DocumentRefused(f"s3 {key}: not JSON ({error})") from error


def own_bucket() -> tuple[S3Client, str]:
    """Return a client and the bucket of this function. Raise InvalidInput if its environment names none."""
    return boto3.client("s3", config=aws_config()), required("BUCKET_NAME")


def bucket_error(error: ClientError | BotoCoreError, key: str) -> Retryable | Terminal:
    """Return the error of this project for one of S3; the caller raises it."""
    if isinstance(error, ClientError):
        code = error.response.get("Error", {}).get("Code", "")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if status < 500 and code not in {"SlowDown", "RequestTimeout", "Throttling"}:
            return DocumentRefused(f"s3 {key}: {code}; see whether the function may use it and it exists")
        return BucketBusy(f"s3 {key}: {code}: try again later")
    return BucketBusy(f"s3 {key}: no answer ({type(error).__name__})")
