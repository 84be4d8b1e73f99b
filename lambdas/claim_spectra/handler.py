"""Workflow task: claim due spectra, so that no other run acquires them meanwhile."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.spectra.messages import ClaimSpectra
from sourcebook.spectra.sweep import claim_spectra

task = Task.connect()
handler = task.handler(
    ClaimSpectra, lambda request, _run: claim_spectra(task.table, task.logger, request.most)
)
