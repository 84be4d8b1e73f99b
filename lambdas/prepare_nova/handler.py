"""Workflow task: what a nova needs before anything is ingested for it."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.novae.establish import prepare_nova
from sourcebook.novae.messages import PrepareNova
from sourcebook.novae.store import NovaStore

task = Task.connect()
store = NovaStore(task.table)
handler = task.handler(PrepareNova, lambda request, _run: prepare_nova(store, request.nova_id))
