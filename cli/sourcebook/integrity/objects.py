"""The bucket: whether what the table says of an object is so. A request for each, so only when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from sourcebook.bucket.objects import errors_of_s3
from sourcebook.integrity.model import Check, IntegrityFinding, is_of
from sourcebook.table.codec import Item

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_AT_ONCE: Final = 16
_ABSENT: Final = frozenset({"404", "NoSuchKey", "NotFound"})


@dataclass(frozen=True, slots=True)
class FilesAreInTheBucket(Check):
    """The object of a file's record is in the bucket, and as long as the record says."""

    client: S3Client
    name = "objects"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield records of objects that are missing or of another length."""
        files = [item for item in items if is_of(item, "FileObject")]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for file, problem in zip(files, pool.map(self._problem, files), strict=True):
                if problem:
                    # Only an older version in the bucket has what was in the object.
                    yield self.found(file, problem, repairable=False)

    def _problem(self, file: Item) -> str:
        with errors_of_s3(file["key"]):
            try:
                answer = self.client.head_object(Bucket=file["bucket"], Key=file["key"])
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") not in _ABSENT:
                    raise
                return f"its object {file['key']} is not in the bucket"
        length = file.get("byte_length")
        if length is not None and length != answer["ContentLength"]:
            return f"its object {file['key']} has {answer['ContentLength']} bytes instead of {length}"
        return ""
