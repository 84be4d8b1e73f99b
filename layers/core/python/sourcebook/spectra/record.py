"""The last task of an acquisition: record the outcome, and decide when the spectrum is tried again.

The spectrum's own item is written last, in one conditional update, when everything that it points to is
there. A run that records twice changes nothing the second time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from boto3.dynamodb.conditions import Attr

from sourcebook.bucket.stored import FITS
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput, Retryable
from sourcebook.fits.model import SpectrumOutcome, Verdict
from sourcebook.novae.papers import add_paper, bibcode_of
from sourcebook.records.nova import ReferenceRole
from sourcebook.records.product import FileObject, FileRole
from sourcebook.records.quarantine import QuarantineReason, ReviewStatus
from sourcebook.records.spectrum import AcquisitionStatus, Eligibility, SpectrumProduct, ValidationStatus
from sourcebook.runs.errors import error_fingerprint
from sourcebook.runs.tasks import TaskRun
from sourcebook.spectra.fingerprints import Fingerprints
from sourcebook.spectra.load import find_spectrum
from sourcebook.spectra.messages import (
    Acquired,
    AlreadyValid,
    Artifact,
    Duplicate,
    Examination,
    Failure,
    FailureKind,
    Found,
    NotAcquired,
    Recorded,
    RecordSpectrum,
    RunOutcome,
    Unsure,
)
from sourcebook.spectra.products import DONATION, INDEX_ATTRIBUTES, SPECTRA, eligible_attributes
from sourcebook.table.client import ConditionFailed, Table

COOLDOWNS: Final = (timedelta(seconds=60), timedelta(minutes=5), timedelta(hours=1), timedelta(hours=24))
"""How long a spectrum rests after its first, second, third and every further failed attempt."""
LONGEST_RETRY_AFTER: Final = timedelta(days=30)
"""The longest Retry-After that is followed; after that time the provider is asked once more."""
SAME_BYTES: Final = 3
"""After the same unreadable bytes have come so often, the spectrum is given up."""

PartT = TypeVar("PartT")

_CLEARED_BY_SUCCESS: Final = tuple(
    "next_eligible_attempt_at last_retry_after last_error_fingerprint last_error unreadable_sha256 "
    "unreadable_count".split()
)


class SpectrumContended(Retryable):
    """Another run has recorded something on the spectrum just now."""


@dataclass(frozen=True, slots=True)
class _Ending:
    """The update of a spectrum's item, and the answer of the task."""

    answer: Recorded
    assign: Mapping[str, object]
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpectrumRecorder:
    """Records the outcomes of acquisitions.

    Attributes:
        bucket: where the files are.
    """

    table: Table
    bucket: str
    clock: Clock = utc_now

    def record(self, request: RecordSpectrum, run: TaskRun) -> Recorded:
        """Record what a run has found.

        Raises:
            OwnerUnsettled, SpectrumContended: if another run is at work on the same; try again.
        """
        product = find_spectrum(self.table, request.nova_id, request.data_product_id, request.provider)
        if (done := _done_already(product, run)) is not None:
            return done
        now = self.clock()
        ending = self._ending(product, request.found, run, now)
        common = {
            "last_attempt_at": isoformat(now),
            "last_job_run_id": run.job_run_id,
            "last_outcome": ending.answer.outcome.value,
            "updated_at": isoformat(now),
        }
        unchanged = Attr("attempt_count").eq(product.attempt_count) & Attr("updated_at").eq(
            isoformat(product.updated_at)
        )
        try:
            self.table.update(
                product.key,
                assign={**ending.assign, **common},
                remove=[name for name in ending.remove if name not in ending.assign],
                increment={"attempt_count": 1},
                condition=unchanged & Attr("validation_status").ne(ValidationStatus.VALID.value),
            )
        except ConditionFailed as error:
            raise SpectrumContended(
                f"the spectrum {product.data_product_id} was changed while this run recorded "
                f"{ending.answer.outcome.value}"
            ) from error
        return ending.answer

    def _ending(self, product: SpectrumProduct, found: Found, run: TaskRun, now: datetime) -> _Ending:
        match found.acquisition:
            case NotAcquired(failure=failure):
                return self._failed(product, failure, now)
            case Duplicate() as duplicate:
                return _duplicate(duplicate.duplicate_of, duplicate)
            case Unsure():
                return self._quarantined(product, found, run, now)
            case AlreadyValid():
                raise SpectrumContended(
                    f"the spectrum {product.data_product_id} was valid a moment ago; see what it is now"
                )
            case Acquired() as acquired:
                return self._examined(product, found, acquired, run, now)

    def _examined(
        self, product: SpectrumProduct, found: Found, acquired: Acquired, run: TaskRun, now: datetime
    ) -> _Ending:
        examination = _given("found.examination", found.examination)
        verdict = examination.verdict
        match verdict.outcome:
            case SpectrumOutcome.VALID:
                return self._valid(product, acquired, examination, run, now)
            case SpectrumOutcome.QUARANTINED:
                return self._quarantined(product, found, run, now)
            case SpectrumOutcome.TERMINAL_INVALID:
                self._note_files(product, _raw_files(acquired), run, now)
                assign = {**self._raw(acquired), **_verdict_attributes(product, verdict)}
                return _terminal(verdict.reason, verdict.message, assign)
            case SpectrumOutcome.NOT_A_SPECTRUM_FILE:
                # An archive may send the file next time; what was handed in stays as it is.
                is_final = product.provider == DONATION
                unreadable = Failure(
                    kind=FailureKind.TERMINAL if is_final else FailureKind.RETRYABLE,
                    reason=verdict.reason,
                    error_type="NotASpectrumFile",
                    message=verdict.message,
                    sha256=acquired.sha256,
                )
                return self._failed(product, unreadable, now)

    def _valid(
        self,
        product: SpectrumProduct,
        acquired: Acquired,
        examination: Examination,
        run: TaskRun,
        now: datetime,
    ) -> _Ending:
        other = Fingerprints(self.table, self.clock).claim(product, acquired.sha256)
        if other is not None:
            return _duplicate(other, acquired)
        self._note_files(product, [*_raw_files(acquired), *examination.artifacts], run, now)
        if bibcode := bibcode_of(examination.verdict.reference):
            role, workflow = ReferenceRole.SPECTRA_SOURCE, run.workflow_name
            add_paper(self.table, product.nova_id, bibcode, role, workflow=workflow, now=now)
        return _Ending(
            Recorded(outcome=RunOutcome.VALIDATED, fits_profile_id=examination.verdict.fits_profile_id),
            {
                **self._raw(acquired),
                **_verdict_attributes(product, examination.verdict),
                "validation_status": ValidationStatus.VALID.value,
                "eligibility": Eligibility.NONE.value,
                "derived_s3_bucket": self.bucket,
                "derived_s3_prefix": examination.prefix,
            },
            (*INDEX_ATTRIBUTES, *_CLEARED_BY_SUCCESS, "quarantine_reason_code", "terminal_reason"),
        )

    def _quarantined(self, product: SpectrumProduct, found: Found, run: TaskRun, now: datetime) -> _Ending:
        hold = _given("found.hold", found.hold)
        context = Artifact(
            name="context.json",
            role=FileRole.QUARANTINE_CONTEXT,
            key=f"{hold.prefix}context.json",
            content_type="application/json",
        )
        files = [context]
        assign: dict[str, object] = {}
        if isinstance(found.acquisition, Acquired):
            files += _raw_files(found.acquisition)
            assign |= self._raw(found.acquisition)
        if found.examination is not None:
            assign |= _verdict_attributes(product, found.examination.verdict)
        self._note_files(product, files, run, now)
        reason = QuarantineReason(hold.reason_code)
        return _Ending(
            Recorded(outcome=RunOutcome.QUARANTINED, quarantine_id=hold.quarantine_id, reason=reason.value),
            {
                **assign,
                "validation_status": ValidationStatus.QUARANTINED.value,
                "eligibility": Eligibility.NONE.value,
                "quarantine_reason_code": reason.value,
                "quarantine_id": hold.quarantine_id,
                "manual_review_status": ReviewStatus.PENDING.value,
                "last_error_fingerprint": f"VALIDATION_{reason.value}",
            },
            (*INDEX_ATTRIBUTES, *_CLEARED_BY_SUCCESS),
        )

    def _failed(self, product: SpectrumProduct, failure: Failure, now: datetime) -> _Ending:
        if failure.kind is FailureKind.TERMINAL:
            return _terminal(
                failure.reason,
                failure.message,
                {"acquisition_status": AcquisitionStatus.FAILED_TERMINAL.value},
            )
        sha256 = failure.sha256
        # An attempt that brought nothing says nothing of the bytes that came before.
        same = sha256 is not None and product.unreadable_sha256 == sha256
        times = product.unreadable_count + 1 if same else 1
        if sha256 is not None and times >= SAME_BYTES:
            return _terminal(
                "SAME_BYTES_UNREADABLE",
                f"the same bytes came {times} times: {failure.message}",
                {
                    "acquisition_status": AcquisitionStatus.FAILED_TERMINAL.value,
                    "unreadable_sha256": sha256,
                    "unreadable_count": times,
                },
            )
        rest = COOLDOWNS[min(product.attempt_count, len(COOLDOWNS) - 1)]
        due = now + rest
        wish = failure.retry_after
        if wish is not None:
            due = max(due, min(wish, now + LONGEST_RETRY_AFTER))
        # Whole seconds are written: a moment later, never sooner.
        due = due.replace(microsecond=0) + timedelta(seconds=1) if due.microsecond else due
        message = failure.message[:300]
        return _Ending(
            Recorded(
                outcome=RunOutcome.FAILED_RETRYABLE,
                reason=failure.reason,
                message=f"{failure.error_type}: {message}; not before {isoformat(due)}",
                next_eligible_attempt_at=due,
            ),
            {
                "acquisition_status": AcquisitionStatus.FAILED_RETRYABLE.value,
                "next_eligible_attempt_at": isoformat(due),
                **eligible_attributes(product, due),
                "last_retry_after": isoformat(wish) if wish else None,
                "last_error": message,
                "last_error_fingerprint": error_fingerprint(failure.message, failure.reason),
                **({"unreadable_sha256": sha256, "unreadable_count": times} if sha256 else {}),
            },
        )

    def _raw(self, acquired: Acquired) -> dict[str, object]:
        return {
            "acquisition_status": AcquisitionStatus.ACQUIRED.value,
            "byte_length": acquired.byte_length,
            "etag": acquired.etag or None,
            "sha256": acquired.sha256,
            "raw_s3_bucket": self.bucket,
            "raw_s3_key": acquired.key,
        }

    def _note_files(
        self, product: SpectrumProduct, files: Sequence[Artifact], run: TaskRun, now: datetime
    ) -> None:
        for file in files:
            record = FileObject(
                nova_id=product.nova_id,
                data_product_id=product.data_product_id,
                product_type=SPECTRA,
                bucket=self.bucket,
                **asdict(file),
                created_by={"workflow": run.workflow_name, "job_run_id": run.job_run_id},
                created_at=now,
                updated_at=now,
            )
            self.table.put(record.item())


def _given(name: str, part: PartT | None) -> PartT:
    """Return the answer of an earlier task. Raise InvalidInput if it is missing."""
    if part is None:
        raise InvalidInput(name, part, "what the task before has answered")
    return part


def _raw_files(acquired: Acquired) -> list[Artifact]:
    raw = Artifact(
        name="primary.fits",
        role=FileRole.RAW_FITS,
        key=acquired.key,
        content_type=FITS,
        byte_length=acquired.byte_length,
        etag=acquired.etag or None,
        sha256=acquired.sha256,
    )
    # Bytes that are examined once more have their manifest from when they came.
    if (source := acquired.source) is None:
        return [raw]
    return [raw, Artifact(name="source.json", role=FileRole.MANIFEST, **asdict(source))]


def _done_already(product: SpectrumProduct, run: TaskRun) -> Recorded | None:
    """Return what this run has recorded before, or SKIPPED_DUPLICATE if the spectrum is valid; else None."""
    if product.last_job_run_id == run.job_run_id and product.last_outcome is not None:
        return Recorded(
            outcome=RunOutcome(product.last_outcome),
            message=product.last_error,
            duplicate_of=product.duplicate_of,
            quarantine_id=product.quarantine_id,
            fits_profile_id=product.fits_profile_id,
            next_eligible_attempt_at=product.next_eligible_attempt_at,
        )
    if product.validation_status is ValidationStatus.VALID:
        return Recorded(outcome=RunOutcome.SKIPPED_DUPLICATE)
    return None


def _duplicate(of: str, bytes_: Acquired | Duplicate) -> _Ending:
    return _Ending(
        Recorded(outcome=RunOutcome.DUPLICATE_OF_EXISTING, duplicate_of=of),
        {
            "acquisition_status": AcquisitionStatus.SKIPPED_DUPLICATE.value,
            "eligibility": Eligibility.NONE.value,
            "duplicate_of": of,
            "byte_length": bytes_.byte_length,
            "sha256": bytes_.sha256,
        },
        (*INDEX_ATTRIBUTES, *_CLEARED_BY_SUCCESS),
    )


def _terminal(reason: str, message: str, assign: Mapping[str, object]) -> _Ending:
    return _Ending(
        Recorded(outcome=RunOutcome.TERMINAL_INVALID, reason=reason, message=message[:300]),
        {
            **assign,
            "validation_status": ValidationStatus.TERMINAL_INVALID.value,
            "eligibility": Eligibility.NONE.value,
            "terminal_reason": reason,
            "last_error": message[:300],
            "last_error_fingerprint": error_fingerprint(message, reason),
        },
        (*INDEX_ATTRIBUTES, "next_eligible_attempt_at", "last_retry_after"),
    )


def _verdict_attributes(product: SpectrumProduct, verdict: Verdict) -> dict[str, object]:
    """Return the attributes of a spectrum's item that a verdict gives."""
    signature = verdict.header_signature_hash
    return {
        "header_signature_hash": signature,
        "fits_profile_id": verdict.fits_profile_id,
        "profile_selection_inputs": {
            "provider": product.provider,
            "hints": dict(product.hints),
            "header": dict(verdict.profile_selection_inputs),
            **({"header_signature_hash": signature} if signature else {}),
        },
        "normalization_notes": list(verdict.normalization_notes),
        "verdict": {
            name: value
            for name, value in verdict.to_json().items()
            if value is not None and name not in {"normalization_notes", "profile_selection_inputs"}
        },
    }
