"""Workflow task: bring a nova's names to what the authorities say."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.novae.messages import ReconcileNames
from sourcebook.novae.reconcile import reconcile
from sourcebook.novae.store import NovaStore

task = Task.connect()
store = NovaStore(task.table)
handler = task.handler(
    ReconcileNames, lambda request, _run: reconcile(store, request.nova_id, request.answers)
)
