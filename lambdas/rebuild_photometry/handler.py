"""Workflow task: add the measurements of an upload to the table of its nova."""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.photometry_table import TableRebuilder
from sourcebook.catalog.replacing import Objects
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRecorder, TaskRun
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
objects = Objects(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
rebuilder = TableRebuilder(NovaStore(table), objects)
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"nova_id": …, "file_id": …, "upload": {"s3_key": …, "etag": …, "byte_length": …}}``."""
    run = TaskRun.of(event) if "run" in event else None
    return rebuilder.rebuild(event["nova_id"], event["file_id"], event["upload"], run)
