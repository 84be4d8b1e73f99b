"""Workflow task: write the next days of an export; the state machine calls until all are written."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from dataclasses import asdict
from typing import Any

import boto3

from sourcebook.catalog.replacing import Objects
from sourcebook.exports.days import Exporter
from sourcebook.runs.tasks import TaskRun
from sourcebook.settings import required
from sourcebook.table.client import aws_config

task = Task.connect()
objects = Objects(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
exporter = Exporter(task.table, objects)


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:  # noqa: ARG001
    """Answer with what is written so far, and with the piece where the next call goes on."""
    progress = asdict(exporter.run(event))
    task.logger.info("days_exported", extra=progress)
    return progress
