"""Workflow task: claim the spectra that are due for the runs that are started next."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

from sourcebook.catalog.sweep import SpectraClaimer
from sourcebook.runs.tasks import TaskRun

task = Task.connect()
claimer = SpectraClaimer(task.table, task.logger)


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:  # noqa: ARG001 - as every task
    """Answer ``{"most": …}``."""
    claimed = claimer.claim(event["most"])
    task.logger.info("spectra_claimed", extra={"claimed": len(claimed)})
    return {"claimed": claimed}
