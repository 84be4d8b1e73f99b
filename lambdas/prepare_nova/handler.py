"""Workflow task: what a nova needs before anything is ingested for it."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

from sourcebook.catalog.prepare import NovaPreparer
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRun

task = Task.connect()
preparer = NovaPreparer(NovaStore(task.table))


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:  # noqa: ARG001 - as every task
    """Answer ``{"nova_id": …}``."""
    return preparer.prepare(event["nova_id"])
