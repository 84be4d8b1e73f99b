"""Whether a spectrum is to be acquired now: what a run of its workflow asks first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.catalog.model import ReviewStatus, read_record
from sourcebook.catalog.products import (
    Eligibility,
    SpectrumProduct,
    ValidationStatus,
    eligible_attributes,
)
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput, Terminal
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table

LEASE: Final = timedelta(hours=1)
"""How long a spectrum that somebody is at work on is not due for anybody else: twice the longest run."""


class NoSuchSpectrum(Terminal):
    """The nova has no spectrum with this id."""


class LoadDecision(StrEnum):
    """What is to be done; all but ACQUIRE end the run as outcomes of its own."""

    ACQUIRE = "ACQUIRE"
    SKIPPED_DUPLICATE = "SKIPPED_DUPLICATE"
    """It is valid already, or its bytes are those of one that is."""
    SKIPPED_BACKOFF = "SKIPPED_BACKOFF"
    """It may not be tried before `next_eligible_attempt_at`."""
    NOT_ELIGIBLE = "NOT_ELIGIBLE"
    """It waits for a person, or it has been found to be no spectrum."""


def find_spectrum(
    table: Table, nova_id: str, data_product_id: str, provider: str | None = None
) -> SpectrumProduct:
    """Return a spectrum as it is now.

    Without its `provider` the spectra of the nova are looked through.

    Raises:
        NoSuchSpectrum: if there is none.
    """
    if provider is not None:
        item = table.get(keys.spectrum(nova_id, provider, data_product_id), consistent=True)
    else:
        own = KeyCondition("PK").eq(nova_id) & KeyCondition("SK").begins_with(keys.SPECTRA_PREFIX)
        found = table.query_all(own, consistent=True)
        item = next((item for item in found if item["SK"].endswith(f"#{data_product_id}")), None)
    if item is None:
        raise NoSuchSpectrum(
            f"nova {nova_id} has no spectrum {data_product_id}; GET /novae/{nova_id}/products lists them"
        )
    return read_record(SpectrumProduct, item)


@dataclass(frozen=True, slots=True)
class SpectrumLoader:
    """Decides whether a spectrum is to be acquired."""

    table: Table
    clock: Clock = utc_now

    def load(
        self,
        nova_id: str,
        data_product_id: str,
        *,
        provider: str | None = None,
        quarantine_id: str | None = None,
    ) -> dict[str, Any]:
        """Return the decision, the provider, and what the decision was made by.

        Args:
            nova_id: the nova.
            data_product_id: the spectrum.
            provider: where it is from, when that is known.
            quarantine_id: the case whose new try a person has approved; the spectrum then leaves quarantine,
                with what that person said of it.

        Raises:
            NoSuchSpectrum: if there is none.
            InvalidInput: if the case is another spectrum's, or its new try is not approved.
        """
        product = find_spectrum(self.table, nova_id, data_product_id, provider)
        if quarantine_id is not None:
            product = self._released(product, quarantine_id)
        decision = self._decide(product)
        if decision is LoadDecision.SKIPPED_BACKOFF:
            self._due_again(product)
        due = product.next_eligible_attempt_at
        return {
            "decision": decision.value,
            "provider": product.provider,
            "validation_status": product.validation_status.value,
            "attempt_count": product.attempt_count,
            **({"next_eligible_attempt_at": isoformat(due)} if due else {}),
        }

    def _decide(self, product: SpectrumProduct) -> LoadDecision:
        if product.validation_status is ValidationStatus.VALID or product.duplicate_of is not None:
            return LoadDecision.SKIPPED_DUPLICATE
        if product.eligibility is Eligibility.NONE:
            return LoadDecision.NOT_ELIGIBLE
        due = product.next_eligible_attempt_at
        if due is not None and due > self.clock():
            return LoadDecision.SKIPPED_BACKOFF
        return LoadDecision.ACQUIRE

    def _released(self, product: SpectrumProduct, quarantine_id: str) -> SpectrumProduct:
        case = self.table.get(keys.quarantined(quarantine_id), consistent=True) or {}
        if case.get("retry_input", {}).get("data_product_id") != product.data_product_id:
            raise InvalidInput("quarantine_id", quarantine_id, "a case of this spectrum; see GET /quarantine")
        if case.get("manual_review_status") != ReviewStatus.CLEARED_RETRY_APPROVED:
            raise InvalidInput(
                "quarantine_id",
                quarantine_id,
                f"a case whose new try is approved; this one is {case.get('manual_review_status')}",
            )
        if (
            product.validation_status is not ValidationStatus.QUARANTINED
            or product.quarantine_id != quarantine_id
        ):
            return product  # this run is repeated, or another one has gone on since
        said: Mapping[str, str] = case.get("overrides") or {}
        now = self.clock()
        try:
            item = self.table.update(
                product.key,
                assign={
                    # Should this run be lost, a sweep finds the spectrum.
                    **eligible_attributes(product, now + LEASE),
                    "eligibility": Eligibility.ACQUIRE.value,
                    "validation_status": ValidationStatus.UNVALIDATED.value,
                    "manual_review_status": ReviewStatus.CLEARED_RETRY_APPROVED.value,
                    "overrides": {**(product.overrides or {}), **said} or None,
                    "next_eligible_attempt_at": None,
                    "updated_at": isoformat(now),
                },
                condition=Attr("validation_status").eq(ValidationStatus.QUARANTINED.value)
                & Attr("quarantine_id").eq(quarantine_id),
            )
        except ConditionFailed as found:
            item = found.item or {}
        return read_record(SpectrumProduct, item)

    def _due_again(self, product: SpectrumProduct) -> None:
        """Set right when the sweep finds it next, should it have been claimed before its time."""
        try:
            self.table.update(
                product.key,
                assign={"timestamp": eligible_attributes(product)["timestamp"]},
                condition=Attr("eligibility").eq(Eligibility.ACQUIRE.value)
                & Attr("next_eligible_attempt_at").eq(isoformat(product.next_eligible_attempt_at))  # type: ignore[arg-type]
                & Attr("status").exists(),
            )
        except ConditionFailed:
            return  # it is no longer as it was read: whoever changed it has set its time
