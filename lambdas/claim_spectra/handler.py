"""Workflow task: claim the spectra that are due for the runs that are started next."""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.sweep import SpectraClaimer
from sourcebook.runs.tasks import TaskRecorder
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
claimer = SpectraClaimer(table, logger)
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"most": …}``."""
    claimed = claimer.claim(event["most"])
    logger.info("spectra_claimed", extra={"claimed": len(claimed)})
    return {"claimed": claimed}
