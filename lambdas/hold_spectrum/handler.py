"""Workflow task: set a spectrum aside for a person."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

import boto3

from sourcebook.catalog.documents import Documents
from sourcebook.catalog.files import Files
from sourcebook.catalog.hold_spectrum import SpectrumHolder
from sourcebook.catalog.quarantine import Quarantiner
from sourcebook.runs.tasks import TaskRun
from sourcebook.settings import required
from sourcebook.table.client import aws_config

task = Task.connect()
s3 = boto3.client("s3", config=aws_config())
bucket = required("BUCKET_NAME")
sns = boto3.client("sns", config=aws_config())
quarantiner = Quarantiner(
    task.table, Documents(s3, bucket), sns, required("QUARANTINE_TOPIC_ARN"), task.logger
)
holder = SpectrumHolder(quarantiner, Files(s3, bucket))


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:
    """Answer ``{"nova_id": …, "data_product_id": …, "provider": …, "found": …}``."""
    return holder.hold(event["nova_id"], event["data_product_id"], event["provider"], event["found"], run)
