"""Workflow task: read an upload of photometry row by row, unless the nova has it."""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.photometry_upload import UploadValidator
from sourcebook.catalog.replacing import Objects
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRecorder
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
objects = Objects(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
validator = UploadValidator(NovaStore(table), objects)
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"nova_id": …, "s3_key": …}``."""
    return validator.validate(event["nova_id"], event["s3_key"])
