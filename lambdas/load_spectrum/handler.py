"""Workflow task: is a spectrum to be acquired now?"""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.spectra.load import SpectrumLoader
from sourcebook.spectra.messages import LoadSpectrum

task = Task.connect()
loader = SpectrumLoader(task.table)
handler = task.handler(LoadSpectrum, lambda request, _run: loader.load(request))
