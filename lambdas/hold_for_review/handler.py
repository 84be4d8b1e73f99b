"""Workflow task: set aside what the task before could not decide."""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.documents import Documents
from sourcebook.catalog.quarantine import Quarantiner
from sourcebook.runs.tasks import TaskRecorder, TaskRun
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
documents = Documents(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
sns = boto3.client("sns", config=aws_config())
quarantiner = Quarantiner(table, documents, sns, required("QUARANTINE_TOPIC_ARN"), logger)
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"retry_input": …}``: what to start the workflow with when a new try is approved."""
    return quarantiner.hold_failed_task(TaskRun.of(event), event["retry_input"])
