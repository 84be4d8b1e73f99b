"""Requests and results of the tasks of publications. Free of pydantic, as the API is."""

from __future__ import annotations

from dataclasses import dataclass

from sourcebook.messages import TaskRequest, TaskResult


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
