"""Workflow task: what do a nova's publications say of the day of its discovery?"""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.references import DiscoveryDater
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRecorder
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
dater = DiscoveryDater(NovaStore(table))
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"nova_id": …}``."""
    return dater.date(event["nova_id"])
