"""Which providers are asked for spectra, and how: a list in the table, or else the built-in one.

A further service of a protocol that is spoken here needs an entry in that list and no change of code; a
further protocol needs an adapter and a line in `_ADAPTERS`. No state machine names a provider.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from sourcebook.bucket.objects import Objects
from sourcebook.clock import Clock, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.http.client import HttpClient
from sourcebook.novae.coordinates import UNSURE_WITHIN
from sourcebook.novae.resolvers.archive import Archive
from sourcebook.records.spectrum import PROVIDER_PATTERN
from sourcebook.spectra.products import DONATION
from sourcebook.spectra.providers.donation import Donations
from sourcebook.spectra.providers.eso import Eso
from sourcebook.spectra.providers.mast import Mast
from sourcebook.spectra.providers.provider import ArchiveProvider, Provider
from sourcebook.spectra.providers.ssa import Ssa
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.validation import first_wrong

PROVIDERS_AT_MOST: Final = 20


class Protocol(StrEnum):
    """The protocol of a provider."""

    ESO = "eso"
    MAST = "mast"
    SSA = "ssa"
    DONATION = "donation"


_ADAPTERS: Final[Mapping[Protocol, type[ArchiveProvider]]] = {
    Protocol.ESO: Eso,
    Protocol.MAST: Mast,
    Protocol.SSA: Ssa,
}

Url = Annotated[str, Field(pattern=r"^https?://\S+$", max_length=500)]


class ProviderSpec(BaseModel):
    """One provider of spectra.

    Attributes:
        provider: its name in keys and answers; once used it stays.
        addresses: of its search service, the mirrors after the first.
        files: where its files are, for protocols that do not give whole addresses.
        radius_arcsec: how far from the nova's position its spectra may be. Ten arcseconds are what the
            catalogue takes for "perhaps the same nova"; the nearest two known novae are 106 apart.
        enabled: whether it is asked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider: str = Field(pattern=PROVIDER_PATTERN, examples=["ESO"])
    protocol: Protocol
    addresses: tuple[Url, ...] = Field(default=(), max_length=5)
    files: Url | None = None
    radius_arcsec: float = Field(default=UNSURE_WITHIN, gt=0, le=50)
    enabled: bool = True

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.protocol is Protocol.DONATION) != (self.provider == DONATION):
            raise ValueError(f"the provider {DONATION} and the protocol donation belong together")
        if self.protocol is not Protocol.DONATION and not self.addresses:
            raise ValueError("addresses: at least one is needed")
        if self.protocol in {Protocol.ESO, Protocol.MAST} and self.files is None:
            raise ValueError(f"files: {self.protocol.value} needs the address of its files")
        return self


BUILT_IN: Final = (
    ProviderSpec(
        provider="ESO",
        protocol=Protocol.ESO,
        addresses=("https://archive.eso.org/tap_obs/sync",),
        files="https://dataportal.eso.org/dataPortal/file",
    ),
    ProviderSpec(
        provider="MAST",
        protocol=Protocol.MAST,
        addresses=("https://mast.stsci.edu/api/v0/invoke",),
        files="https://mast.stsci.edu/api/v0.1/Download/file",
    ),
    ProviderSpec(
        provider="BESS", protocol=Protocol.SSA, addresses=("http://basebe.obspm.fr/cgi-bin/ssapBE.pl",)
    ),
    ProviderSpec(provider=DONATION, protocol=Protocol.DONATION),
)
"""Who is asked when the table says nothing else."""

_LIST: Final = TypeAdapter(Annotated[tuple[ProviderSpec, ...], Field(max_length=PROVIDERS_AT_MOST)])


def all_providers(table: Table) -> Sequence[ProviderSpec]:
    """Return the providers, those that are switched off too.

    Raises:
        InvalidInput: if the table's list is not one; it is put right with `set_providers`.
    """
    settings = table.get(keys.SPECTRA_PROVIDERS)
    return BUILT_IN if settings is None else read_providers(settings.get("providers"))


def providers(table: Table) -> Sequence[ProviderSpec]:
    """Return the providers that are asked.

    Raises:
        InvalidInput: if the table's list is not one.
    """
    return [spec for spec in all_providers(table) if spec.enabled]


def read_providers(entries: object) -> tuple[ProviderSpec, ...]:
    """Read a list of providers.

    Raises:
        InvalidInput: naming the first entry and field that is wrong, or the provider that stands twice.
    """
    try:
        specs = _LIST.validate_json(json.dumps(entries, default=float))
    except ValidationError as error:
        raise first_wrong(error, "providers") from error
    except TypeError as error:
        raise InvalidInput("providers", entries, "a list of providers") from error
    names = [spec.provider for spec in specs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidInput("providers", twice, "each provider once")
    return specs


def set_providers(table: Table, specs: Sequence[ProviderSpec]) -> None:
    """Set the providers and their addresses, such as a mirror or a service on this machine.

    Raises:
        InvalidInput: if one of them stands twice.
    """
    entries = [spec.model_dump(mode="json", exclude_none=True) for spec in specs]
    read_providers(entries)
    table.put(
        {
            **keys.SPECTRA_PROVIDERS,
            "entity_type": "SpectraProviders",
            "schema_version": "1",
            "providers": entries,
        }
    )


def provider_spec(table: Table, name: str) -> ProviderSpec:
    """Return the provider with this name.

    Raises:
        InvalidInput: if none that is asked has it.
    """
    found: Mapping[str, ProviderSpec] = {spec.provider: spec for spec in providers(table)}
    if name not in found:
        raise InvalidInput("provider", name, f"one of {', '.join(sorted(found))}")
    return found[name]


def open_provider(
    spec: ProviderSpec,
    *,
    http: HttpClient,
    table: Table,
    objects: Objects,
    nova_id: str,
    clock: Clock = utc_now,
    **archive: Any,  # noqa: ANN401 - what Archive takes besides
) -> Provider:
    """Return what speaks to a provider, for one nova."""
    if spec.protocol is Protocol.DONATION:
        return Donations(objects, nova_id, clock)
    return _ADAPTERS[spec.protocol](
        Archive(spec.provider.lower(), http, table, clock, **archive), spec.addresses, spec.files or ""
    )
