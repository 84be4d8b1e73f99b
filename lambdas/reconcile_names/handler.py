"""Workflow task: bring a nova's names to what the authorities say."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

from sourcebook.catalog.reconcile import NameReconciler
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRun

task = Task.connect()
reconciler = NameReconciler(NovaStore(task.table))


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:  # noqa: ARG001 - as every task
    """Answer ``{"nova_id": …, "answers": […]}``."""
    return reconciler.reconcile(event["nova_id"], event["answers"])
