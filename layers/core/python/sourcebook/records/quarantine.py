"""A quarantine case: something that a person must decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from sourcebook.records.base import NOT_SHOWN, Count, Place, Record, Time, Uuid
from sourcebook.table import keys

PENDING: Final = "PENDING_REVIEW"
REVIEWED: Final = "REVIEWED"
"""Values of `status`, under which the index by_status lists what waits and what was decided."""


class QuarantineReason(StrEnum):
    """Why a person must look."""

    AMBIGUOUS_NAME = "AMBIGUOUS_NAME"
    COORDINATES_UNSURE = "COORDINATES_UNSURE"
    NOVA_CANDIDATE = "NOVA_CANDIDATE"
    NO_COORDINATES = "NO_COORDINATES"
    NAME_CONFLICT = "NAME_CONFLICT"
    BAD_REFERENCE = "BAD_REFERENCE"
    UNKNOWN_PROFILE = "UNKNOWN_PROFILE"
    MISSING_CRITICAL_METADATA = "MISSING_CRITICAL_METADATA"
    CHECKSUM_MISMATCH = "CHECKSUM_MISMATCH"
    OTHER = "OTHER"


class ReviewStatus(StrEnum):
    """What the person decided."""

    PENDING = "PENDING"
    CLEARED_RETRY_APPROVED = "CLEARED_RETRY_APPROVED"
    CLEARED_TERMINAL = "CLEARED_TERMINAL"
    MERGED = "MERGED"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineCase(Record):
    """Something that a person must decide."""

    PLACE: ClassVar = Place(
        keys.quarantined, "the workflow that found it; the review", (keys.STATUS_INDEX,), entity="Quarantine"
    )

    quarantine_id: Annotated[Uuid, "Its id: the same trouble with the same subject is one case."]
    workflow_name: Annotated[str, "The workflow that found it."]
    subject: Annotated[str | None, "The name or the id that it is about."] = None
    nova_id: Annotated[str | None, "The nova that it is about."] = None
    data_product_id: Annotated[str | None, "The spectrum that it is about."] = None
    reason_code: Annotated[QuarantineReason, "Why a person must look."]
    message: Annotated[str, "What is unclear, in words."]
    context: Annotated[Mapping[str, object], "Small facts to decide by; all are in the bucket."] = field(
        default_factory=dict
    )
    occurrences: Annotated[Count, "How often the same was found."] = 1
    manual_review_status: Annotated[ReviewStatus, "What the person decided."] = ReviewStatus.PENDING
    merged_into: Annotated[str | None, "The nova that a candidate became a name of."] = None
    overrides: Annotated[Mapping[str, str] | None, "The reviewer's values in place of a file's."] = None
    reviewed_at: Annotated[datetime | None, "When it was decided."] = None
    reviewed_by: Annotated[str | None, "Who decided, as AWS knows the caller."] = None
    reviewer: Annotated[str | None, "What they called themselves."] = None
    review_note: Annotated[str | None, "Why, in their words."] = None
    job_run_id: Annotated[str | None, "The run that found it last."] = None
    correlation_id: Annotated[str | None, "Joins the logs of what belongs together."] = None
    error_fingerprint: Annotated[str | None, "The same for errors of the same kind."] = None
    context_s3_bucket: Annotated[str | None, "Where all facts are.", NOT_SHOWN] = None
    context_s3_key: Annotated[str | None, "Where all facts are.", NOT_SHOWN] = None
    retry_input: Annotated[Mapping[str, str], "What an approved new try is started with.", NOT_SHOWN] = field(
        default_factory=dict
    )
    status: Annotated[str, "PENDING_REVIEW or REVIEWED, by which cases are listed.", NOT_SHOWN] = PENDING
    timestamp: Annotated[Time, "Orders cases: when it was opened or decided.", NOT_SHOWN]
    created_at: Annotated[datetime, "When it was first found."]
    updated_at: Annotated[datetime, "When it was last found or decided."]
