"""Setting a spectrum aside for a person, with the file and all there is to decide by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sourcebook.catalog.files import Files
from sourcebook.catalog.load_spectrum import find_spectrum
from sourcebook.catalog.products import SpectrumProduct
from sourcebook.catalog.quarantine import Quarantiner
from sourcebook.clock import isoformat
from sourcebook.runs.errors import Held
from sourcebook.runs.tasks import TaskRun

_MOST_NOTES = 10


@dataclass(frozen=True, slots=True)
class SpectrumHolder:
    """Sets spectra aside."""

    quarantiner: Quarantiner
    files: Files

    def hold(
        self, nova_id: str, data_product_id: str, provider: str, found: Mapping[str, Any], run: TaskRun
    ) -> dict[str, Any]:
        """Open a case for a spectrum, or count the one that is open.

        Args:
            nova_id: the nova.
            data_product_id: the spectrum.
            provider: where it is from.
            found: what acquisition and examination have answered, under ``acquisition`` and ``examination``.
            run: of which this is a task.

        Returns:
            ``quarantine_id``, ``reason_code``, whether it is ``new``, and the ``prefix`` in the bucket under
            which the file and its context are.
        """
        product = find_spectrum(self.quarantiner.table, nova_id, data_product_id, provider)
        moment = isoformat(self.quarantiner.clock(), "milliseconds").replace(":", "")
        prefix = f"quarantine/spectra/{nova_id}/{data_product_id}/{moment}/"
        acquisition = found["acquisition"]
        if "key" in acquisition:
            self.files.duplicate(acquisition["key"], f"{prefix}primary.fits")
        answer = self.quarantiner.hold(
            run,
            _held(product, found),
            subject=data_product_id,
            nova_id=nova_id,
            retry_input={"nova_id": nova_id, "data_product_id": data_product_id, "provider": provider},
            folder=prefix,
        )
        return {**answer, "prefix": prefix}


def _held(product: SpectrumProduct, found: Mapping[str, Any]) -> Held:
    about: dict[str, Any] = {
        "data_product_id": product.data_product_id,
        "provider": product.provider,
        "locator_identity": product.locator_identity,
        "title": product.title,
        "hints": dict(product.hints),
        "sha256": found["acquisition"].get("sha256"),
        "byte_length": found["acquisition"].get("byte_length"),
        "overrides_given": dict(product.overrides or {}),
    }
    if "unsure" in found["acquisition"]:
        unsure = found["acquisition"]["unsure"]
        return Held(unsure["reason_code"], unsure["message"], _present(about | unsure["context"]))
    verdict = found["examination"]["verdict"]
    said = {name: value for name, value in verdict.items() if name not in {"outcome", "reason", "message"}}
    said["normalization_notes"] = list(verdict["normalization_notes"])[:_MOST_NOTES]
    return Held(verdict["reason"], verdict["message"], _present(about | {"verdict": said}))


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, {}, [], "")}
