"""Workflow task: which providers are asked for the spectra of a nova?"""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.discover import DiscoveryPlanner
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRecorder
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
planner = DiscoveryPlanner(NovaStore(table))
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"nova_id": …}`` with the names of the providers."""
    return planner.plan(event["nova_id"])
