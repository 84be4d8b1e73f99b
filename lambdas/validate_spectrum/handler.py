"""Workflow task: examine the file of a spectrum. The one function of the workflow with the science layer."""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.files import Files
from sourcebook.catalog.validate_spectrum import SpectrumValidator
from sourcebook.runs.tasks import TaskRecorder, TaskRun
from sourcebook.settings import required
from sourcebook.spectra.artifacts import artifacts
from sourcebook.spectra.check import check
from sourcebook.table.client import Table, aws_config

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
files = Files(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
validator = SpectrumValidator(table, files, check, artifacts)
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"nova_id": …, "data_product_id": …, "provider": …, "acquisition": …}``."""
    answer = validator.validate(
        event["nova_id"],
        event["data_product_id"],
        event["provider"],
        event["acquisition"],
        TaskRun.of(event),
    )
    verdict = answer["verdict"]
    logger.info("spectrum_examined", extra={name: verdict[name] for name in ("outcome", "reason")})
    return answer
