"""Requests and results of the tasks that find and sweep spectra. Free of pydantic, as the API is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sourcebook.messages import Message, TaskRequest, TaskResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedSpectrum(Message):
    """A spectrum that is the caller's to run for an hour.

    Attributes:
        name: of its execution: the same spectrum, due at the same time, has the same.
    """

    name: str
    nova_id: str
    data_product_id: str
    provider: str


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
