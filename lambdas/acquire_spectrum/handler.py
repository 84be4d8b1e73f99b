"""Workflow task: bring the file of a spectrum from its provider into the bucket."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

import asyncio
from typing import Any

import boto3

from sourcebook.catalog.acquire import Acquirer, acquisition_policy, failure_in
from sourcebook.catalog.files import Files
from sourcebook.http import HttpClient
from sourcebook.runs.tasks import TaskRun
from sourcebook.settings import required
from sourcebook.table.client import aws_config

task = Task.connect()
files = Files(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
policy = acquisition_policy()


async def acquire(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:
    """Ask the provider."""
    async with HttpClient(policy) as http:
        return await Acquirer(task.table, files, http).acquire(
            event["nova_id"], event["data_product_id"], event["provider"], run
        )


@task.failing_by(failure_in)
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:
    """Answer ``{"nova_id": …, "data_product_id": …, "provider": …}``."""
    answer = asyncio.run(acquire(event, run))
    task.logger.info(
        "spectrum_asked_for", extra={"result": answer["result"], "failure": answer.get("failure")}
    )
    return answer
