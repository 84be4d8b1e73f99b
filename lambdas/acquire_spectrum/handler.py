"""Workflow task: bring the file of a spectrum from its provider into the bucket."""

from __future__ import annotations

from sourcebook.start import ready

import asyncio
from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.acquire import Acquirer, acquisition_policy
from sourcebook.catalog.files import Files
from sourcebook.http import HttpClient
from sourcebook.runs.tasks import TaskRecorder, TaskRun
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
files = Files(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
policy = acquisition_policy()
recorder = TaskRecorder(table, logger)


async def acquire(event: dict[str, Any]) -> dict[str, Any]:
    """Ask the provider."""
    async with HttpClient(policy) as http:
        return await Acquirer(table, files, http).acquire(
            event["nova_id"], event["data_product_id"], event["provider"], TaskRun.of(event)
        )


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"nova_id": …, "data_product_id": …, "provider": …}``."""
    answer = asyncio.run(acquire(event))
    logger.info("spectrum_asked_for", extra={"result": answer["result"], "failure": answer.get("failure")})
    return answer
