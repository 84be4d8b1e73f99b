"""Workflow task: examine the file of a spectrum. The one function of the workflow with the science layer."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.catalog.files import Files
from sourcebook.catalog.spectrum_messages import ExamineSpectrum
from sourcebook.catalog.validate_spectrum import SpectrumValidator
from sourcebook.spectra.artifacts import artifacts
from sourcebook.spectra.check import check

task = Task.connect()
validator = SpectrumValidator(task.table, Files.connect(), check, artifacts)
handler = task.handler(ExamineSpectrum, validator.validate)
