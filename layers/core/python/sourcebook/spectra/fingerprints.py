"""Digests of spectra: of all with the same bytes, one is valid and the others are duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import Clock, utc_now
from sourcebook.errors import Retryable
from sourcebook.novae.whereabouts import find_product
from sourcebook.records.spectrum import (
    Eligibility,
    Fingerprint,
    FingerprintOwner,
    SpectrumProduct,
    ValidationStatus,
)
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table

FingerprintT = TypeVar("FingerprintT", bound=Fingerprint)


class OwnerUnsettled(Retryable):
    """Another spectrum with the same bytes is just becoming valid, or will when it is tried again."""


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Digests of spectra's bytes, and whose they are."""

    table: Table
    clock: Clock = utc_now

    def valid_owner(self, sha256: str, data_product_id: str) -> str | None:
        """Return the id of another spectrum that is valid with these bytes, or None."""
        there = self.table.get(keys.fingerprint_owner(sha256), consistent=True)
        if there is None or there["data_product_id"] == data_product_id:
            return None
        owner = self._product_of(there)
        return str(there["data_product_id"]) if _is_valid_with(owner, sha256) else None

    def note(self, product: SpectrumProduct, sha256: str) -> None:
        """Remember that a spectrum's bytes have this digest."""
        made = self._of(Fingerprint, product, sha256)
        self.table.create(made.to_item(keys.fingerprint(sha256, product.data_product_id)))

    def claim(self, product: SpectrumProduct, sha256: str) -> str | None:
        """Claim the bytes of a spectrum, if no other spectrum has.

        Call it when the bytes have been found valid, before the spectrum is recorded as such.

        Returns:
            None if it is, otherwise the id of the one that was before.

        Raises:
            OwnerUnsettled: if another has claimed them and is not valid yet.
        """
        row = self._of(FingerprintOwner, product, sha256).to_item(keys.fingerprint_owner(sha256))
        there = self.table.create(row)
        if there is None or there["data_product_id"] == product.data_product_id:
            return None
        owner = self._product_of(there)
        if _is_valid_with(owner, sha256):
            return str(there["data_product_id"])
        if owner is not None and owner.get("eligibility") == Eligibility.ACQUIRE.value:
            raise OwnerUnsettled(
                f"the spectrum {there['data_product_id']} has the same bytes and is not settled yet"
            )
        # The one that had claimed them came to another end, with other bytes: they are free.
        try:
            self.table.put(row, Attr("data_product_id").eq(there["data_product_id"]))
        except ConditionFailed as found:
            raise OwnerUnsettled("another spectrum with the same bytes has come first just now") from found
        return None

    def _of(self, kind: type[FingerprintT], product: SpectrumProduct, sha256: str) -> FingerprintT:
        now = self.clock()
        return kind(
            sha256=sha256,
            data_product_id=product.data_product_id,
            nova_id=product.nova_id,
            provider=product.provider,
            created_at=now,
            updated_at=now,
        )

    def _product_of(self, owner: dict[str, Any]) -> dict[str, Any] | None:
        return find_product(self.table, owner["nova_id"], owner["provider"], owner["data_product_id"])


def _is_valid_with(product: dict[str, Any] | None, sha256: str) -> bool:
    return (
        product is not None
        and product.get("validation_status") == ValidationStatus.VALID.value
        and product.get("sha256") == sha256
    )
