"""Workflow task: store the publications of one chunk."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.bucket.objects import Objects
from sourcebook.novae.messages import StoreReferences
from sourcebook.novae.quarantine import Quarantiner
from sourcebook.novae.references import ReferenceStore
from sourcebook.novae.store import NovaStore

task = Task.connect()
objects = Objects.connect()
quarantiner = Quarantiner.connect(task.table, objects, task.logger)
references = ReferenceStore(NovaStore(task.table), objects, quarantiner)
handler = task.handler(
    StoreReferences, lambda request, run: references.store_chunk(request.nova_id, request.key, run)
)
