"""Workflow task: record what became of a spectrum, and when it is tried again."""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.record_spectrum import SpectrumRecorder
from sourcebook.runs.tasks import TaskRecorder, TaskRun
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
spectra = SpectrumRecorder(table, required("BUCKET_NAME"))
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"nova_id": …, "data_product_id": …, "provider": …, "found": …}``."""
    answer = spectra.record(
        event["nova_id"], event["data_product_id"], event["provider"], event["found"], TaskRun.of(event)
    )
    logger.info("spectrum_recorded", extra={"outcome": answer["outcome"], "reason": answer.get("reason")})
    return answer
