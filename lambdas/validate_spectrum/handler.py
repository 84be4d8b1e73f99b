"""Workflow task: examine the file of a spectrum. The one function of the workflow with the science layer."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.bucket.objects import Objects
from sourcebook.fits.artifacts import artifacts
from sourcebook.fits.check import check
from sourcebook.spectra.messages import ExamineSpectrum
from sourcebook.spectra.validate import SpectrumValidator

task = Task.connect()
validator = SpectrumValidator(task.table, Objects.connect(), check, artifacts)
handler = task.handler(ExamineSpectrum, validator.validate)
