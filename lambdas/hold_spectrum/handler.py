"""Workflow task: set a spectrum aside for a person."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.bucket.documents import Documents
from sourcebook.bucket.files import Files
from sourcebook.novae.quarantine import Quarantiner
from sourcebook.spectra.hold import SpectrumHolder
from sourcebook.spectra.messages import HoldSpectrum

task = Task.connect()
documents = Documents.connect()
quarantiner = Quarantiner.connect(task.table, documents, task.logger)
holder = SpectrumHolder(quarantiner, Files(documents.client, documents.bucket))
handler = task.handler(HoldSpectrum, holder.hold)
