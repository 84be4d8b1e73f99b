"""Spectra as data products: what the table keeps of each, from the day it is discovered.

The fields are those of the nova item model (3.2, 4 and 5). A spectrum that may be acquired stands in two
indexes: in EligibilityIndex under its nova, and in by_status as `ACQUIRE` in the order of the time from which
it may be tried, where the sweep finds what is due in the whole catalogue; see
docs/decisions/0101-discovery-of-spectra.md.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from sourcebook.clock import isoformat
from sourcebook.errors import InvalidInput
from sourcebook.events import UtcDatetime
from sourcebook.novae.model import NAMESPACE, Record, Sha256, Uuid
from sourcebook.records.quarantine import QuarantineReason, ReviewStatus
from sourcebook.table import keys

SPECTRA: Final = "SPECTRA"
DONATION: Final = "DONATION"
"""The provider of what people hand in; its files lie in our own bucket."""
ELIGIBLE_STATUS: Final = "ACQUIRE"
"""Value of `status`, under which by_status lists what may be acquired, by the time from which it may."""
INDEX_ATTRIBUTES: Final = ("GSI1PK", "GSI1SK", "status", "timestamp")
"""What a product loses when it is no longer to be acquired: removed, never null."""

Provider = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_-]{1,29}$", examples=["ESO"])]
LocatorIdentity = Annotated[str, Field(min_length=3, max_length=1_000)]


class Eligibility(StrEnum):
    """Whether a spectrum is to be acquired."""

    ACQUIRE = "ACQUIRE"
    NONE = "NONE"


class AcquisitionStatus(StrEnum):
    """How far the acquisition of a spectrum has come."""

    STUB = "STUB"
    ACQUIRED = "ACQUIRED"
    FAILED_RETRYABLE = "FAILED_RETRYABLE"
    FAILED_TERMINAL = "FAILED_TERMINAL"
    SKIPPED_DUPLICATE = "SKIPPED_DUPLICATE"
    SKIPPED_BACKOFF = "SKIPPED_BACKOFF"


class ValidationStatus(StrEnum):
    """What became of a spectrum; all but UNVALIDATED are final until a person says otherwise."""

    UNVALIDATED = "UNVALIDATED"
    VALID = "VALID"
    QUARANTINED = "QUARANTINED"
    TERMINAL_INVALID = "TERMINAL_INVALID"


class IdentityKind(StrEnum):
    """What tells a product from the others of its provider, the best first."""

    NATIVE_ID = "NATIVE_ID"
    METADATA_KEY = "METADATA_KEY"
    WEAK = "WEAK"


class LocatorKind(StrEnum):
    """How to get at the bytes."""

    URL = "URL"
    S3 = "S3"
    OTHER = "OTHER"


class LocatorRole(StrEnum):
    """Which of several places is asked first."""

    PRIMARY = "PRIMARY"
    MIRROR = "MIRROR"


class Locator(BaseModel):
    """One place of a product's bytes.

    Attributes:
        value: an http(s) address, or for kind S3 the key in the project's bucket.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: LocatorKind
    value: str = Field(min_length=1, max_length=2_000)
    role: LocatorRole = LocatorRole.PRIMARY


class SpectrumProduct(Record):
    """`<nova_id>` / `PRODUCT#SPECTRA#<provider>#<data_product_id>`: one spectrum, as one file.

    Attributes:
        locator_identity: what `data_product_id` was made from, e.g. ``provider_product_id:ADP.2014-…``.
        expected_byte_length: bytes that the provider announced; None when it did not say.
        expected_sha256: digest that came with the file, as a donation's does.
        release_date: when a proprietary product becomes public.
        auth_required: whether the provider wants a login today; such a product waits and is not tried.
        next_eligible_attempt_at: authoritative: before it nobody may try. None means at once.
        last_retry_after: what the provider asked for at the last failure.
        last_error: that failure in words.
        last_job_run_id: the run that recorded last, and
        last_outcome: what it came to, so that a run that records twice changes nothing.
        unreadable_sha256: digest of the last body that was no FITS file, and
        unreadable_count: how often in a row these same bytes came.
        byte_length, etag, sha256: of the raw object in the bucket, after acquisition.
        duplicate_of: the VALID product whose bytes these are.
        terminal_reason: code of why it is TERMINAL_INVALID.
        overrides: what a reviewer said of the file, given to every later validation.
        verdict: what the validation said, small; all of it is in the bucket.
        derived_s3_prefix: where the normalized spectrum, its metadata and its plot are.
        moved_from: the novae that it came from by merging, the last one last.
    """

    entity_type: Literal["DataProduct"] = "DataProduct"
    nova_id: Uuid
    data_product_id: Uuid
    product_type: Literal["SPECTRA"] = "SPECTRA"
    provider: Provider
    locator_identity: LocatorIdentity
    identity_kind: IdentityKind
    locators: tuple[Locator, ...] = Field(min_length=1, max_length=10)

    provider_product_id: str | None = Field(default=None, max_length=500)
    title: str | None = Field(default=None, max_length=500)
    collection: str | None = Field(default=None, max_length=200)
    format: str | None = Field(default=None, max_length=200)
    hints: Mapping[str, str] = Field(default_factory=dict)
    provenance: Mapping[str, str] | None = None
    expected_byte_length: int | None = Field(default=None, ge=0)
    expected_sha256: Sha256 | None = None
    release_date: UtcDatetime | None = None
    auth_required: bool = False

    acquisition_status: AcquisitionStatus = AcquisitionStatus.STUB
    validation_status: ValidationStatus = ValidationStatus.UNVALIDATED
    eligibility: Eligibility = Eligibility.ACQUIRE

    attempt_count: int = Field(default=0, ge=0)
    last_attempt_at: UtcDatetime | None = None
    next_eligible_attempt_at: UtcDatetime | None = None
    last_retry_after: UtcDatetime | None = None
    last_error_fingerprint: str | None = None
    last_error: str | None = None
    last_job_run_id: str | None = None
    last_outcome: str | None = None
    unreadable_sha256: Sha256 | None = None
    unreadable_count: int = Field(default=0, ge=0)

    byte_length: int | None = Field(default=None, ge=0)
    etag: str | None = None
    sha256: Sha256 | None = None
    header_signature_hash: str | None = None
    fits_profile_id: str | None = None
    profile_selection_inputs: Mapping[str, Any] | None = None
    normalization_notes: tuple[str, ...] = ()
    verdict: Mapping[str, Any] | None = None

    duplicate_of: Uuid | None = None
    terminal_reason: str | None = None
    quarantine_reason_code: QuarantineReason | None = None
    quarantine_id: Uuid | None = None
    manual_review_status: ReviewStatus | None = None
    overrides: Mapping[str, str] | None = None

    raw_s3_bucket: str | None = None
    raw_s3_key: str | None = None
    derived_s3_bucket: str | None = None
    derived_s3_prefix: str | None = None
    moved_from: tuple[Uuid, ...] | None = None

    @property
    def key(self) -> keys.Key:
        """Its key in the table."""
        return keys.spectrum(self.nova_id, self.provider, self.data_product_id)


class LocatorAlias(Record):
    """`LOCATOR#<provider>#<locator_identity>` / `DATA_PRODUCT#<data_product_id>`: the authority on sameness.

    Attributes:
        identity_kind: of the identity that the product was made from, which may be another than this one.
    """

    entity_type: Literal["LocatorAlias"] = "LocatorAlias"
    provider: Provider
    locator_identity: LocatorIdentity
    data_product_id: Uuid
    nova_id: Uuid
    identity_kind: IdentityKind


class Fingerprint(Record):
    """`SHA256#<hex>` / `DATA_PRODUCT#<data_product_id>`: whose bytes have this digest."""

    entity_type: Literal["Fingerprint"] = "Fingerprint"
    sha256: Sha256
    data_product_id: Uuid
    nova_id: Uuid
    provider: Provider


def spectrum_item(product: SpectrumProduct) -> dict[str, Any]:
    """Return the item of a spectrum, with its index attributes while it is to be acquired."""
    indexed = eligible_attributes(product) if product.eligibility is Eligibility.ACQUIRE else {}
    return {**product.key, **product.attributes(), **indexed}


def eligible_attributes(product: SpectrumProduct, due_at: datetime | None = None) -> dict[str, Any]:
    """Return what puts a spectrum into the two indexes of what is to be acquired.

    Args:
        product: the spectrum.
        due_at: the time from which it may be tried; without one its `next_eligible_attempt_at`, and without
            that the time at which it was made.
    """
    due = due_at or product.next_eligible_attempt_at or product.created_at
    return {
        **keys.eligible_spectrum(product.nova_id, product.provider, product.data_product_id),
        "status": ELIGIBLE_STATUS,
        "timestamp": isoformat(due),
    }


def acquisition_name(product: SpectrumProduct) -> str:
    """Return the name of the execution that acquires a spectrum: one for each time that it is due.

    Step Functions takes a name once, so that whoever else comes upon the same spectrum starts it no second
    time; the sweep's names are the same.
    """
    due_at = re.sub("[-:]", "", eligible_attributes(product)["timestamp"])
    return f"{product.data_product_id}-{product.attempt_count}-{due_at}"


def alias_item(alias: LocatorAlias) -> dict[str, Any]:
    """Return the item of a locator alias."""
    key = keys.locator_alias(alias.provider, alias.locator_identity, alias.data_product_id)
    return {**key, **alias.attributes()}


def fingerprint_item(fingerprint: Fingerprint) -> dict[str, Any]:
    """Return the item of a fingerprint."""
    key = keys.fingerprint(fingerprint.sha256, fingerprint.data_product_id)
    return {**key, **fingerprint.attributes()}


def data_product_id_for(provider: str, locator_identity: str) -> str:
    """Return the id of a provider's product: the same for whoever discovers it, however often."""
    return str(uuid.uuid5(NAMESPACE, f"spectrum:{provider}:{locator_identity}"))


_SORT_KEY = re.compile(
    rf"{re.escape(keys.SPECTRA_PREFIX)}(?P<provider>[^#]+)#(?P<data_product_id>[0-9a-f-]{{36}})"
)


def read_spectrum_sort_key(sort_key: str) -> tuple[str, str]:
    """Return provider and data_product_id of a spectrum's SK, which by_status gives beside the nova's id.

    Raises:
        InvalidInput: if it is another item's.
    """
    found = _SORT_KEY.fullmatch(sort_key)
    if found is None:
        raise InvalidInput("SK", sort_key, f"{keys.SPECTRA_PREFIX}<provider>#<data_product_id>")
    return found["provider"], found["data_product_id"]
