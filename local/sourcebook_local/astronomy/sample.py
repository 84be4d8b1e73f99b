"""Points a deployed stack to the simulated archives of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sourcebook.novae.resolvers.archive import set_addresses
from sourcebook.spectra.products import DONATION
from sourcebook.spectra.providers.registry import Protocol, ProviderSpec, set_providers
from sourcebook_local.astronomy.services import ADS_TOKEN, PREFIX, addresses
from sourcebook_local.astronomy.spectra.archives import ESO_FILE, ESO_TAP, MAST_API, MAST_FILE, SSA_QUERY

if TYPE_CHECKING:
    import boto3.session

    from sourcebook.table.client import Table

ADS_SECRET: Final = "sourcebook/ads"  # noqa: S105 - the name of a secret


def sample_providers(base_url: str) -> list[ProviderSpec]:
    """Return the providers of spectra on this machine, given the sample server's address."""
    base = f"{base_url.rstrip('/')}{PREFIX}"
    return [
        ProviderSpec(
            provider="ESO",
            protocol=Protocol.ESO,
            addresses=(f"{base}{ESO_TAP}",),
            files=f"{base}{ESO_FILE.rstrip('/')}",
        ),
        ProviderSpec(
            provider="MAST",
            protocol=Protocol.MAST,
            addresses=(f"{base}{MAST_API}",),
            files=f"{base}{MAST_FILE}",
        ),
        ProviderSpec(provider="BESS", protocol=Protocol.SSA, addresses=(f"{base}{SSA_QUERY}",)),
        ProviderSpec(provider=DONATION, protocol=Protocol.DONATION),
    ]


def use_sample_archives(table: Table, session: boto3.session.Session, base_url: str) -> None:
    """Point the stack's archives to the sample server, and store the token that it takes."""
    set_addresses(table, addresses(base_url))
    set_providers(table, sample_providers(base_url))
    session.client("secretsmanager").put_secret_value(SecretId=ADS_SECRET, SecretString=ADS_TOKEN)
