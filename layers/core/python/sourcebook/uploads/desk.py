"""Open an upload, complete it, and report what became of its files.

An upload is a document in the bucket. Completing it again does nothing twice: runs have ids that follow from
the upload, a spectrum is a product by its digest, and its acquisition is started under the name of its turn.
"""

from __future__ import annotations

import logging
import uuid
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sourcebook.bucket.objects import DocumentRefused, ObjectChanged, Objects
from sourcebook.clock import Clock, utc_now
from sourcebook.errors import InvalidInput, Retryable
from sourcebook.novae.model import NAMESPACE
from sourcebook.novae.resolvers.archive import ArchiveStatus
from sourcebook.novae.review import SPECTRA_WORKFLOW, Starter
from sourcebook.novae.store import NoSuchNova, NovaStore
from sourcebook.novae.whereabouts import find_product
from sourcebook.runs.read import RunReader
from sourcebook.runs.started import StartedRuns
from sourcebook.spectra.discover import Registered, SpectraDiscoverer
from sourcebook.spectra.products import DONATION, acquisition_name, data_product_id_for
from sourcebook.spectra.providers.donation import PROVENANCE
from sourcebook.spectra.providers.provider import Search
from sourcebook.table.client import Table
from sourcebook.uploads.model import FileKind, FileState, NewUpload, Upload, UploadedFile

if TYPE_CHECKING:
    from sourcebook.table.codec import Item

PREFIX: Final = "raw/uploads/"
"""Where uploads are noted in the bucket."""
PHOTOMETRY_WORKFLOW: Final = "ingest_photometry"

_LARGEST: Final = 200_000
_TRIES: Final = 5
_OF_RUNS: Final = {
    "INGESTED": FileState.TAKEN,
    "SKIPPED_DUPLICATE": FileState.KNOWN,
    "QUARANTINED": FileState.HELD,
}
_OF_PRODUCTS: Final = {
    "VALID": FileState.TAKEN,
    "QUARANTINED": FileState.HELD,
    "TERMINAL_INVALID": FileState.REFUSED,
}


class UploadBusy(Retryable):
    """Others were completing the same upload."""


@dataclass(frozen=True, slots=True)
class UploadDesk:
    """Takes uploads.

    Attributes:
        start: starts a workflow.
        logger: gets a line for each file that is no product of its nova.
    """

    table: Table
    objects: Objects
    start: Starter
    clock: Clock = utc_now
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger(__name__))

    def open(self, upload_id: str, wanted: NewUpload, *, by: str | None) -> dict[str, object]:
        """Note what is to be sent, and return it with a signed link for each file.

        Raises:
            InvalidInput: if a file is of no active nova, or stands there twice.
        """
        store = NovaStore(self.table)
        known: set[str] = set()
        for number, file in enumerate(wanted.files):
            if file.nova_id not in known:
                try:
                    store.active(file.nova_id)
                except NoSuchNova as error:
                    expected = "the id of an active nova; GET /novae?name= finds it"
                    raise InvalidInput(f"files.{number}.nova_id", file.nova_id, expected) from error
                known.add(file.nova_id)
            if any(other.sha256 == file.sha256 for other in wanted.files[:number]):
                raise InvalidInput(f"files.{number}.sha256", file.sha256, "each file once")
        files = tuple(UploadedFile(**file.model_dump()) for file in wanted.files)
        about = wanted.model_dump(exclude={"files"})
        upload = Upload(upload_id=upload_id, created_at=self.clock(), created_by=by, files=files, **about)
        try:
            self.objects.create(_key(upload_id), _packed(upload), "application/json")
        except ObjectChanged:
            upload, _ = self._read(upload_id) or (upload, "")
        return self._public(upload)

    def complete(self, upload_id: str, *, correlation_id: str) -> dict[str, object] | None:
        """Start the ingestion of what has been sent; return the report, None if there is no such upload.

        Raises:
            UploadBusy: if it was completed at the same time, over and over.
            TableBusy, BucketBusy, NotStarted: if it cannot be done now; do it again.
        """
        for _ in range(_TRIES):
            found = self._read(upload_id)
            if found is None:
                return None
            upload, etag = found
            taken = tuple(
                self._take(upload, number, file, correlation_id) for number, file in enumerate(upload.files)
            )
            changed = upload.model_copy(update={"files": taken})
            with suppress(ObjectChanged):
                if changed != upload:
                    self.objects.replace(_key(upload_id), _packed(changed), "application/json", etag=etag)
                return self._public(changed)
        raise UploadBusy(f"upload {upload_id}: it was being completed; do it again")

    def report(self, upload_id: str) -> dict[str, object] | None:
        """Return what became of an upload's files, None if there is no such upload."""
        found = self._read(upload_id)
        return None if found is None else self._public(found[0])

    def _read(self, upload_id: str) -> tuple[Upload, str] | None:
        try:
            content = self.objects.read(_key(upload_id), _LARGEST)
        except DocumentRefused:
            # Without the right to list the bucket, a missing object is answered with "forbidden".
            return None
        return Upload.model_validate_json(content.body), content.etag

    def _take(self, upload: Upload, number: int, file: UploadedFile, correlation_id: str) -> UploadedFile:
        """Start what ingests a file; return the file as it is then."""
        if file.job_run_id or file.data_product_id or file.state is FileState.REFUSED:
            return file
        length = self.objects.byte_length(upload.key(file))
        if length is None:
            return file.model_copy(update={"state": FileState.MISSING})
        if length != file.byte_length:
            return _refused(file, f"{length} bytes were sent instead of {file.byte_length}")
        if file.kind is FileKind.PHOTOMETRY:
            job_run_id = str(uuid.uuid5(NAMESPACE, f"upload:{upload.upload_id}:{number}"))
            payload = {"nova_id": file.nova_id, "s3_key": upload.key(file)}
            StartedRuns(self.table, self.clock).start(
                self.start, PHOTOMETRY_WORKFLOW, payload, job_run_id, correlation_id=correlation_id
            )
            return file.model_copy(update={"state": FileState.RUNNING, "job_run_id": job_run_id})
        return self._take_spectrum(upload, file)

    def _take_spectrum(self, upload: Upload, file: UploadedFile) -> UploadedFile:
        """Register a spectrum as a product, as the provider of donations does, and start its acquisition."""
        provenance = upload.provenance(file)
        self.objects.write_json(
            f"{provenance.folder}{PROVENANCE}", provenance.model_dump(mode="json", exclude_none=True)
        )
        store = NovaStore(self.table)
        try:
            nova = store.active(file.nova_id)
        except NoSuchNova as error:
            return _refused(file, str(error))
        found = provenance.product()
        discoverer = SpectraDiscoverer(store, self.logger, self.clock)
        registered = discoverer.register(nova, DONATION, Search(ArchiveStatus.OK, (found,)))
        if registered.counts[Registered.CLAIMED]:
            return _refused(file, "the same file was handed in for another nova")
        for product in registered.eligible:
            about = {"nova_id": product.nova_id, "provider": product.provider}
            self.start(
                SPECTRA_WORKFLOW,
                {**about, "data_product_id": product.data_product_id},
                acquisition_name(product),
            )
        product_id = data_product_id_for(DONATION, found.identities()[0].text)
        return file.model_copy(update={"state": FileState.RUNNING, "data_product_id": product_id})

    def _public(self, upload: Upload) -> dict[str, object]:
        """Return an upload as it is served, with what is now known of each file."""
        files = [self._file(upload, file) for file in upload.files]
        counts = Counter(file["state"] for file in files)
        return {
            **upload.model_dump(mode="json", exclude={"schema_version", "files"}),
            "counts": {state.value: counts[state.value] for state in FileState},
            "files": files,
        }

    def _file(self, upload: Upload, file: UploadedFile) -> dict[str, object]:
        state, reason = self._state(file)
        send = None
        if state in {FileState.EXPECTED, FileState.MISSING}:
            url, headers = self.objects.signed_upload(
                upload.key(file), file.content_type, file.byte_length, file.checksum
            )
            send = {"method": "PUT", "url": url, "headers": headers}
        return {
            **file.model_dump(mode="json", exclude={"state", "reason"}),
            "state": state.value,
            "reason": reason,
            "send": send,
        }

    def _state(self, file: UploadedFile) -> tuple[FileState, str | None]:
        if file.job_run_id is not None:
            run = RunReader(self.table).get(file.job_run_id)
            return _of_run(run) if run else (FileState.RUNNING, None)
        if file.data_product_id is not None:
            item = find_product(self.table, file.nova_id, DONATION, file.data_product_id)
            return _of_product(item) if item else (FileState.RUNNING, None)
        return file.state, file.reason


def _key(upload_id: str) -> str:
    return f"{PREFIX}{upload_id}.json"


def _packed(upload: Upload) -> bytes:
    return upload.model_dump_json(exclude_none=True).encode()


def _refused(file: UploadedFile, reason: str) -> UploadedFile:
    return file.model_copy(update={"state": FileState.REFUSED, "reason": reason})


def _of_run(run: Mapping[str, Any]) -> tuple[FileState, str | None]:
    if run["status"] == "RUNNING":
        return FileState.RUNNING, None
    if run["status"] == "SUCCEEDED":
        return _OF_RUNS.get(run["outcome"] or "", FileState.TAKEN), None
    return FileState.REFUSED, run["error_message"] or run["error_type"]


def _of_product(item: Item) -> tuple[FileState, str | None]:
    if item.get("duplicate_of"):
        return FileState.KNOWN, f"it has the bytes of {item['duplicate_of']}"
    state = _OF_PRODUCTS.get(item["validation_status"])
    if state is None:
        failed = item.get("acquisition_status") == "FAILED_TERMINAL"
        state = FileState.REFUSED if failed else FileState.RUNNING
    reason = item.get("quarantine_reason_code") if state is FileState.HELD else item.get("terminal_reason")
    return state, reason
