"""Read an upload of photometry, unless the nova has it already."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sourcebook.bucket.objects import Objects
from sourcebook.clock import Clock, utc_now
from sourcebook.errors import InvalidInput, Terminal
from sourcebook.lightcurves.model import Measurement
from sourcebook.lightcurves.parse import MOST_BYTES, file_id_of, parse_upload
from sourcebook.novae.model import photometry_id_for
from sourcebook.novae.names import normalize_name
from sourcebook.novae.store import NovaStore
from sourcebook.photometry.messages import UploadKnown, UploadValid
from sourcebook.records.product import FileRole
from sourcebook.table import keys
from sourcebook.table.codec import Item

UPLOADS: Final = "raw/photometry/"
"""What the keys of uploads begin with."""
PRODUCT: Final = "PHOTOMETRY_TABLE"

_PROBLEMS_TOLD: Final = 5
_LARGEST_ROWS: Final = 100_000_000


class NothingUsable(Terminal):
    """Not one row of an upload is a measurement of the nova."""


@dataclass(frozen=True, slots=True)
class UploadValidator:
    """Reads uploads, and writes their measurements for the rebuilding of the table."""

    store: NovaStore
    objects: Objects
    clock: Clock = utc_now

    def validate(self, nova_id: str, s3_key: str) -> UploadValid | UploadKnown:
        """Read one upload.

        What is wrong with its rows is in ``report.json`` beside its measurements; the first problems are in
        the answer too.

        Raises:
            InvalidInput: if it cannot be read as a whole.
            NothingUsable: if no row of it can.
            NoSuchNova: if there is no active nova with this id.
        """
        if not s3_key.startswith(UPLOADS) or ".." in s3_key:
            raise InvalidInput("s3_key", s3_key, f"the key of an upload, below {UPLOADS}")
        nova = self.store.active(nova_id)
        upload = self.objects.read(s3_key, MOST_BYTES)
        file_id = file_id_of(upload.body)
        known = ingested(self.store, nova.nova_id, file_id)
        if known is not None:
            return UploadKnown(nova_id=nova.nova_id, file_id=file_id, ingested_at=known["created_at"])
        parsed = parse_upload(upload.body, is_nova=self._recognizer(nova.nova_id), now=self.clock())
        folder = upload_folder(nova.nova_id, file_id)
        report = {**parsed.report(), "nova_id": nova.nova_id, "s3_key": s3_key}
        text = json.dumps(report, ensure_ascii=False, indent=1)
        self.objects.write(f"{folder}report.json", text.encode(), "application/json")
        if not parsed.measurements:
            first = parsed.errors[0].message if parsed.errors else "there are none"
            raise NothingUsable(f"none of the {parsed.rows} rows of {s3_key} could be read; {first}")
        rows = json.dumps(
            [one.to_row() for one in parsed.measurements], ensure_ascii=False, separators=(",", ":")
        )
        packed = gzip.compress(rows.encode(), 6, mtime=0)
        self.objects.write(f"{folder}rows.json.gz", packed, "application/gzip")
        return UploadValid(
            nova_id=nova.nova_id,
            file_id=file_id,
            format=parsed.format.value,
            rows=parsed.rows,
            accepted=len(parsed.measurements),
            duplicates=parsed.duplicates,
            rejected=parsed.rejected,
            problems=tuple(error.message for error in parsed.errors[:_PROBLEMS_TOLD]),
            report_key=f"{folder}report.json",
            etag=upload.etag,
            byte_length=len(upload.body),
        )

    def _recognizer(self, nova_id: str) -> Callable[[str], bool]:
        # What several novae of a year are called together is no name of this one: so not `name_normalized`.
        names = {normalize_name(row.name_raw) for row in self.store.names(nova_id)}

        def is_nova(name: str) -> bool:
            try:
                return normalize_name(name) in names
            except InvalidInput:
                return False

        return is_nova


def ingested(store: NovaStore, nova_id: str, file_id: str) -> Item | None:
    """Return the record of an upload that is in a nova's table; None if it is not."""
    key = keys.file_object(nova_id, PRODUCT, photometry_id_for(nova_id), FileRole.DATA_BUNDLE.value, file_id)
    return store.table.get(key, consistent=True)


def upload_key(file_name: str, sha256: str) -> str:
    """Return where an upload is put: by its content, so that the same file is there once."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", file_name).strip(".-")[:100] or "upload"
    return f"{UPLOADS}{sha256}/{plain}"


def upload_folder(nova_id: str, file_id: str) -> str:
    """Return where the measurements of an upload and the report on it are."""
    return f"derived/photometry/{nova_id}/uploads/{file_id}/"


def read_rows(objects: Objects, nova_id: str, file_id: str) -> list[Measurement]:
    """Return the measurements that `UploadValidator` found in an upload."""
    packed = objects.read(f"{upload_folder(nova_id, file_id)}rows.json.gz", _LARGEST_ROWS).body
    return [Measurement(*row) for row in json.loads(gzip.decompress(packed))]
