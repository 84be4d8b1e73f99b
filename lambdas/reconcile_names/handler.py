"""Workflow task: bring a nova's names to what the authorities say."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.novae.messages import ReconcileNames
from sourcebook.novae.reconcile import NameReconciler
from sourcebook.novae.store import NovaStore

task = Task.connect()
reconciler = NameReconciler(NovaStore(task.table))
handler = task.handler(
    ReconcileNames, lambda request, _run: reconciler.reconcile(request.nova_id, request.answers)
)
