"""Recording what became of a spectrum: the one place that says when it is tried again, or never.

The spectrum's own item is written last and in one step: what it says is then true, and everything that it
points to is there. A run that records twice changes nothing the second time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from boto3.dynamodb.conditions import Attr

from sourcebook.catalog.files import FITS
from sourcebook.catalog.fingerprints import Fingerprints
from sourcebook.catalog.load_spectrum import find_spectrum
from sourcebook.catalog.model import QuarantineReason, ReviewStatus
from sourcebook.catalog.products import (
    INDEX_ATTRIBUTES,
    SPECTRA,
    AcquisitionStatus,
    Eligibility,
    FileObject,
    FileRole,
    SpectrumProduct,
    ValidationStatus,
    eligible_attributes,
    file_object_item,
)
from sourcebook.clock import Clock, isoformat, parse_iso, utc_now
from sourcebook.errors import Retryable
from sourcebook.runs.errors import error_fingerprint
from sourcebook.runs.tasks import TaskRun
from sourcebook.spectra.model import SpectrumOutcome
from sourcebook.table.client import ConditionFailed, Table

COOLDOWNS: Final = (timedelta(seconds=60), timedelta(minutes=5), timedelta(hours=1), timedelta(hours=24))
"""How long a spectrum rests after its first, second, third and every further failed attempt."""
LONGEST_RETRY_AFTER: Final = timedelta(days=30)
"""How far a provider's wish is followed; beyond this it is asked, once, whether it still has it."""
SAME_BYTES: Final = 3
"""Unreadable bytes that came so often are what there is."""

_CLEARED_BY_SUCCESS: Final = (
    "next_eligible_attempt_at",
    "last_retry_after",
    "last_error_fingerprint",
    "last_error",
    "unreadable_sha256",
    "unreadable_count",
)


class RunOutcome(StrEnum):
    """What a run of acquire_and_validate_spectra comes to; FAILED_RETRYABLE alone is a failed run."""

    VALIDATED = "VALIDATED"
    QUARANTINED = "QUARANTINED"
    TERMINAL_INVALID = "TERMINAL_INVALID"
    DUPLICATE_OF_EXISTING = "DUPLICATE_OF_EXISTING"
    SKIPPED_DUPLICATE = "SKIPPED_DUPLICATE"
    FAILED_RETRYABLE = "FAILED_RETRYABLE"


class SpectrumContended(Retryable):
    """Another run has recorded something on the spectrum just now."""


@dataclass(frozen=True, slots=True)
class _Ending:
    """What is to be written on a spectrum."""

    outcome: RunOutcome
    assign: Mapping[str, object]
    remove: tuple[str, ...] = ()
    told: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SpectrumRecorder:
    """Records outcomes.

    Attributes:
        bucket: where the files are.
    """

    table: Table
    bucket: str
    clock: Clock = utc_now

    def record(
        self, nova_id: str, data_product_id: str, provider: str, found: Mapping[str, Any], run: TaskRun
    ) -> dict[str, Any]:
        """Record what a run has found.

        Args:
            nova_id: the nova.
            data_product_id: the spectrum.
            provider: where it is from.
            found: the answers of the tasks before: ``acquisition``, and as far as the run has come
                ``examination`` and ``hold``.
            run: of which this is a task.

        Returns:
            ``outcome``, one of `RunOutcome`, and what belongs to it: ``reason``, ``message``,
            ``next_eligible_attempt_at``, ``duplicate_of``, ``quarantine_id``, ``fits_profile_id``.

        Raises:
            OwnerUnsettled, SpectrumContended: if another run is at work on the same; try again.
        """
        product = find_spectrum(self.table, nova_id, data_product_id, provider)
        if (done := _done_already(product, run)) is not None:
            return done
        now = self.clock()
        ending = self._ending(product, found, run, now)
        common = {
            "last_attempt_at": isoformat(now),
            "last_job_run_id": run.job_run_id,
            "last_outcome": ending.outcome.value,
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
                f"the spectrum {data_product_id} was changed while this run recorded {ending.outcome.value}"
            ) from error
        return {"outcome": ending.outcome.value, **(ending.told or {})}

    def _ending(
        self, product: SpectrumProduct, found: Mapping[str, Any], run: TaskRun, now: datetime
    ) -> _Ending:
        acquisition = found["acquisition"]
        if acquisition["result"] == "FAILED":
            return self._failed(product, acquisition["failure"], now)
        if acquisition["result"] == "DUPLICATE":
            return _duplicate(acquisition["duplicate_of"], acquisition)
        if acquisition["result"] == "UNSURE":
            return self._quarantined(product, found, run, now)
        verdict = found["examination"]["verdict"]
        match SpectrumOutcome(verdict["outcome"]):
            case SpectrumOutcome.VALID:
                return self._valid(product, found, run, now)
            case SpectrumOutcome.QUARANTINED:
                return self._quarantined(product, found, run, now)
            case SpectrumOutcome.TERMINAL_INVALID:
                self._note_files(product, self._raw_files(found), run, now)
                return _terminal(
                    verdict["reason"],
                    verdict["message"],
                    {**self._raw(acquisition), **_examined(product, verdict)},
                )
            case SpectrumOutcome.NOT_A_SPECTRUM_FILE:
                unreadable = {
                    "kind": "RETRYABLE",
                    "reason": verdict["reason"],
                    "error_type": "NotASpectrumFile",
                    "message": verdict["message"],
                    "sha256": acquisition["sha256"],
                }
                return self._failed(product, unreadable, now)

    def _valid(
        self, product: SpectrumProduct, found: Mapping[str, Any], run: TaskRun, now: datetime
    ) -> _Ending:
        acquisition, examination = found["acquisition"], found["examination"]
        other = Fingerprints(self.table, self.clock).claim(product, acquisition["sha256"])
        if other is not None:
            return _duplicate(other, acquisition)
        made = [(FileRole(entry["role"]), entry["name"], entry) for entry in examination["artifacts"]]
        self._note_files(product, [*self._raw_files(found), *made], run, now)
        return _Ending(
            RunOutcome.VALIDATED,
            {
                **self._raw(acquisition),
                **_examined(product, examination["verdict"]),
                "validation_status": ValidationStatus.VALID.value,
                "eligibility": Eligibility.NONE.value,
                "derived_s3_bucket": self.bucket,
                "derived_s3_prefix": examination["prefix"],
            },
            (*INDEX_ATTRIBUTES, *_CLEARED_BY_SUCCESS, "quarantine_reason_code", "terminal_reason"),
            {"fits_profile_id": examination["verdict"]["fits_profile_id"]},
        )

    def _quarantined(
        self, product: SpectrumProduct, found: Mapping[str, Any], run: TaskRun, now: datetime
    ) -> _Ending:
        hold, acquisition = found["hold"], found["acquisition"]
        context = {"key": f"{hold['prefix']}context.json", "content_type": "application/json"}
        files: list[tuple[FileRole, str, Mapping[str, Any]]] = [
            (FileRole.QUARANTINE_CONTEXT, "context.json", context)
        ]
        assign: dict[str, object] = {}
        if "key" in acquisition:
            files += self._raw_files(found)
            assign |= self._raw(acquisition)
        if "examination" in found:
            assign |= _examined(product, found["examination"]["verdict"])
        self._note_files(product, files, run, now)
        reason = QuarantineReason(hold["reason_code"])
        return _Ending(
            RunOutcome.QUARANTINED,
            {
                **assign,
                "validation_status": ValidationStatus.QUARANTINED.value,
                "eligibility": Eligibility.NONE.value,
                "quarantine_reason_code": reason.value,
                "quarantine_id": hold["quarantine_id"],
                "manual_review_status": ReviewStatus.PENDING.value,
                "last_error_fingerprint": f"VALIDATION_{reason.value}",
            },
            (*INDEX_ATTRIBUTES, *_CLEARED_BY_SUCCESS),
            {"quarantine_id": hold["quarantine_id"], "reason": reason.value},
        )

    def _failed(self, product: SpectrumProduct, failure: Mapping[str, Any], now: datetime) -> _Ending:
        if failure["kind"] == "TERMINAL":
            return _terminal(
                failure["reason"],
                failure["message"],
                {"acquisition_status": AcquisitionStatus.FAILED_TERMINAL.value},
            )
        sha256 = failure.get("sha256")
        # An attempt that brought nothing says nothing of the bytes that came before.
        same = sha256 is not None and product.unreadable_sha256 == sha256
        times = product.unreadable_count + 1 if same else 1
        if sha256 is not None and times >= SAME_BYTES:
            return _terminal(
                "SAME_BYTES_UNREADABLE",
                f"the same bytes came {times} times: {failure['message']}",
                {
                    "acquisition_status": AcquisitionStatus.FAILED_TERMINAL.value,
                    "unreadable_sha256": sha256,
                    "unreadable_count": times,
                },
            )
        rest = COOLDOWNS[min(product.attempt_count, len(COOLDOWNS) - 1)]
        due = now + rest
        wish = parse_iso(failure["retry_after"]) if failure.get("retry_after") else None
        if wish is not None:
            due = max(due, min(wish, now + LONGEST_RETRY_AFTER))
        # Whole seconds are written: a moment later, never sooner.
        due = due.replace(microsecond=0) + timedelta(seconds=1) if due.microsecond else due
        message = str(failure["message"])
        return _Ending(
            RunOutcome.FAILED_RETRYABLE,
            {
                "acquisition_status": AcquisitionStatus.FAILED_RETRYABLE.value,
                "next_eligible_attempt_at": isoformat(due),
                **eligible_attributes(product, due),
                "last_retry_after": isoformat(wish) if wish else None,
                "last_error": message[:300],
                "last_error_fingerprint": error_fingerprint(message, failure["reason"]),
                **({"unreadable_sha256": sha256, "unreadable_count": times} if sha256 else {}),
            },
            (),
            {
                "reason": failure["reason"],
                "message": f"{failure['error_type']}: {message[:300]}; not before {isoformat(due)}",
                "next_eligible_attempt_at": isoformat(due),
            },
        )

    def _raw(self, acquisition: Mapping[str, Any]) -> dict[str, object]:
        return {
            "acquisition_status": AcquisitionStatus.ACQUIRED.value,
            "byte_length": acquisition["byte_length"],
            "etag": acquisition["etag"] or None,
            "sha256": acquisition["sha256"],
            "raw_s3_bucket": self.bucket,
            "raw_s3_key": acquisition["key"],
        }

    def _raw_files(self, found: Mapping[str, Any]) -> list[tuple[FileRole, str, Mapping[str, Any]]]:
        acquisition = found["acquisition"]
        raw: Mapping[str, Any] = {**acquisition, "content_type": FITS}
        # Bytes that are examined once more have their manifest from when they came.
        source = (
            [(FileRole.MANIFEST, "source.json", acquisition["source"])] if "source" in acquisition else []
        )
        return [(FileRole.RAW_FITS, "primary.fits", raw), *source]

    def _note_files(
        self,
        product: SpectrumProduct,
        files: list[tuple[FileRole, str, Mapping[str, Any]]],
        run: TaskRun,
        now: datetime,
    ) -> None:
        for role, name, entry in files:
            file = FileObject(
                nova_id=product.nova_id,
                data_product_id=product.data_product_id,
                product_type=SPECTRA,
                role=role,
                name=name,
                bucket=self.bucket,
                key=entry["key"],
                content_type=entry["content_type"],
                byte_length=entry.get("byte_length"),
                etag=entry.get("etag") or None,
                sha256=entry.get("sha256"),
                created_by={"workflow": run.workflow_name, "job_run_id": run.job_run_id},
                created_at=now,
                updated_at=now,
            )
            self.table.put(file_object_item(file))


def _done_already(product: SpectrumProduct, run: TaskRun) -> dict[str, Any] | None:
    """Return what this run has recorded before, or that another one has found the spectrum valid."""
    if product.last_job_run_id == run.job_run_id and product.last_outcome is not None:
        due = product.next_eligible_attempt_at
        told = {
            "message": product.last_error,
            "duplicate_of": product.duplicate_of,
            "quarantine_id": product.quarantine_id,
            "fits_profile_id": product.fits_profile_id,
            "next_eligible_attempt_at": isoformat(due) if due else None,
        }
        return {
            "outcome": product.last_outcome,
            **{name: value for name, value in told.items() if value is not None},
        }
    if product.validation_status is ValidationStatus.VALID:
        return {"outcome": RunOutcome.SKIPPED_DUPLICATE.value}
    return None


def _duplicate(of: str, acquisition: Mapping[str, Any]) -> _Ending:
    return _Ending(
        RunOutcome.DUPLICATE_OF_EXISTING,
        {
            "acquisition_status": AcquisitionStatus.SKIPPED_DUPLICATE.value,
            "eligibility": Eligibility.NONE.value,
            "duplicate_of": of,
            "byte_length": acquisition["byte_length"],
            "sha256": acquisition["sha256"],
        },
        (*INDEX_ATTRIBUTES, *_CLEARED_BY_SUCCESS),
        {"duplicate_of": of},
    )


def _terminal(reason: str, message: str, assign: Mapping[str, object]) -> _Ending:
    return _Ending(
        RunOutcome.TERMINAL_INVALID,
        {
            **assign,
            "validation_status": ValidationStatus.TERMINAL_INVALID.value,
            "eligibility": Eligibility.NONE.value,
            "terminal_reason": reason,
            "last_error": message[:300],
            "last_error_fingerprint": error_fingerprint(message, reason),
        },
        (*INDEX_ATTRIBUTES, "next_eligible_attempt_at", "last_retry_after"),
        {"reason": reason, "message": message[:300]},
    )


def _examined(product: SpectrumProduct, verdict: Mapping[str, Any]) -> dict[str, object]:
    """Return what a verdict says of the file, as the spectrum's item keeps it."""
    return {
        "header_signature_hash": verdict["header_signature_hash"],
        "fits_profile_id": verdict["fits_profile_id"],
        "profile_selection_inputs": {
            "provider": product.provider,
            "hints": dict(product.hints),
            "header": dict(verdict["profile_selection_inputs"]),
            **(
                {"header_signature_hash": verdict["header_signature_hash"]}
                if verdict["header_signature_hash"]
                else {}
            ),
        },
        "normalization_notes": list(verdict["normalization_notes"]),
        "verdict": {
            name: value
            for name, value in verdict.items()
            if value is not None and name not in {"normalization_notes", "profile_selection_inputs"}
        },
    }
