"""Workflow task: which providers are asked for the spectra of a nova?"""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

from sourcebook.catalog.discover import DiscoveryPlanner
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRun

task = Task.connect()
planner = DiscoveryPlanner(NovaStore(task.table))


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:  # noqa: ARG001 - as every task
    """Answer ``{"nova_id": …}`` with the names of the providers."""
    return planner.plan(event["nova_id"])
