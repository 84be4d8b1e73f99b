"""Requests and results of the tasks of spectra. Free of pydantic, since the API loads the workflows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from sourcebook.bucket.stored import StoredObject
from sourcebook.fits.model import SpectrumOutcome, Verdict
from sourcebook.messages import HandledFailure, Message, TaskRequest, TaskResult
from sourcebook.records.product import FileRole


class LoadDecision(StrEnum):
    """The decision on a spectrum; all but ACQUIRE end the run as outcomes of its own."""

    ACQUIRE = "ACQUIRE"
    SKIPPED_DUPLICATE = "SKIPPED_DUPLICATE"
    """It is valid already, or its bytes are those of one that is."""
    SKIPPED_BACKOFF = "SKIPPED_BACKOFF"
    """It may not be tried before `next_eligible_attempt_at`."""
    NOT_ELIGIBLE = "NOT_ELIGIBLE"
    """It waits for a person, or it has been found to be no spectrum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded(TaskResult):
    """The decision on a spectrum, and the facts that it rests on."""

    decision: LoadDecision
    provider: str
    validation_status: str
    attempt_count: int
    next_eligible_attempt_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSpectrum(TaskRequest):
    """Asks whether a spectrum is to be acquired now.

    Attributes:
        provider: where it is from, when that is known.
        quarantine_id: the case whose new try a person has approved.
    """

    function = "load_spectrum"
    results = (Loaded,)
    nova_id: str
    data_product_id: str
    provider: str | None = None
    quarantine_id: str | None = None


class FailureKind(StrEnum):
    """Whether asking for a file again is of use."""

    RETRYABLE = "RETRYABLE"
    TERMINAL = "TERMINAL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(Message):
    """Why there is no file.

    Attributes:
        reason: a code, e.g. ``rate_limited`` or ``status_404``.
        error_type: class of the error.
        message: in words.
        retry_after: aware UTC time before which the provider does not want to be asked.
        sha256: digest of what came instead, when something did.
    """

    kind: FailureKind
    reason: str
    error_type: str
    message: str
    retry_after: datetime | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutSpectrum(Message):
    """The attributes of a spectrum that later tasks of its run need, as its acquisition has read them.

    Attributes:
        hints: what the provider says of it.
        overrides: a reviewer's values in place of its file's.
    """

    locator_identity: str
    provider_product_id: str | None = None
    title: str | None = None
    hints: Mapping[str, str] = field(default_factory=dict)
    overrides: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquired(TaskResult):
    """The file is in the bucket.

    Attributes:
        source: the object that says where it came from; None if it did not come just now.
        spectrum: None in executions that began before it was handed on.
    """

    LOGGED = ("result", "byte_length", "sha256")
    result: Literal["ACQUIRED"] = "ACQUIRED"
    key: str
    byte_length: int
    etag: str
    sha256: str
    source: StoredObject | None = None
    spectrum: AboutSpectrum | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlreadyValid(TaskResult):
    """Another run has found the spectrum valid; nothing was done."""

    result: Literal["ALREADY_VALID"] = "ALREADY_VALID"


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate(TaskResult):
    """The bytes are those of another spectrum, which is valid."""

    result: Literal["DUPLICATE"] = "DUPLICATE"
    duplicate_of: str
    byte_length: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAcquired(TaskResult):
    """The provider has not sent the file."""

    LOGGED = ("result", "failure")
    result: Literal["FAILED"] = "FAILED"
    failure: Failure

    def handled_failure(self) -> HandledFailure:
        """Return why."""
        return HandledFailure(self.failure.error_type, f"{self.failure.reason}: {self.failure.message}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt(Message):
    """Why a person must look.

    Attributes:
        context: small facts to decide by.
    """

    reason_code: str
    message: str
    context: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsure(TaskResult):
    """Something has come, and only a person can say what to make of it."""

    result: Literal["UNSURE"] = "UNSURE"
    unsure: Doubt
    spectrum: AboutSpectrum | None = None


Acquisition: TypeAlias = Acquired | AlreadyValid | Duplicate | NotAcquired | Unsure


@dataclass(frozen=True, slots=True, kw_only=True)
class OfSpectrum(Message):
    """Says which spectrum a task is asked about."""

    nova_id: str
    data_product_id: str
    provider: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquireSpectrum(OfSpectrum, TaskRequest):
    """Asks for the file of a spectrum, in the bucket."""

    function = "acquire_spectrum"
    results = (Acquired, AlreadyValid, Duplicate, NotAcquired, Unsure)


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact(Message):
    """A file in the bucket that belongs to a spectrum.

    Attributes:
        name: its name in the role.
    """

    name: str
    role: FileRole
    key: str
    content_type: str
    byte_length: int | None = None
    etag: str | None = None
    sha256: str | None = None


_FAULTS = {
    SpectrumOutcome.NOT_A_SPECTRUM_FILE: "NotASpectrumFile",
    SpectrumOutcome.TERMINAL_INVALID: "InvalidSpectrum",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination(TaskResult):
    """The verdict on a file and, if it is valid, what was made of it.

    Attributes:
        prefix: what the keys of the artifacts begin with.
    """

    verdict: Verdict
    artifacts: tuple[Artifact, ...] = ()
    prefix: str | None = None

    def handled_failure(self) -> HandledFailure | None:
        """Return what is wrong with the file."""
        fault = _FAULTS.get(self.verdict.outcome)
        return HandledFailure(fault, f"{self.verdict.reason}: {self.verdict.message}") if fault else None

    def log_fields(self) -> Mapping[str, object]:
        """Return the fields that the log has of this result."""
        return {"outcome": self.verdict.outcome.value, "reason": self.verdict.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamineSpectrum(OfSpectrum, TaskRequest):
    """Asks what the file of a spectrum holds."""

    function = "validate_spectrum"
    results = (Examination,)
    acquisition: Acquired


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSpectrum(TaskResult):
    """The case that waits for a person.

    Attributes:
        new: whether it was opened just now.
        prefix: what the keys of the file and its context begin with.
    """

    quarantine_id: str
    reason_code: str
    new: bool
    prefix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Message):
    """The results of a run's earlier tasks, as far as it has come."""

    acquisition: Acquisition
    examination: Examination | None = None
    hold: HeldSpectrum | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldSpectrum(OfSpectrum, TaskRequest):
    """Asks for a spectrum to be set aside for a person."""

    function = "hold_spectrum"
    results = (HeldSpectrum,)
    found: Found


class RunOutcome(StrEnum):
    """The outcome of a run that has acquired something; FAILED_RETRYABLE alone is a failed run."""

    VALIDATED = "VALIDATED"
    QUARANTINED = "QUARANTINED"
    TERMINAL_INVALID = "TERMINAL_INVALID"
    DUPLICATE_OF_EXISTING = "DUPLICATE_OF_EXISTING"
    SKIPPED_DUPLICATE = "SKIPPED_DUPLICATE"
    FAILED_RETRYABLE = "FAILED_RETRYABLE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded(TaskResult):
    """The recorded outcome of a spectrum, with its details."""

    LOGGED = ("outcome", "reason")
    outcome: RunOutcome
    reason: str | None = None
    message: str | None = None
    next_eligible_attempt_at: datetime | None = None
    duplicate_of: str | None = None
    quarantine_id: str | None = None
    fits_profile_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSpectrum(OfSpectrum, TaskRequest):
    """Asks for the outcome of a run to be recorded on the spectrum."""

    function = "record_spectrum"
    results = (Recorded,)
    found: Found


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedSpectrum(OfSpectrum):
    """A spectrum that is the caller's to run for an hour.

    Attributes:
        name: of its execution: the same spectrum, due at the same time, has the same.
    """

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed(TaskResult):
    """The spectra that were claimed."""

    claimed: tuple[ClaimedSpectrum, ...]

    def log_fields(self) -> Mapping[str, object]:
        """Return the fields that the log has of this result."""
        return {"claimed": len(self.claimed)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSpectra(TaskRequest):
    """Asks for up to `most` spectra that are due."""

    function = "claim_spectra"
    results = (Claimed,)
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderToAsk(Message):
    """A provider that is asked for the spectra of a nova."""

    provider: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryPlan(TaskResult):
    """The providers that are asked for the spectra of a nova."""

    nova_id: str
    providers: tuple[ProviderToAsk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDiscovery(TaskRequest):
    """Asks which providers have spectra of a nova."""

    function = "plan_discovery"
    results = (DiscoveryPlan,)
    nova_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAnswered(TaskResult):
    """Counts of the spectra that a provider has of a nova.

    Attributes:
        status: a `sourcebook.novae.resolvers.archive.ArchiveStatus`.
        found: entries, of which the next five counts say what became.
        left_out: entries that are no product of this nova, by the reason.
        eligible: products that are new in the queue of what is to be acquired, and may be tried now.
    """

    provider: str
    status: str
    found: int
    created: int
    known: int
    updated: int
    released: int
    claimed: int
    left_out: Mapping[str, int]
    eligible: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoverSpectra(TaskRequest):
    """Asks one provider for the spectra of a nova."""

    function = "discover_spectra"
    results = (ProviderAnswered,)
    nova_id: str
    provider: str
