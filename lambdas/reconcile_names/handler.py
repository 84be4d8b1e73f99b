"""Workflow task: bring a nova's names to what the authorities say."""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.reconcile import NameReconciler
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRecorder
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
reconciler = NameReconciler(NovaStore(table))
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"nova_id": …, "answers": […]}``."""
    return reconciler.reconcile(event["nova_id"], event["answers"])
