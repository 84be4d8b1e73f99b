"""Examine the file of a spectrum, and write the normalized files of a valid one.

The examination itself is `sourcebook.fits`, which needs astropy. The one function that has the science
layer passes it in, so that this package can be imported without.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Protocol, TypeAlias

from sourcebook.bucket.objects import Objects
from sourcebook.bucket.stored import LARGEST_FILE
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput, Retryable
from sourcebook.fits.model import OVERRIDES, SpectrumOutcome, Verdict
from sourcebook.records.product import FileRole
from sourcebook.runs.tasks import TaskRun
from sourcebook.spectra.load import about, find_spectrum
from sourcebook.spectra.messages import AboutSpectrum, Artifact, Examination, ExamineSpectrum
from sourcebook.table.client import Table

ROLES: Mapping[str, FileRole] = {"metadata.json": FileRole.MANIFEST, "preview.png": FileRole.PLOT}
"""Roles of the files that are made of a spectrum; any other is the normalized spectrum itself."""


class FileChanged(Retryable):
    """The file in the bucket is no longer the one that this run has put there."""


class CheckResult(Protocol):
    """The result of `sourcebook.fits.check.check`."""

    @property
    def verdict(self) -> Verdict:
        """Whether the file is valid, invalid or for a person to decide, and why."""


Check: TypeAlias = Callable[..., CheckResult]
"""`sourcebook.fits.check.check`."""
Artifacts: TypeAlias = Callable[..., Mapping[str, tuple[bytes, str]]]
"""`sourcebook.fits.artifacts.artifacts`: content and content type by name."""


@dataclass(frozen=True, slots=True)
class SpectrumValidator:
    """Examines files in the bucket.

    Attributes:
        check: the examination.
        artifacts: what is made of a valid one.
    """

    table: Table
    objects: Objects
    check: Check
    artifacts: Artifacts
    clock: Clock = utc_now

    def validate(self, request: ExamineSpectrum, run: TaskRun) -> Examination:
        """Return the verdict on a file and, if it is valid, the files made of it.

        Raises:
            FileChanged: if another run has replaced the file meanwhile.
            BucketBusy, DocumentRefused: if it cannot be read.
        """
        acquired = request.acquisition
        # An execution that began before acquisition handed it on reads it from the table.
        spectrum = acquired.spectrum or about(
            find_spectrum(self.table, request.nova_id, request.data_product_id, request.provider)
        )
        body = self.objects.read(acquired.key, LARGEST_FILE).body
        if hashlib.sha256(body).hexdigest() != acquired.sha256:
            raise FileChanged(f"{acquired.key}: another run has replaced the file")
        overrides = {name: text for name, text in spectrum.overrides.items() if name in OVERRIDES}
        try:
            checked = self.check(body, name=acquired.key, overrides=overrides or None)
        except InvalidInput as error:
            # Only a reviewer's words can be wrong input here, and only a reviewer can mend them.
            unsure = Verdict(SpectrumOutcome.QUARANTINED, reason="OTHER", message=str(error))
            return Examination(verdict=unsure)
        if checked.verdict.outcome is not SpectrumOutcome.VALID:
            return Examination(verdict=checked.verdict)
        return self._keep(request, spectrum, checked, run)

    def _keep(
        self, request: ExamineSpectrum, spectrum: AboutSpectrum, checked: CheckResult, run: TaskRun
    ) -> Examination:
        prefix = f"derived/spectra/{request.nova_id}/{request.data_product_id}/"
        source = {
            "nova_id": request.nova_id,
            "data_product_id": request.data_product_id,
            "provider": request.provider,
            "provider_product_id": spectrum.provider_product_id,
            "locator_identity": spectrum.locator_identity,
            "raw_key": request.acquisition.key,
            "sha256": request.acquisition.sha256,
            "overrides": dict(spectrum.overrides),
            "hints": dict(spectrum.hints),
            "validated_at": isoformat(self.clock()),
            "validated_by": {"workflow": run.workflow_name, "job_run_id": run.job_run_id},
        }
        kept = []
        for name, (content, content_type) in self.artifacts(checked, source=source).items():
            stored = self.objects.write(f"{prefix}{name}", content, content_type)
            kept.append(Artifact(name=name, role=ROLES.get(name, FileRole.NORMALIZED), **asdict(stored)))
        return Examination(verdict=checked.verdict, artifacts=tuple(kept), prefix=prefix)
