"""Have a deployed stack ask the archives that this machine plays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sourcebook.catalog.adapters.archive import set_addresses
from sourcebook_local.astronomy.services import ADS_TOKEN, addresses

if TYPE_CHECKING:
    import boto3.session

    from sourcebook.table.client import Table

ADS_SECRET: Final = "sourcebook/ads"  # noqa: S105 - the name of a secret


def use_sample_archives(table: Table, session: boto3.session.Session, base_url: str) -> None:
    """Point the stack's archives to the sample server, and give it the token that this one takes."""
    set_addresses(table, addresses(base_url))
    session.client("secretsmanager").put_secret_value(SecretId=ADS_SECRET, SecretString=ADS_TOKEN)
