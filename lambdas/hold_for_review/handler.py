"""Workflow task: set aside what the task before could not decide."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

import boto3

from sourcebook.catalog.documents import Documents
from sourcebook.catalog.quarantine import Quarantiner
from sourcebook.runs.tasks import TaskRun
from sourcebook.settings import required
from sourcebook.table.client import aws_config

task = Task.connect()
documents = Documents(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
sns = boto3.client("sns", config=aws_config())
quarantiner = Quarantiner(task.table, documents, sns, required("QUARANTINE_TOPIC_ARN"), task.logger)


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:
    """Answer ``{"retry_input": …}``: what to start the workflow with when a new try is approved."""
    return quarantiner.hold_failed_task(run, event["retry_input"])
