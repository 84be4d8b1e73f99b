"""Workflow task: fetch what ADS has on a nova, and leave it in the bucket."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

import asyncio
from typing import Any

import boto3

from sourcebook.catalog.adapters.ads import Ads
from sourcebook.catalog.adapters.archive import Archive, addresses, archive_policy
from sourcebook.catalog.documents import Documents
from sourcebook.catalog.references import ReferenceFetcher
from sourcebook.catalog.store import NovaStore
from sourcebook.http import HttpClient
from sourcebook.runs.tasks import TaskRun
from sourcebook.settings import required
from sourcebook.sources.secrets import Secrets
from sourcebook.table.client import aws_config

task = Task.connect()
documents = Documents(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
secrets = Secrets(boto3.client("secretsmanager", config=aws_config()))
fetcher = ReferenceFetcher(NovaStore(task.table), documents)


async def fetch(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:
    """Ask ADS."""
    token = secrets.api_key(required("ADS_SECRET"))
    async with HttpClient(archive_policy()) as http:
        ads = Ads(Archive("ads", http, task.table), addresses(task.table, "ads")[0], token)
        return await fetcher.fetch(event["nova_id"], run, ads)


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:
    """Answer ``{"nova_id": …}`` with the keys of the chunks."""
    return asyncio.run(fetch(event, run))
