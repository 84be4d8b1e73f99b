"""Workflow task: fetch what ADS has on a nova, and leave it in the bucket."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

import asyncio

import boto3

from sourcebook.bucket.objects import Objects
from sourcebook.http.client import HttpClient
from sourcebook.novae.messages import FetchReferences, ReferencesFetched
from sourcebook.novae.references import fetch_references
from sourcebook.novae.resolvers.ads import Ads
from sourcebook.novae.resolvers.archive import Archive, addresses, archive_policy
from sourcebook.novae.store import NovaStore
from sourcebook.runs.tasks import TaskRun
from sourcebook.settings import required
from sourcebook.sources.secrets import Secrets
from sourcebook.table.client import aws_config

task = Task.connect()
secrets = Secrets(boto3.client("secretsmanager", config=aws_config()))
store, objects = NovaStore(task.table), Objects.connect()


async def fetch(request: FetchReferences, run: TaskRun) -> ReferencesFetched:
    """Ask ADS for references, and return what it answered."""
    token = secrets.api_key(required("ADS_SECRET"))
    async with HttpClient(archive_policy()) as http:
        ads = Ads(Archive("ads", http, task.table), addresses(task.table, "ads")[0], token)
        return await fetch_references(store, objects, ads, request.nova_id, run)


handler = task.handler(FetchReferences, lambda request, run: asyncio.run(fetch(request, run)))
