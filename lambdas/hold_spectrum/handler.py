"""Workflow task: set a spectrum aside for a person."""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.documents import Documents
from sourcebook.catalog.files import Files
from sourcebook.catalog.hold_spectrum import SpectrumHolder
from sourcebook.catalog.quarantine import Quarantiner
from sourcebook.runs.tasks import TaskRecorder, TaskRun
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
s3 = boto3.client("s3", config=aws_config())
bucket = required("BUCKET_NAME")
sns = boto3.client("sns", config=aws_config())
quarantiner = Quarantiner(table, Documents(s3, bucket), sns, required("QUARANTINE_TOPIC_ARN"), logger)
holder = SpectrumHolder(quarantiner, Files(s3, bucket))
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"nova_id": …, "data_product_id": …, "provider": …, "found": …}``."""
    return holder.hold(
        event["nova_id"], event["data_product_id"], event["provider"], event["found"], TaskRun.of(event)
    )
