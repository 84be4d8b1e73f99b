"""What the catalogue keeps in the table, each kind of item with its rules.

The items' fields are those of the nova item model; where it is silent or contradicts itself,
docs/decisions/0090-novae-and-runs.md says what was chosen.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sourcebook.events import UtcDatetime
from sourcebook.novae.coordinates import Position
from sourcebook.novae.names import NAME_LIMIT
from sourcebook.records.quarantine import QuarantineReason
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.table import keys
from sourcebook.validation import first_wrong

NAMESPACE: Final = uuid.UUID("5b0d2d0c-7a4e-5d1f-9f0b-0c6f6a3a9a11")
"""Of every uuid5 of the catalogue. Changing it makes every nova another one."""

Uuid = Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
Name = Annotated[str, Field(min_length=1, max_length=NAME_LIMIT)]
PartialDate = Annotated[
    str, Field(pattern=r"^\d{4}-(0[1-9]|1[0-2])-(0\d|[12]\d|3[01])$", examples=["2012-06-00"])
]
"""A day, or with day 00 a month: that is how astronomy writes "in June 2012"."""
PartialTime = Annotated[str, Field(pattern=r"^\d{4}(-\d{2}(-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z)?)?)?$")]
"""ISO 8601, as precise as is known: a year, a month, a day, or a time in UTC."""


class NovaStatus(StrEnum):
    """Whether a nova counts."""

    ACTIVE = "ACTIVE"
    MERGED = "MERGED"
    DEPRECATED = "DEPRECATED"


class NameKind(StrEnum):
    """What a name is to its nova."""

    PRIMARY = "PRIMARY"
    ALIAS = "ALIAS"


class NameSource(StrEnum):
    """Who said the name."""

    USER_INPUT = "USER_INPUT"
    INGESTION = "INGESTION"
    SIMBAD = "SIMBAD"
    TNS = "TNS"
    OTHER = "OTHER"


SOURCES: Final = {"simbad": NameSource.SIMBAD, "tns": NameSource.TNS}
"""Where a name comes from, by the archive that has it."""


class ReferenceRole(StrEnum):
    """What a publication is to a nova."""

    DISCOVERY = "DISCOVERY"
    SPECTRA_SOURCE = "SPECTRA_SOURCE"
    PHOTOMETRY_SOURCE = "PHOTOMETRY_SOURCE"
    OTHER = "OTHER"


class Record(BaseModel):
    """What every item has."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: Literal["1"] = SCHEMA_VERSION
    created_at: UtcDatetime
    updated_at: UtcDatetime

    def attributes(self) -> dict[str, Any]:
        """Return the item's attributes without its key; what is absent (None) is left out."""
        return self.model_dump(mode="json", exclude_none=True)


class Nova(Record):
    """`<nova_id>` / `NOVA`: one nova.

    Attributes:
        ra_deg: right ascension, ICRS, degrees; of a resolver, never read from a designation.
        dec_deg: declination, ICRS, degrees.
        discovery_date: of the earliest publication; day 00 when only the month is known.
        merged_into: the nova that this one turned out to be.
        status_reason: why it is merged or deprecated.
        identity: what its id was made from, e.g. ``simbad:v* v1324 sco``.
        created_by: workflow and job run that made it.
    """

    entity_type: Literal["Nova"] = "Nova"
    nova_id: Uuid
    primary_name: Name
    primary_name_normalized: Name
    ra_deg: float | None = None
    dec_deg: float | None = None
    coord_frame: str | None = None
    coord_epoch: str | None = None
    discovery_date: PartialDate | None = None
    status: NovaStatus = NovaStatus.ACTIVE
    merged_into: Uuid | None = None
    status_reason: str | None = Field(default=None, max_length=1_000)
    identity: str | None = None
    object_type: str | None = None
    created_by: Mapping[str, str] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.ra_deg is None) != (self.dec_deg is None):
            raise ValueError("ra_deg and dec_deg belong together")
        if self.ra_deg is not None and self.dec_deg is not None:
            Position(self.ra_deg, self.dec_deg)
        if (self.status is NovaStatus.MERGED) != (self.merged_into is not None):
            raise ValueError("merged_into says where a MERGED nova went, and stands with that status only")
        return self

    @property
    def position(self) -> Position | None:
        """Where it is, if known."""
        return None if self.ra_deg is None or self.dec_deg is None else Position(self.ra_deg, self.dec_deg)


class NameMapping(Record):
    """`NAME#<normalized>` / `NOVA#<nova_id>`, and the same in the nova's own partition.

    One that came by merging says in `moved_from` from which nova, the last one last.

    "Nova Sgr 2012 No. 2" also stands under "Nova Sgr 2012", as one of several. A name that an earlier version
    normalized in another way is readable until `sourcebook migrate` moves it; `sourcebook verify` reports it.
    """

    entity_type: Literal["NameMapping"] = "NameMapping"
    name_raw: Name
    name_normalized: Name
    name_kind: NameKind
    nova_id: Uuid
    source: NameSource
    moved_from: tuple[Uuid, ...] | None = None


class PhotometryTable(Record):
    """`<nova_id>` / `PRODUCT#PHOTOMETRY_TABLE`: the one table of a nova's photometry.

    Attributes:
        s3_key: of the Parquet object; None before the first upload.
        points_s3_key: of its twin for the API.
        table_schema_version: of the table's columns.
        row_count: measurements in it; `bands` counts them by band.
        ingestion_count: uploads in it.
        last_ingested_file_id: SHA-256 of the last of them.
    """

    entity_type: Literal["DataProduct"] = "DataProduct"
    data_product_id: Uuid
    nova_id: Uuid
    product_type: Literal["PHOTOMETRY_TABLE"] = "PHOTOMETRY_TABLE"
    s3_bucket: str | None = None
    s3_key: str | None = None
    points_s3_key: str | None = None
    table_schema_version: str | None = None
    table_etag: str | None = None
    table_revision: int | None = None
    row_count: int | None = Field(default=None, ge=0)
    bands: Mapping[str, int] | None = None
    mjd_min: float | None = None
    mjd_max: float | None = None
    last_ingestion_at: UtcDatetime | None = None
    last_ingestion_source: str | None = None
    ingestion_count: int = Field(default=0, ge=0)
    last_ingested_file_id: str | None = None
    last_ingested_object_etag: str | None = None


class Reference(Record):
    """`<nova_id>` / `REF#<reference_id>`: a publication."""

    entity_type: Literal["Reference"] = "Reference"
    reference_id: Uuid
    source: str = Field(min_length=1, max_length=20)
    source_identifier: str = Field(min_length=1, max_length=100)
    published_at: PartialTime | None = None
    title: str | None = Field(default=None, max_length=500)
    authors: tuple[str, ...] = Field(default=(), max_length=10)
    author_count: int | None = Field(default=None, ge=0)


class NovaReference(Record):
    """`<nova_id>` / `NOVAREF#<reference_id>`: what a publication is to the nova."""

    entity_type: Literal["NovaReference"] = "NovaReference"
    reference_id: Uuid
    role: ReferenceRole
    added_by_workflow: str = Field(min_length=1)


RecordT = TypeVar("RecordT", bound=Record)


def read_record(model: type[RecordT], item: Mapping[str, Any]) -> RecordT:
    """Read an item.

    Raises:
        InvalidInput: naming the first field that is wrong.
    """
    try:
        return model.model_validate(item)
    except ValidationError as error:
        raise first_wrong(error, model.__name__) from error


def nova_item(nova: Nova) -> dict[str, Any]:
    """Return the item of a nova, with its place in the list of novae."""
    place = keys.listed_nova(nova.primary_name_normalized, nova.nova_id)
    return {**keys.nova(nova.nova_id), **nova.attributes(), **place}


def nova_id_for(identity: str) -> str:
    """Return the id of the nova with this identity: the same for whoever meets it first, however often."""
    return str(uuid.uuid5(NAMESPACE, f"nova:{identity}"))


def photometry_id_for(nova_id: str) -> str:
    """Return the id of a nova's photometry table."""
    return str(uuid.uuid5(NAMESPACE, f"photometry:{nova_id}"))


def reference_id_for(source: str, source_identifier: str) -> str:
    """Return the id of a publication, e.g. of ``ADS`` and its bibcode."""
    return str(uuid.uuid5(NAMESPACE, f"reference:{source}:{source_identifier}"))


def quarantine_id_for(workflow: str, subject: str, reason: QuarantineReason) -> str:
    """Return the id of a quarantine: the same trouble with the same subject is one case, not many."""
    return str(uuid.uuid5(NAMESPACE, f"quarantine:{workflow}:{subject}:{reason.value}"))
