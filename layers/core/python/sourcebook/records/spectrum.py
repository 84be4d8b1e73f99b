"""A spectrum as a data product, from the day it is discovered; what leads to it, and whose its bytes are.

The fields are those of the nova item model (3.2, 4 and 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Final, TypeAlias

from sourcebook.messages import SchemaRule
from sourcebook.records.base import NOT_SHOWN, Count, Place, Record
from sourcebook.records.nova import NovaId
from sourcebook.records.product import ProductType
from sourcebook.records.quarantine import QuarantineReason, ReviewStatus
from sourcebook.schema import SHA256
from sourcebook.table import keys

PROVIDER_PATTERN: Final = "^[A-Z][A-Z0-9_-]{1,29}$"

Provider: TypeAlias = Annotated[str, SchemaRule({"pattern": PROVIDER_PATTERN})]
LocatorIdentity: TypeAlias = Annotated[str, SchemaRule({"minLength": 3, "maxLength": 1_000})]
Sha256: TypeAlias = Annotated[str, SchemaRule({"pattern": f"^{SHA256}$"})]
_Text200: TypeAlias = Annotated[str, SchemaRule({"maxLength": 200})]
_Text500: TypeAlias = Annotated[str, SchemaRule({"maxLength": 500})]


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
    """Identities of a product among those of its provider, the best first."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Locator(Record):
    """One place of a product's bytes."""

    kind: Annotated[LocatorKind, "How to get at it."]
    value: Annotated[
        Annotated[str, SchemaRule({"minLength": 1, "maxLength": 2_000})],
        "An http(s) address, or for kind S3 the key in the project's bucket.",
    ]
    role: Annotated[LocatorRole, "Which is asked first."] = LocatorRole.PRIMARY


@dataclass(frozen=True, slots=True, kw_only=True)
class SpectrumInShort(Record):
    """What a list of products shows of a spectrum."""

    data_product_id: Annotated[NovaId, "Its id, made of the provider and its identity there."]
    nova_id: Annotated[NovaId, "Id of the nova that it is of."]
    product_type: Annotated[ProductType, "What it is."] = ProductType.SPECTRA
    provider: Annotated[Provider, "The archive that has it, or DONATION."]
    provider_product_id: Annotated[_Text500 | None, "Id of the spectrum at its provider."] = None
    title: Annotated[_Text500 | None, "Title of the spectrum at its provider."] = None
    collection: Annotated[_Text200 | None, "Collection of its provider that it belongs to."] = None
    hints: Annotated[Mapping[str, str], "What the provider says of the file."] = field(default_factory=dict)
    acquisition_status: Annotated[AcquisitionStatus, "How far its acquisition has come."] = (
        AcquisitionStatus.STUB
    )
    validation_status: Annotated[ValidationStatus, "What became of it."] = ValidationStatus.UNVALIDATED
    eligibility: Annotated[Eligibility, "Whether it is to be acquired."] = Eligibility.ACQUIRE
    attempt_count: Annotated[Count, "How often that was tried."] = 0
    last_attempt_at: Annotated[datetime | None, "When it was last tried."] = None
    next_eligible_attempt_at: Annotated[
        datetime | None, "Authoritative: before it nobody may try; null means at once."
    ] = None
    fits_profile_id: Annotated[str | None, "The profile by which its file was read."] = None
    quarantine_reason_code: Annotated[QuarantineReason | None, "Why a person must look."] = None
    quarantine_id: Annotated[NovaId | None, "The case of that."] = None
    manual_review_status: Annotated[ReviewStatus | None, "What the person decided."] = None
    terminal_reason: Annotated[str | None, "Code of why it is TERMINAL_INVALID."] = None
    duplicate_of: Annotated[NovaId | None, "The VALID product whose bytes these are."] = None
    byte_length: Annotated[Count | None, "Of the raw file."] = None
    sha256: Annotated[Sha256 | None, "Of the raw file."] = None
    created_at: Annotated[datetime, "When it was discovered."]
    updated_at: Annotated[datetime, "When it was last changed."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpectrumProduct(SpectrumInShort):
    """One spectrum of a nova, as one file.

    One that may be acquired stands in two indexes: in EligibilityIndex under its nova, and in by_status as
    `ACQUIRE` in the order of the time from which it may be tried, where the sweep finds what is due in the
    whole catalogue; see docs/decisions/0101-discovery-of-spectra.md.
    """

    PLACE: ClassVar = Place(
        keys.spectrum,
        "discovery and donate (create); acquisition",
        (keys.ELIGIBILITY_INDEX, keys.STATUS_INDEX),
        entity="DataProduct",
    )

    locators: Annotated[
        Annotated[tuple[Locator, ...], SchemaRule({"minItems": 1, "maxItems": 10})], "Where its bytes are."
    ]
    locator_identity: Annotated[LocatorIdentity, "Its id was made from: `provider_product_id:ADP.2014-…`."]
    identity_kind: Annotated[IdentityKind, "What distinguishes it from others of its provider."]
    format: Annotated[_Text200 | None, "Of the file, as the provider has it.", NOT_SHOWN] = None
    provenance: Annotated[Mapping[str, str] | None, "Who handed it in, and how."] = None
    expected_byte_length: Annotated[Count | None, "Bytes that the provider announced.", NOT_SHOWN] = None
    expected_sha256: Annotated[Sha256 | None, "Digest that came with the file.", NOT_SHOWN] = None
    release_date: Annotated[datetime | None, "When a proprietary product becomes public."] = None
    auth_required: Annotated[bool, "Whether the provider wants a login: it waits, and is not tried."] = False
    last_retry_after: Annotated[datetime | None, "What the provider asked for last.", NOT_SHOWN] = None
    last_error_fingerprint: Annotated[str | None, "Of the last failure."] = None
    last_error: Annotated[str | None, "The last failure in words.", NOT_SHOWN] = None
    last_job_run_id: Annotated[str | None, "The run that recorded last.", NOT_SHOWN] = None
    last_outcome: Annotated[str | None, "What it came to; it records once.", NOT_SHOWN] = None
    unreadable_sha256: Annotated[Sha256 | None, "Of the last body that was no FITS file.", NOT_SHOWN] = None
    unreadable_count: Annotated[Count, "How often in a row these same bytes came.", NOT_SHOWN] = 0
    etag: Annotated[str | None, "Of the raw file.", NOT_SHOWN] = None
    header_signature_hash: Annotated[str | None, "The same for files of one form."] = None
    profile_selection_inputs: Annotated[Mapping[str, object] | None, "What its profile was chosen by."] = None
    normalization_notes: Annotated[tuple[str, ...], "What was made of the file, in words."] = ()
    verdict: Annotated[
        Mapping[str, object] | None, "A summary of the validation; all of it is in the bucket."
    ] = None
    overrides: Annotated[Mapping[str, str] | None, "A reviewer's values in place of the file's."] = None
    raw_s3_bucket: Annotated[str | None, "Where the raw file is.", NOT_SHOWN] = None
    raw_s3_key: Annotated[str | None, "Where the raw file is.", NOT_SHOWN] = None
    derived_s3_bucket: Annotated[str | None, "Where what was made of it is.", NOT_SHOWN] = None
    derived_s3_prefix: Annotated[str | None, "Of the spectrum, its metadata, its plot.", NOT_SHOWN] = None
    moved_from: Annotated[
        tuple[NovaId, ...] | None, "Novae that it came from by merging, in order.", NOT_SHOWN
    ] = None

    @property
    def key(self) -> keys.Key:
        """Its key in the table."""
        return keys.spectrum(self.nova_id, self.provider, self.data_product_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatorAlias(Record):
    """Which product an identity at a provider means: the authority on sameness."""

    PLACE: ClassVar = Place(keys.locator_alias, "discovery and donate, once")

    provider: Annotated[Provider, "The provider."]
    locator_identity: Annotated[LocatorIdentity, "The identity."]
    data_product_id: Annotated[NovaId, "The product."]
    nova_id: Annotated[NovaId, "Its nova."]
    identity_kind: Annotated[IdentityKind, "Of the identity that the product was made from."]
    created_at: Annotated[datetime, "When it was written."]
    updated_at: Annotated[datetime, "The same."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint(Record):
    """A product whose bytes have a digest."""

    PLACE: ClassVar = Place(keys.fingerprint, "acquisition")

    sha256: Annotated[Sha256, "The digest."]
    data_product_id: Annotated[NovaId, "The product."]
    nova_id: Annotated[NovaId, "Its nova."]
    provider: Annotated[Provider, "Its provider."]
    created_at: Annotated[datetime, "When it was written."]
    updated_at: Annotated[datetime, "The same."]


@dataclass(frozen=True, slots=True, kw_only=True)
class FingerprintOwner(Fingerprint):
    """The one product that is valid with these bytes; all others are its duplicates."""

    PLACE: ClassVar = Place(keys.fingerprint_owner, "acquisition, before a spectrum becomes valid")
