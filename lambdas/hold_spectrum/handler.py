"""Workflow task: set a spectrum aside for a person."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.catalog.documents import Documents
from sourcebook.catalog.files import Files
from sourcebook.catalog.hold_spectrum import SpectrumHolder
from sourcebook.catalog.quarantine import Quarantiner
from sourcebook.catalog.spectrum_messages import HoldSpectrum

task = Task.connect()
documents = Documents.connect()
quarantiner = Quarantiner.connect(task.table, documents, task.logger)
holder = SpectrumHolder(quarantiner, Files(documents.client, documents.bucket))
handler = task.handler(HoldSpectrum, holder.hold)
