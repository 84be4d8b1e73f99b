"""Examining the file of a spectrum, and keeping what it says in one form for all of them.

The examination itself is `sourcebook.spectra`, which needs astropy; it is handed in by the one function that
has the science layer, so that this package can be imported without.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from sourcebook.catalog.files import LARGEST_FILE, Files
from sourcebook.catalog.load_spectrum import find_spectrum
from sourcebook.catalog.products import FileRole, SpectrumProduct
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput, Retryable
from sourcebook.runs.tasks import HandledFailure, TaskRun
from sourcebook.spectra.model import OVERRIDES, SpectrumOutcome, Verdict
from sourcebook.table.client import Table

ROLES: Mapping[str, FileRole] = {
    "metadata.json": FileRole.MANIFEST,
    "preview.png": FileRole.PLOT,
}
"""What a file that is made of a spectrum is to it; any other is the normalized spectrum itself."""


class FileChanged(Retryable):
    """The file in the bucket is no longer the one that this run has put there."""


class Checked(Protocol):
    """What `sourcebook.spectra.check.check` answers."""

    @property
    def verdict(self) -> Verdict:
        """What was found."""


_FAILED: Final[Mapping[str, str]] = {
    SpectrumOutcome.NOT_A_SPECTRUM_FILE: "NotASpectrumFile",
    SpectrumOutcome.TERMINAL_INVALID: "InvalidSpectrum",
}


def failure_in(examination: Mapping[str, Any]) -> HandledFailure | None:
    """Return what is wrong with a file, of what `SpectrumValidator.validate` has answered."""
    verdict = examination["verdict"]
    if verdict["outcome"] not in _FAILED:
        return None
    return HandledFailure(_FAILED[verdict["outcome"]], f"{verdict['reason']}: {verdict['message']}")


Check: TypeAlias = Callable[..., Checked]
"""`sourcebook.spectra.check.check`."""
Artifacts: TypeAlias = Callable[..., Mapping[str, tuple[bytes, str]]]
"""`sourcebook.spectra.artifacts.artifacts`: content and content type by name."""


@dataclass(frozen=True, slots=True)
class SpectrumValidator:
    """Examines files in the bucket.

    Attributes:
        check: the examination.
        artifacts: what is made of a valid one.
    """

    table: Table
    files: Files
    check: Check
    artifacts: Artifacts
    clock: Clock = utc_now

    def validate(
        self,
        nova_id: str,
        data_product_id: str,
        provider: str,
        acquisition: Mapping[str, Any],
        run: TaskRun,
    ) -> dict[str, Any]:
        """Return the verdict on a file and, if it is valid, the files made of it.

        Args:
            nova_id: the nova.
            data_product_id: the spectrum.
            provider: where it is from.
            acquisition: what `Acquirer.acquire` has answered: ``key`` and ``sha256``.
            run: of which this is a task.

        Returns:
            ``verdict`` (below 20 kB), and ``artifacts``: a list of name, role, key, content_type,
            byte_length, etag and sha256, with their ``prefix``.

        Raises:
            FileChanged: if another run has replaced the file meanwhile.
            BucketBusy, DocumentRefused: if it cannot be read.
        """
        product = find_spectrum(self.table, nova_id, data_product_id, provider)
        body = self.files.read(acquisition["key"], LARGEST_FILE)
        if hashlib.sha256(body).hexdigest() != acquisition["sha256"]:
            raise FileChanged(f"{acquisition['key']}: another run has replaced the file")
        said = {name: text for name, text in (product.overrides or {}).items() if name in OVERRIDES}
        try:
            checked = self.check(body, name=acquisition["key"], overrides=said or None)
        except InvalidInput as error:
            # Only a reviewer's words can be wrong input here, and only a reviewer can mend them.
            unsure = Verdict(SpectrumOutcome.QUARANTINED, reason="OTHER", message=str(error))
            return {"verdict": unsure.to_dict()}
        answer: dict[str, Any] = {"verdict": checked.verdict.to_dict()}
        if checked.verdict.outcome is SpectrumOutcome.VALID:
            answer |= self._keep(product, checked, acquisition, run)
        return answer

    def _keep(
        self, product: SpectrumProduct, checked: Checked, acquisition: Mapping[str, Any], run: TaskRun
    ) -> dict[str, Any]:
        prefix = f"derived/spectra/{product.nova_id}/{product.data_product_id}/"
        source = {
            "nova_id": product.nova_id,
            "data_product_id": product.data_product_id,
            "provider": product.provider,
            "provider_product_id": product.provider_product_id,
            "locator_identity": product.locator_identity,
            "raw_key": acquisition["key"],
            "sha256": acquisition["sha256"],
            "overrides": dict(product.overrides or {}),
            "hints": dict(product.hints),
            "validated_at": isoformat(self.clock()),
            "validated_by": {"workflow": run.workflow_name, "job_run_id": run.job_run_id},
        }
        kept = []
        for name, (content, content_type) in self.artifacts(checked, source=source).items():
            stored = self.files.put(f"{prefix}{name}", content, content_type)
            kept.append(
                {
                    "name": name,
                    "role": ROLES.get(name, FileRole.NORMALIZED).value,
                    "key": stored.key,
                    "content_type": content_type,
                    "byte_length": stored.byte_length,
                    "etag": stored.etag,
                    "sha256": stored.sha256,
                }
            )
        return {"prefix": prefix, "artifacts": kept}
