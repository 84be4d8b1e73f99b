"""Workflow task: claim the spectra that are due for the runs that are started next."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.spectra.discovery_messages import ClaimSpectra
from sourcebook.spectra.sweep import SpectraClaimer

task = Task.connect()
claimer = SpectraClaimer(task.table, task.logger)
handler = task.handler(ClaimSpectra, lambda request, _run: claimer.claim(request.most))
