"""Workflow task: add the measurements of an upload to the table of its nova."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

import boto3

from sourcebook.catalog.photometry_table import TableRebuilder
from sourcebook.catalog.replacing import Objects
from sourcebook.catalog.store import NovaStore
from sourcebook.runs.tasks import TaskRun
from sourcebook.settings import required
from sourcebook.table.client import aws_config

task = Task.connect()
objects = Objects(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
rebuilder = TableRebuilder(NovaStore(task.table), objects)


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:
    """Answer ``{"nova_id": …, "file_id": …, "upload": {"s3_key": …, "etag": …, "byte_length": …}}``."""
    return rebuilder.rebuild(event["nova_id"], event["file_id"], event["upload"], run)
