"""Workflow task: set a spectrum aside for a person."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.bucket.objects import Objects
from sourcebook.novae.quarantine import Quarantiner
from sourcebook.spectra.hold import hold_spectrum
from sourcebook.spectra.messages import HoldSpectrum

task = Task.connect()
objects = Objects.connect()
quarantiner = Quarantiner.connect(task.table, objects, task.logger)
handler = task.handler(HoldSpectrum, lambda request, run: hold_spectrum(quarantiner, objects, request, run))
