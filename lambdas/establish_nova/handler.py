"""Workflow task: make what the archives know a nova, or one that is known."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

from sourcebook.catalog.adapters.identity import Identity
from sourcebook.catalog.establish import NovaEstablisher
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRun

task = Task.connect()
establisher = NovaEstablisher(NovaStore(task.table))


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:
    """Answer ``{"name": …, "identity"?: …, "quarantine_id"?: …}``."""
    identity = Identity.of(event["identity"]) if event.get("identity") is not None else None
    return establisher.establish(
        event["name"],
        identity,
        quarantine_id=event.get("quarantine_id"),
        created_by={"workflow": run.workflow_name, "job_run_id": run.job_run_id},
    ).to_dict()
