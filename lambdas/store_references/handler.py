"""Workflow task: store the publications of one chunk."""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.documents import Documents
from sourcebook.catalog.quarantine import Quarantiner
from sourcebook.catalog.references import ReferenceStore
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRecorder, TaskRun
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
documents = Documents(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
sns = boto3.client("sns", config=aws_config())
quarantiner = Quarantiner(table, documents, sns, required("QUARANTINE_TOPIC_ARN"), logger)
references = ReferenceStore(NovaStore(table), documents, quarantiner)
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"nova_id": …, "key": …}`` with counts."""
    return references.store_chunk(event["nova_id"], event["key"], TaskRun.of(event))
