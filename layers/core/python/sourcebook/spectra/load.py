"""The first task of an acquisition: decide whether the spectrum is to be acquired now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput, Terminal
from sourcebook.novae.whereabouts import find_product, root_of
from sourcebook.records.quarantine import ReviewStatus
from sourcebook.records.spectrum import Eligibility, SpectrumProduct, ValidationStatus
from sourcebook.spectra.messages import AboutSpectrum, LoadDecision, Loaded, LoadSpectrum
from sourcebook.spectra.products import eligible_attributes
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table

LEASE: Final = timedelta(hours=1)
"""How long a claimed spectrum is due for no other run: twice the longest run."""


class NoSuchSpectrum(Terminal):
    """The nova has no spectrum with this id."""


def find_spectrum(
    table: Table, nova_id: str, data_product_id: str, provider: str | None = None
) -> SpectrumProduct:
    """Return a spectrum as it is now.

    Without its `provider` the spectra of the nova are looked through. A nova that was merged since leads on.

    Raises:
        NoSuchSpectrum: if there is none.
    """
    if provider is not None:
        item = find_product(table, nova_id, provider, data_product_id)
    else:
        found = table.items_of(root_of(table, nova_id), keys.SPECTRA_PREFIX, consistent=True)
        item = next((item for item in found if item["SK"].endswith(f"#{data_product_id}")), None)
    if item is None:
        raise NoSuchSpectrum(
            f"nova {nova_id} has no spectrum {data_product_id}; GET /novae/{nova_id}/products lists them"
        )
    return SpectrumProduct.of_item(item)


def about(product: SpectrumProduct) -> AboutSpectrum:
    """Return what the later tasks of a run need of a spectrum."""
    return AboutSpectrum(
        locator_identity=product.locator_identity,
        provider_product_id=product.provider_product_id,
        title=product.title,
        hints=product.hints,
        overrides=product.overrides or {},
    )


@dataclass(frozen=True, slots=True)
class SpectrumLoader:
    """Decides whether a spectrum is to be acquired."""

    table: Table
    clock: Clock = utc_now

    def load(self, request: LoadSpectrum) -> Loaded:
        """Return the decision. A spectrum whose new try a person has approved leaves quarantine here.

        Raises:
            NoSuchSpectrum: if there is none.
            InvalidInput: if the case is another spectrum's, or its new try is not approved.
        """
        product = find_spectrum(self.table, request.nova_id, request.data_product_id, request.provider)
        if request.quarantine_id is not None:
            product = self._released(product, request.quarantine_id)
        decision = self._decide(product)
        if decision is LoadDecision.SKIPPED_BACKOFF:
            self._due_again(product)
        return Loaded(
            decision=decision,
            provider=product.provider,
            validation_status=product.validation_status.value,
            attempt_count=product.attempt_count,
            next_eligible_attempt_at=product.next_eligible_attempt_at,
        )

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
        overrides: Mapping[str, str] = case.get("overrides") or {}
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
                    "overrides": {**(product.overrides or {}), **overrides} or None,
                    "next_eligible_attempt_at": None,
                    "updated_at": isoformat(now),
                },
                condition=Attr("validation_status").eq(ValidationStatus.QUARANTINED.value)
                & Attr("quarantine_id").eq(quarantine_id),
            )
        except ConditionFailed as found:
            item = found.item or {}
        return SpectrumProduct.of_item(item)

    def _due_again(self, product: SpectrumProduct) -> None:
        """Restore the due time in the index of a spectrum that was claimed too early."""
        # One that is no longer as it was read is left alone: whoever changed it has set its time.
        self.table.change_if(
            Attr("eligibility").eq(Eligibility.ACQUIRE.value)
            & Attr("next_eligible_attempt_at").eq(isoformat(product.next_eligible_attempt_at))  # type: ignore[arg-type]
            & Attr("status").exists(),
            product.key,
            assign={"timestamp": eligible_attributes(product)["timestamp"]},
        )
