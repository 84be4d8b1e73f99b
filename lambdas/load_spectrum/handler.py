"""Workflow task: is a spectrum to be acquired now?"""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

from sourcebook.catalog.load_spectrum import SpectrumLoader
from sourcebook.runs.tasks import TaskRun

task = Task.connect()
loader = SpectrumLoader(task.table)


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:  # noqa: ARG001 - as every task
    """Answer ``{"nova_id": …, "data_product_id": …, "provider"?: …, "quarantine_id"?: …}``."""
    return loader.load(
        event["nova_id"],
        event["data_product_id"],
        provider=event.get("provider"),
        quarantine_id=event.get("quarantine_id"),
    )
