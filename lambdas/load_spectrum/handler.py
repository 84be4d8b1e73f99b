"""Workflow task: is a spectrum to be acquired now?"""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.load_spectrum import SpectrumLoader
from sourcebook.runs.tasks import TaskRecorder
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
loader = SpectrumLoader(table)
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"nova_id": …, "data_product_id": …, "provider"?: …, "quarantine_id"?: …}``."""
    return loader.load(
        event["nova_id"],
        event["data_product_id"],
        provider=event.get("provider"),
        quarantine_id=event.get("quarantine_id"),
    )
