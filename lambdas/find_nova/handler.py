"""Workflow task: which nova does a name mean, or is this id an active nova's?"""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.establish import NovaFinder
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRecorder
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
finder = NovaFinder(NovaStore(table))
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"name": …}`` or ``{"nova_id": …}``."""
    if "nova_id" in event:
        return finder.by_id(event["nova_id"])
    return finder.by_name(event["name"], event.get("quarantine_id"))
