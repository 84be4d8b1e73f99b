"""Workflow task: store the publications of one chunk."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.catalog.documents import Documents
from sourcebook.catalog.quarantine import Quarantiner
from sourcebook.catalog.reference_messages import StoreReferences
from sourcebook.catalog.references import ReferenceStore
from sourcebook.catalog.store import NovaStore

task = Task.connect()
documents = Documents.connect()
quarantiner = Quarantiner.connect(task.table, documents, task.logger)
references = ReferenceStore(NovaStore(task.table), documents, quarantiner)
handler = task.handler(
    StoreReferences, lambda asked, run: references.store_chunk(asked.nova_id, asked.key, run)
)
