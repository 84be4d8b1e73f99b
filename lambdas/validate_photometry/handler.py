"""Workflow task: read an upload of photometry row by row, unless the nova has it."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

import boto3

from sourcebook.catalog.photometry_upload import UploadValidator
from sourcebook.catalog.replacing import Objects
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRun
from sourcebook.settings import required
from sourcebook.table.client import aws_config

task = Task.connect()
objects = Objects(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
validator = UploadValidator(NovaStore(task.table), objects)


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:  # noqa: ARG001 - as every task
    """Answer ``{"nova_id": …, "s3_key": …}``."""
    return validator.validate(event["nova_id"], event["s3_key"])
