"""Workflow task: record what became of a spectrum, and when it is tried again."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.settings import required
from sourcebook.spectra.messages import RecordSpectrum
from sourcebook.spectra.record import SpectrumRecorder

task = Task.connect()
recorder = SpectrumRecorder(task.table, required("BUCKET_NAME"))
handler = task.handler(RecordSpectrum, recorder.record)
