"""Workflow task: ask one provider for the spectra of a nova, and make products of them."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

import asyncio
from typing import Any

import boto3

from sourcebook.catalog.adapters.archive import archive_policy
from sourcebook.catalog.adapters.providers import open_provider, provider_spec
from sourcebook.catalog.discover import SpectraDiscoverer
from sourcebook.catalog.documents import Documents
from sourcebook.catalog.store import NovaStore
from sourcebook.http import HttpClient
from sourcebook.runs.tasks import TaskRun
from sourcebook.settings import required
from sourcebook.table.client import aws_config

task = Task.connect()
documents = Documents(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
discoverer = SpectraDiscoverer(NovaStore(task.table), task.logger)


async def discover(event: dict[str, Any]) -> dict[str, Any]:
    """Ask the provider."""
    spec = provider_spec(task.table, event["provider"])
    async with HttpClient(archive_policy()) as http:
        provider = open_provider(
            spec, http=http, table=task.table, documents=documents, nova_id=event["nova_id"]
        )
        return await discoverer.discover(event["nova_id"], spec, provider)


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:  # noqa: ARG001 - as every task
    """Answer ``{"nova_id": …, "provider": "ESO"}`` with counts and the newly eligible products."""
    return asyncio.run(discover(event))
