"""Workflow task: store the publications of one chunk."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

import boto3

from sourcebook.catalog.documents import Documents
from sourcebook.catalog.quarantine import Quarantiner
from sourcebook.catalog.references import ReferenceStore
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRun
from sourcebook.settings import required
from sourcebook.table.client import aws_config

task = Task.connect()
documents = Documents(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
sns = boto3.client("sns", config=aws_config())
quarantiner = Quarantiner(task.table, documents, sns, required("QUARANTINE_TOPIC_ARN"), task.logger)
references = ReferenceStore(NovaStore(task.table), documents, quarantiner)


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, int]:
    """Answer ``{"nova_id": …, "key": …}`` with counts."""
    return references.store_chunk(event["nova_id"], event["key"], run)
