"""Workflow task: which nova does a name mean, or is this id an active nova's?"""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

from sourcebook.catalog.establish import NovaFinder
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRun

task = Task.connect()
finder = NovaFinder(NovaStore(task.table))


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:  # noqa: ARG001 - as every task
    """Answer ``{"name": …}`` or ``{"nova_id": …}``."""
    if event.get("nova_id") is not None:
        return finder.by_id(event["nova_id"])
    return finder.by_name(event["name"], event.get("quarantine_id"))
