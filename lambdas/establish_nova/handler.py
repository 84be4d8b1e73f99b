"""Workflow task: create a nova from what the archives know, or find it among the known ones."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.messages import Established, EstablishNova
from sourcebook.novae.store import NovaStore
from sourcebook.runs.tasks import TaskRun

task = Task.connect()
establisher = NovaEstablisher(NovaStore(task.table))


def establish(request: EstablishNova, run: TaskRun) -> Established:
    """Establish the nova, and record with it which run did."""
    return establisher.establish(
        request.name,
        request.identity,
        quarantine_id=request.quarantine_id,
        created_by={"workflow": run.workflow_name, "job_run_id": run.job_run_id},
    )


handler = task.handler(EstablishNova, establish)
