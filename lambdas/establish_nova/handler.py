"""Workflow task: make what the archives know a nova, or one that is known."""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.adapters.identity import Identity
from sourcebook.catalog.establish import NovaEstablisher
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRecorder
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
establisher = NovaEstablisher(NovaStore(table))
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"name": …, "identity"?: …, "quarantine_id"?: …}``."""
    identity = Identity.of(event["identity"]) if "identity" in event else None
    run = event["run"]
    return establisher.establish(
        event["name"],
        identity,
        quarantine_id=event.get("quarantine_id"),
        created_by={"workflow": run["workflow_name"], "job_run_id": run["job_run_id"]},
    ).to_dict()
