"""Requests and results of the tasks of novae and of publications about them.

Free of pydantic, since the API loads the workflows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from sourcebook.messages import Message, TaskRequest, TaskResult
from sourcebook.novae.resolvers.identity import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class OneNova(TaskResult):
    """The nova that was meant.

    Attributes:
        normalized: the name that was asked for, as it is looked up.
        name: its primary name, when it was asked for by its id.
    """

    match: Literal["ONE"] = "ONE"
    nova_id: str
    normalized: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeInto(TaskResult):
    """The nova that a person has chosen for the name."""

    match: Literal["MERGE"] = "MERGE"
    nova_id: str
    normalized: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoNova(TaskResult):
    """No nova has this name."""

    match: Literal["NONE"] = "NONE"
    normalized: str


FoundNova: TypeAlias = OneNova | MergeInto | NoNova


@dataclass(frozen=True, slots=True, kw_only=True)
class FindNova(TaskRequest):
    """Asks for a nova by its id, or else by a name.

    Attributes:
        quarantine_id: the case of that name that a person has cleared.
    """

    function = "find_nova"
    results = (OneNova, MergeInto, NoNova)
    nova_id: str | None = None
    name: str | None = None
    quarantine_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved(TaskResult):
    """The object that the archives know under a name."""

    found: Literal[True] = True
    identity: Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved(TaskResult):
    """Every archive that was asked knows nothing under a name."""

    found: Literal[False] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveName(TaskRequest):
    """Asks the archives what is meant by a name.

    Attributes:
        authority: the only one to ask.
        fresh: whether they are asked even when an answer is kept.
    """

    function = "resolve_name"
    results = (Resolved, Unresolved)
    name: str
    authority: str | None = None
    fresh: bool = False


class CandidateOutcome(StrEnum):
    """The outcome of a candidate."""

    CREATED = "CREATED"
    EXISTS = "EXISTS"
    NOT_A_CLASSICAL_NOVA = "NOT_A_CLASSICAL_NOVA"


@dataclass(frozen=True, slots=True)
class Established(TaskResult):
    """The outcome of a candidate, and the nova that it is a name of."""

    outcome: CandidateOutcome
    nova_id: str | None = None
    separation_arcsec: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EstablishNova(TaskRequest):
    """Asks for what the archives know to be made a nova, or one that is known.

    Attributes:
        identity: from the archives; None only if a person has decided which nova it is.
        quarantine_id: the case that a person has cleared.
    """

    function = "establish_nova"
    results = (Established,)
    name: str
    identity: Identity | None = None
    quarantine_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldCase(TaskResult):
    """The case that waits for a person.

    Attributes:
        new: whether it was opened just now.
    """

    quarantine_id: str
    reason_code: str
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldForReview(TaskRequest):
    """Asks for what the last task of the run could not decide to be set aside.

    Attributes:
        retry_input: what to start the workflow with when a new try is approved.
    """

    function = "hold_for_review"
    results = (HeldCase,)
    retry_input: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(TaskResult):
    """A nova that may be ingested for."""

    nova_id: str
    photometry_table_created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareNova(TaskRequest):
    """Asks for what a nova needs before anything is ingested for it."""

    function = "prepare_nova"
    results = (Prepared,)
    nova_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorityAnswer(Message):
    """The answer of one authority on a name.

    Attributes:
        status: OK, or the trouble.
        identity: None if it knows nothing under that name.
    """

    authority: str
    status: str
    identity: Identity | None = None


class NameOutcome(StrEnum):
    """Whether a nova's names were changed."""

    UPDATED = "UPDATED"
    NO_CHANGE = "NO_CHANGE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled(TaskResult):
    """A nova's names, held against the authorities.

    Attributes:
        authorities: those that could be asked.
    """

    outcome: NameOutcome
    names_added: int
    primary_name: str
    authorities: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileNames(TaskRequest):
    """Asks for a nova's names to be brought to what the authorities say."""

    function = "reconcile_names"
    results = (Reconciled,)
    nova_id: str
    answers: tuple[AuthorityAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencesFetched(TaskResult):
    """The publications that ADS has on a nova.

    Attributes:
        chunks: keys of the documents in the bucket that they are in.
        truncated: whether some were left out.
    """

    chunks: tuple[str, ...]
    found: int
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchReferences(TaskRequest):
    """Asks for the publications on a nova."""

    function = "fetch_references"
    results = (ReferencesFetched,)
    nova_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencesStored(TaskResult):
    """Counts of the publications of one chunk."""

    created: int
    updated: int
    unchanged: int
    quarantined: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreReferences(TaskRequest):
    """Asks for the publications of one chunk to be stored.

    Attributes:
        key: of the chunk in the bucket.
    """

    function = "store_references"
    results = (ReferencesStored,)
    nova_id: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryDated(TaskResult):
    """The date of a nova's discovery, and whether it was changed."""

    discovery_date: str | None
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DateDiscovery(TaskRequest):
    """Asks when a nova was discovered, by its publications."""

    function = "date_discovery"
    results = (DiscoveryDated,)
    nova_id: str
