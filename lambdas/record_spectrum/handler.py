"""Workflow task: record what became of a spectrum, and when it is tried again."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

from sourcebook.catalog.record_spectrum import SpectrumRecorder
from sourcebook.runs.tasks import TaskRun
from sourcebook.settings import required

task = Task.connect()
spectra = SpectrumRecorder(task.table, required("BUCKET_NAME"))


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:
    """Answer ``{"nova_id": …, "data_product_id": …, "provider": …, "found": …}``."""
    answer = spectra.record(
        event["nova_id"], event["data_product_id"], event["provider"], event["found"], run
    )
    task.logger.info(
        "spectrum_recorded", extra={"outcome": answer["outcome"], "reason": answer.get("reason")}
    )
    return answer
