"""Quarantine a spectrum: keep its file and the facts for the reviewer, and open a case."""

from __future__ import annotations

from collections.abc import Mapping

from sourcebook.bucket.objects import Objects
from sourcebook.clock import isoformat
from sourcebook.errors import InvalidInput
from sourcebook.novae.quarantine import Quarantiner
from sourcebook.runs.errors import Held
from sourcebook.runs.tasks import TaskRun
from sourcebook.spectra.load import about, find_spectrum
from sourcebook.spectra.messages import AboutSpectrum, Acquired, HeldSpectrum, HoldSpectrum, Unsure

_MOST_NOTES = 10


def hold_spectrum(
    quarantiner: Quarantiner, objects: Objects, request: HoldSpectrum, run: TaskRun
) -> HeldSpectrum:
    """Open a case for a spectrum, or count the one that is open; return the case."""
    acquisition = request.found.acquisition
    handed_on = acquisition.spectrum if isinstance(acquisition, Acquired | Unsure) else None
    # An execution that began before acquisition handed it on reads it from the table.
    spectrum = handed_on or about(
        find_spectrum(quarantiner.table, request.nova_id, request.data_product_id, request.provider)
    )
    moment = isoformat(quarantiner.clock(), "milliseconds").replace(":", "")
    prefix = f"quarantine/spectra/{request.nova_id}/{request.data_product_id}/{moment}/"
    if isinstance(acquisition, Acquired):
        objects.duplicate(acquisition.key, f"{prefix}primary.fits")
    case = quarantiner.hold(
        run,
        _held(request, spectrum),
        subject=request.data_product_id,
        retry_input={
            "nova_id": request.nova_id,
            "data_product_id": request.data_product_id,
            "provider": request.provider,
        },
        folder=prefix,
    )
    return HeldSpectrum(
        quarantine_id=case.quarantine_id, reason_code=case.reason_code, new=case.new, prefix=prefix
    )


def _held(request: HoldSpectrum, spectrum: AboutSpectrum) -> Held:
    acquisition = request.found.acquisition
    facts: dict[str, object] = {
        "data_product_id": request.data_product_id,
        "provider": request.provider,
        "locator_identity": spectrum.locator_identity,
        "title": spectrum.title,
        "hints": dict(spectrum.hints),
        "overrides_given": dict(spectrum.overrides),
    }
    if isinstance(acquisition, Acquired):
        facts |= {"sha256": acquisition.sha256, "byte_length": acquisition.byte_length}
    if isinstance(acquisition, Unsure):
        doubt = acquisition.unsure
        return Held(doubt.reason_code, doubt.message, _present(facts | dict(doubt.context)))
    if request.found.examination is None:
        raise InvalidInput("found.examination", None, "the examination of what was acquired")
    verdict = request.found.examination.verdict
    seen = {n: v for n, v in verdict.to_json().items() if n not in {"outcome", "reason", "message"}}
    seen["normalization_notes"] = list(verdict.normalization_notes[:_MOST_NOTES])
    return Held(verdict.reason, verdict.message, _present(facts | {"verdict": seen}))


def _present(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value not in (None, {}, [], "")}
