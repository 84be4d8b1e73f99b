"""Workflow task: ask one provider for the spectra of a nova, and make products of them."""

from __future__ import annotations

from sourcebook.start import ready

import asyncio
from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.adapters.archive import archive_policy
from sourcebook.catalog.adapters.providers import open_provider, provider_spec
from sourcebook.catalog.discover import SpectraDiscoverer
from sourcebook.catalog.documents import Documents
from sourcebook.catalog.store import NovaStore
from sourcebook.http import HttpClient
from sourcebook.runs.tasks import TaskRecorder
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
documents = Documents(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
discoverer = SpectraDiscoverer(NovaStore(table), logger)
recorder = TaskRecorder(table, logger)


async def discover(event: dict[str, Any]) -> dict[str, Any]:
    """Ask the provider."""
    spec = provider_spec(table, event["provider"])
    async with HttpClient(archive_policy()) as http:
        provider = open_provider(spec, http=http, table=table, documents=documents, nova_id=event["nova_id"])
        return await discoverer.discover(event["nova_id"], spec, provider)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"nova_id": …, "provider": "ESO"}`` with counts and the newly eligible products."""
    return asyncio.run(discover(event))
