"""Workflow task: claim due spectra, so that no other run acquires them meanwhile."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.spectra.discovery_messages import ClaimSpectra
from sourcebook.spectra.sweep import SpectraClaimer

task = Task.connect()
claimer = SpectraClaimer(task.table, task.logger)
handler = task.handler(ClaimSpectra, lambda request, _run: claimer.claim(request.most))
