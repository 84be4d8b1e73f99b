"""A nova: what it is, its names, and the publications about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Final, Self, TypeAlias

from sourcebook.errors import InvalidInput
from sourcebook.messages import SchemaRule
from sourcebook.records.base import NOT_SHOWN, Count, Place, Record
from sourcebook.schema import UUID
from sourcebook.table import keys

NAME_LIMIT: Final = 200
"""Characters of the longest name taken; SIMBAD's longest identifiers stay below 70."""

NovaId: TypeAlias = Annotated[str, SchemaRule({"format": "uuid", "pattern": f"^{UUID}$"})]
Name: TypeAlias = Annotated[str, SchemaRule({"minLength": 1, "maxLength": NAME_LIMIT})]
PartialDate: TypeAlias = Annotated[
    str, SchemaRule({"pattern": r"^\d{4}-(0[1-9]|1[0-2])-(0\d|[12]\d|3[01])$"})
]
"""A day, or with day 00 a month: that is how astronomy writes "in June 2012"."""
PartialTime: TypeAlias = Annotated[
    str, SchemaRule({"pattern": r"^\d{4}(-\d{2}(-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z)?)?)?$"})
]
"""ISO 8601, as precise as is known: a year, a month, a day, or a time in UTC."""
RightAscension: TypeAlias = Annotated[float, SchemaRule({"minimum": 0, "exclusiveMaximum": 360})]
Declination: TypeAlias = Annotated[float, SchemaRule({"minimum": -90, "maximum": 90})]


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
    """Where a name comes from."""

    USER_INPUT = "USER_INPUT"
    INGESTION = "INGESTION"
    SIMBAD = "SIMBAD"
    TNS = "TNS"
    OTHER = "OTHER"


class ReferenceRole(StrEnum):
    """What a publication is to a nova."""

    DISCOVERY = "DISCOVERY"
    SPECTRA_SOURCE = "SPECTRA_SOURCE"
    PHOTOMETRY_SOURCE = "PHOTOMETRY_SOURCE"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Nova(Record):
    """A nova of the catalogue: its name, place, discovery and status."""

    PLACE: ClassVar = Place(keys.nova, "initialize_nova; curate_nova", (keys.ELIGIBILITY_INDEX,))

    nova_id: Annotated[NovaId, "Its id, made of its identity."]
    primary_name: Annotated[Name, "The name that it goes by."]
    primary_name_normalized: Annotated[Name, "By which the list of novae is ordered.", NOT_SHOWN]
    ra_deg: Annotated[RightAscension | None, "Right ascension, from a resolver, never from a name."] = None
    dec_deg: Annotated[Declination | None, "Declination, from the same resolver."] = None
    coord_frame: Annotated[str | None, "Of the position: ICRS."] = None
    coord_epoch: Annotated[str | None, "Of the position: J2000."] = None
    discovery_date: Annotated[PartialDate | None, "Of the earliest publication; day 00 if not known."] = None
    status: Annotated[NovaStatus, "Whether it counts."] = NovaStatus.ACTIVE
    merged_into: Annotated[NovaId | None, "The nova that this one turned out to be."] = None
    status_reason: Annotated[str | None, "Why it is merged or deprecated."] = None
    identity: Annotated[str | None, "What its id was made from: `simbad:v* v1324 sco`.", NOT_SHOWN] = None
    object_type: Annotated[str | None, "What its archive takes it for."] = None
    created_by: Annotated[Mapping[str, str] | None, "Workflow and run that made it.", NOT_SHOWN] = None
    created_at: Annotated[datetime, "When it was made."]
    updated_at: Annotated[datetime, "When it was last changed."]

    @classmethod
    def of_json(cls, value: object, within: str = "") -> Self:
        """Return a nova, checked.

        Raises:
            InvalidInput: naming the first field that is missing or wrong.
        """
        nova = super(Nova, cls).of_json(value, within)
        if (nova.ra_deg is None) != (nova.dec_deg is None):
            raise InvalidInput("dec_deg", nova.dec_deg, "a declination with a right ascension, or neither")
        if (nova.status is NovaStatus.MERGED) != (nova.merged_into is not None):
            raise InvalidInput("merged_into", nova.merged_into, "where a MERGED nova went, and only of such")
        return nova


class MergeState(StrEnum):
    """How far a merge, or its undoing, has come."""

    MERGING = "MERGING"
    MERGED = "MERGED"
    SPLITTING = "SPLITTING"
    SPLIT = "SPLIT"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedNova(Record):
    """That another nova was merged into this one, or split from it again."""

    PLACE: ClassVar = Place(keys.merged_nova, "curate_nova")

    nova_id: Annotated[NovaId, "The one that stays."]
    merged_nova_id: Annotated[NovaId, "The one that was merged."]
    state: Annotated[MergeState, "How far it has come."]
    discovery_date_before: Annotated[
        PartialDate | None, "Of the one that stays, before it took over an earlier one."
    ] = None
    uploads: Annotated[tuple[str, ...], "The photometry that came with the merge, by `file_id`."] = ()
    reason: Annotated[Annotated[str, SchemaRule({"maxLength": 1_000})], "Why the last merge or split."]
    decided_by: Annotated[Annotated[str, SchemaRule({"maxLength": 200})] | None, "Who decided so."] = None
    job_run_id: Annotated[str | None, "The run that did it."] = None
    created_at: Annotated[datetime, "When they were first merged."]
    updated_at: Annotated[datetime, "When that last changed."]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameMapping(Record):
    """A name of a nova: the same in the partition of the name and in that of the nova.

    "Nova Sgr 2012 No. 2" also stands under "Nova Sgr 2012", as one of several. A name that an earlier version
    normalized in another way is readable until `sourcebook migrate` moves it; `sourcebook verify` reports it.
    """

    PLACE: ClassVar = Place(keys.nova_name, "initialize_nova; name_check_and_reconcile; curate_nova")

    name_raw: Annotated[Name, "As it was given."]
    name_normalized: Annotated[Name, "By which it is looked up."]
    name_kind: Annotated[NameKind, "What it is to its nova."]
    nova_id: Annotated[NovaId, "The nova."]
    source: Annotated[NameSource, "Where it comes from."]
    moved_from: Annotated[tuple[NovaId, ...] | None, "Novae that it came from by merging, in order."] = None
    created_at: Annotated[datetime, "When it was written."]
    updated_at: Annotated[datetime, "When it was last changed."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference(Record):
    """A publication about a nova."""

    PLACE: ClassVar = Place(keys.reference, "refresh_references")

    reference_id: Annotated[NovaId, "Its id, made of source and identifier."]
    source: Annotated[Annotated[str, SchemaRule({"minLength": 1, "maxLength": 20})], "Who described it: ADS."]
    source_identifier: Annotated[
        Annotated[str, SchemaRule({"minLength": 1, "maxLength": 100})], "Its id there: a bibcode.", NOT_SHOWN
    ]
    published_at: Annotated[PartialTime | None, "As precise as is known."] = None
    title: Annotated[Annotated[str, SchemaRule({"maxLength": 500})] | None, "Its title, shortened."] = None
    authors: Annotated[tuple[str, ...], "Its first ten authors."] = ()
    author_count: Annotated[Count | None, "How many authors it has."] = None
    created_at: Annotated[datetime, "When it was stored.", NOT_SHOWN]
    updated_at: Annotated[datetime, "When it was last changed.", NOT_SHOWN]


@dataclass(frozen=True, slots=True, kw_only=True)
class NovaReference(Record):
    """What a publication is to the nova."""

    PLACE: ClassVar = Place(keys.nova_reference, "refresh_references")

    reference_id: Annotated[NovaId, "The publication."]
    role: Annotated[ReferenceRole, "What it is to the nova."]
    added_by_workflow: Annotated[str, "The workflow that found it."]
    created_at: Annotated[datetime, "When it was stored."]
    updated_at: Annotated[datetime, "When it was last changed."]
