"""The one photometry table of a nova: rebuilt with each upload, so that two at once lose nothing.

What is in the table, and of which uploads it was made, stands in one Parquet object that is replaced only in
the state in which it was read. Everything else (its twin for the API, the pointers on the nova's item, the
records of the files) follows from it, carries its revision, and gives way to a higher one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from boto3.dynamodb.conditions import Attr

from sourcebook.bucket.objects import Content, ObjectChanged, Objects
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput, Retryable, Terminal
from sourcebook.lightcurves.model import TABLE_SCHEMA, Measurement
from sourcebook.lightcurves.parquet import NotATable, PhotometryFile, StoredUpload, read_table, write_table
from sourcebook.lightcurves.series import Series
from sourcebook.novae.establish import prepare_nova
from sourcebook.novae.model import photometry_id_for
from sourcebook.novae.papers import add_paper, bibcode_of
from sourcebook.novae.store import NovaStore
from sourcebook.photometry.messages import RebuildTable, TableRebuilt
from sourcebook.photometry.upload import PRODUCT, read_rows, upload_folder
from sourcebook.records.nova import ReferenceRole
from sourcebook.records.product import FileObject, FileRole
from sourcebook.runs.tasks import TaskRun
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed

PARQUET: Final = "application/vnd.apache.parquet"
MOST_ROWS: Final = 250_000
"""Of one table: what a function's memory holds, and far more than any nova has."""

_GZIP: Final = "application/gzip"
_LARGEST: Final = 100_000_000
_TRIES: Final = 10


class TableContended(Retryable):
    """Other uploads were faster every time."""


class TableFull(Terminal):
    """The table would become too large."""


@dataclass(frozen=True, slots=True)
class TableRebuilder:
    """Adds the measurements of an upload to the table of its nova."""

    store: NovaStore
    objects: Objects
    clock: Clock = utc_now

    def rebuild(self, request: RebuildTable, run: TaskRun | None = None) -> TableRebuilt:
        """Rebuild the table with an upload; one that is in it changes nothing.

        Raises:
            TableContended: if the table changed each time while this was at work; try again.
            TableFull: if there would be more than 250,000 measurements.
        """
        nova_id, file_id, source = request.nova_id, request.file_id, request.upload
        prepare_nova(self.store, nova_id)
        coming = read_rows(self.objects, nova_id, file_id)
        table, etag = self._merge_in(nova_id, file_id, coming)
        upload = table.has(file_id) or StoredUpload(file_id, len(coming), 0)
        ingestion = {
            "last_ingestion_at": isoformat(self.clock()),
            "last_ingestion_source": source.s3_key,
            "last_ingested_file_id": file_id,
            "last_ingested_object_etag": source.etag,
        }
        self._follow(nova_id, table, etag, ingestion, run)
        report = f"{upload_folder(nova_id, file_id)}report.json"
        self._note(nova_id, run, FileRole.MANIFEST, file_id, key=report, content_type="application/json")
        self._add_paper(nova_id, report)
        # Last, for this is what makes the upload known.
        self._note(
            nova_id,
            run,
            FileRole.DATA_BUNDLE,
            file_id,
            key=source.s3_key,
            content_type="application/octet-stream",
            byte_length=source.byte_length,
            etag=source.etag,
            sha256=file_id,
        )
        return TableRebuilt(
            nova_id=nova_id,
            file_id=file_id,
            added=upload.added,
            known_before=upload.rows - upload.added,
            table_rows=len(table.measurements),
            ingestion_count=len(table.uploads),
        )

    def _add_paper(self, nova_id: str, report: str) -> None:
        """Add the paper that an upload names to the publications of its nova."""
        written = json.loads(self.objects.read(report, _LARGEST).body)
        if bibcode := bibcode_of(written.get("reference")):
            role = ReferenceRole.PHOTOMETRY_SOURCE
            table, now = self.store.table, self.clock()
            add_paper(table, nova_id, bibcode, role, workflow="ingest_photometry", now=now)

    def remake(self, nova_id: str, *, without: Collection[str] = ()) -> PhotometryFile:
        """Rebuild the table from the measurements of its uploads, `without` some of them, and return it.

        For an upload that should not be there, and for a table that cannot be read. An upload that is left
        out is forgotten: it may be ingested again.

        Raises:
            InvalidInput: if one of `without` is no upload of this nova.
            TableContended: if an upload came in meanwhile; try again.
        """
        etag, _ = self.objects.state(table_key(nova_id))
        known, revision = self.known_uploads(nova_id)
        if missing := sorted(set(without) - set(known)):
            held = ", ".join(known) or "none"
            raise InvalidInput("file_id", missing[0], f"the id of an upload of this nova: {held}")
        table = PhotometryFile(nova_id)
        for file_id in known:
            if file_id not in without:
                table = table.with_upload(file_id, read_rows(self.objects, nova_id, file_id))
        table = replace(table, revision=revision + 1)
        try:
            etag = self.objects.replace(table_key(nova_id), write_table(table), PARQUET, etag=etag)
        except ObjectChanged as error:
            raise TableContended(f"the photometry table of {nova_id} has changed meanwhile") from error
        self._follow(nova_id, table, etag, {}, None)
        product = photometry_id_for(nova_id)
        for file_id in without:
            self.store.table.delete(
                keys.file_object(nova_id, PRODUCT, product, FileRole.DATA_BUNDLE.value, file_id)
            )
        return table

    def complete(self, nova_id: str, run: TaskRun | None = None) -> None:
        """Write what follows from the table as it is, where an upload was cut short before it was written."""
        table, content = self._read(nova_id)
        self._follow(nova_id, table, content.etag, {}, run)

    def known_uploads(self, nova_id: str) -> tuple[list[str], int]:
        """Return the uploads of a nova in the order in which they were ingested, and its table's revision.

        An upload may be in the table whose own record is not written yet.
        """
        item = self.store.table.get(keys.photometry_table(nova_id), consistent=True) or {}
        prefix = f"{keys.files_of(PRODUCT, photometry_id_for(nova_id))}{FileRole.DATA_BUNDLE.value}#"
        found = list(self.store.table.items_of(nova_id, prefix, consistent=True))
        known = [file["name"] for file in sorted(found, key=lambda file: (file["created_at"], file["name"]))]
        revision = int(item.get("table_revision", 0))
        try:
            table, _ = self._read(nova_id)
        except NotATable:
            return known, revision
        known = list(dict.fromkeys([*(upload.file_id for upload in table.uploads), *known]))
        return known, max(revision, table.revision)

    def _merge_in(self, nova_id: str, file_id: str, coming: list[Measurement]) -> tuple[PhotometryFile, str]:
        item = self.store.table.get(keys.photometry_table(nova_id), consistent=True) or {}
        there = bool(item.get("s3_key"))
        for _ in range(_TRIES):
            before, content = self._read(nova_id) if there else (PhotometryFile(nova_id), None)
            if content is not None and before.has(file_id):
                return before, content.etag
            table = before.with_upload(file_id, coming)
            if len(table.measurements) > MOST_ROWS:
                raise TableFull(f"{len(table.measurements)} measurements; a table takes {MOST_ROWS}")
            body = write_table(table)
            try:
                if content is None:
                    return table, self.objects.create(table_key(nova_id), body, PARQUET)
                if before.schema_version != TABLE_SCHEMA:
                    with suppress(ObjectChanged):  # another upload has kept the last table of that schema
                        snapshot = snapshot_key(nova_id, before.schema_version)
                        self.objects.create(snapshot, content.body, PARQUET)
                return table, self.objects.replace(table_key(nova_id), body, PARQUET, etag=content.etag)
            except ObjectChanged:
                # Another upload came between, or the first one's pointers are not written yet.
                there = True
        raise TableContended(f"the photometry table of {nova_id} changed {_TRIES} times meanwhile")

    def _read(self, nova_id: str) -> tuple[PhotometryFile, Content]:
        content = self.objects.read(table_key(nova_id), _LARGEST)
        return read_table(content.body), content

    def _write_twin(self, nova_id: str, body: bytes, revision: int) -> None:
        """Write the twin, unless that of a later table is there."""
        key, metadata = points_key(nova_id), {"revision": str(revision)}
        for _ in range(_TRIES):
            with suppress(ObjectChanged):
                self.objects.create(key, body, _GZIP, metadata=metadata)
                return
            etag, known = self.objects.state(key)
            if int(known.get("revision", 0)) >= revision:
                return
            with suppress(ObjectChanged):
                self.objects.replace(key, body, _GZIP, etag=etag, metadata=metadata)
                return
        raise TableContended(f"the points of {nova_id} changed {_TRIES} times meanwhile")

    def _follow(
        self, nova_id: str, table: PhotometryFile, etag: str, ingestion: dict[str, str], run: TaskRun | None
    ) -> None:
        """Write all that follows from a table, unless what follows from a later one is there."""
        self._write_twin(nova_id, Series.of(table.measurements).write(), table.revision)
        if self._point_at(nova_id, table, etag, ingestion):
            parquet = {"key": table_key(nova_id), "content_type": PARQUET, "etag": etag}
            self._note(nova_id, run, FileRole.NORMALIZED, "photometry_table", **parquet)
            points = {"key": points_key(nova_id), "content_type": _GZIP}
            self._note(nova_id, run, FileRole.NORMALIZED, "points", **points)

    def _point_at(self, nova_id: str, table: PhotometryFile, etag: str, ingestion: dict[str, str]) -> bool:
        """Write the pointers, and return whether these are the newest."""
        times = [one.mjd for one in table.measurements]
        try:
            self.store.table.update(
                keys.photometry_table(nova_id),
                assign={
                    "s3_bucket": self.objects.bucket,
                    "s3_key": table_key(nova_id),
                    "points_s3_key": points_key(nova_id),
                    "table_schema_version": TABLE_SCHEMA,
                    "table_etag": etag,
                    "row_count": len(table.measurements),
                    "bands": dict(sorted(Counter(one.band for one in table.measurements).items())),
                    "mjd_min": min(times, default=None),
                    "mjd_max": max(times, default=None),
                    "ingestion_count": len(table.uploads),
                    "table_revision": table.revision,
                    "updated_at": isoformat(self.clock()),
                    **ingestion,
                },
                condition=Attr("table_revision").not_exists() | Attr("table_revision").lt(table.revision),
            )
        except ConditionFailed as found:
            # A later upload has written its pointers first, and what they lead to has this one too; or they
            # are our own, of a run that died after them.
            return (found.item or {}).get("table_revision") == table.revision
        return True

    def _note(
        self,
        nova_id: str,
        run: TaskRun | None,
        role: FileRole,
        name: str,
        **known: Any,  # noqa: ANN401 - where it is and what it is, as far as that is known
    ) -> None:
        now = self.clock()
        record = FileObject(
            nova_id=nova_id,
            data_product_id=photometry_id_for(nova_id),
            product_type=PRODUCT,
            role=role,
            name=name,
            bucket=self.objects.bucket,
            created_by={"workflow": "ingest_photometry", "job_run_id": run.job_run_id} if run else {},
            created_at=now,
            updated_at=now,
            **known,
        )
        self.store.table.put(record.item())


def table_key(nova_id: str) -> str:
    """Return where the canonical table of a nova is."""
    return f"derived/photometry/{nova_id}/photometry_table.parquet"


def points_key(nova_id: str) -> str:
    """Return where the table's twin for the API is."""
    return f"derived/photometry/{nova_id}/points.json.gz"


def snapshot_key(nova_id: str, schema: str) -> str:
    """Return where the last table of an older schema is kept."""
    return f"derived/photometry/{nova_id}/snapshots/schema={schema}/photometry_table.parquet"
