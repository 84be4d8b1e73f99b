"""Workflow task: fetch what ADS has on a nova, and leave it in the bucket."""

from __future__ import annotations

from sourcebook.start import ready

import asyncio
from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.adapters.ads import Ads
from sourcebook.catalog.adapters.archive import Archive, addresses, archive_policy
from sourcebook.catalog.documents import Documents
from sourcebook.catalog.references import ReferenceFetcher
from sourcebook.catalog.store import NovaStore
from sourcebook.http import HttpClient
from sourcebook.runs.tasks import TaskRecorder, TaskRun
from sourcebook.settings import required
from sourcebook.sources.secrets import Secrets
from sourcebook.table.client import Table, aws_config

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
documents = Documents(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
secrets = Secrets(boto3.client("secretsmanager", config=aws_config()))
fetcher = ReferenceFetcher(NovaStore(table), documents)
recorder = TaskRecorder(table, logger)


async def fetch(event: dict[str, Any]) -> dict[str, Any]:
    """Ask ADS."""
    token = secrets.api_key(required("ADS_SECRET"))
    async with HttpClient(archive_policy()) as http:
        ads = Ads(Archive("ads", http, table), addresses(table, "ads")[0], token)
        return await fetcher.fetch(event["nova_id"], TaskRun.of(event), ads)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"nova_id": …}`` with the keys of the chunks."""
    return asyncio.run(fetch(event))
