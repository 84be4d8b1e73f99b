"""Workflow task: what do the archives know under a name?"""

from __future__ import annotations

from sourcebook.start import ready

import asyncio
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.adapters.archive import archive_policy
from sourcebook.catalog.resolve import NameResolver
from sourcebook.http import HttpClient
from sourcebook.runs.tasks import TaskRecorder
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
recorder = TaskRecorder(table, logger)


async def resolve(event: dict[str, Any]) -> dict[str, Any]:
    """Ask the archives."""
    async with HttpClient(archive_policy()) as http:
        found = await NameResolver(http, table).resolve(
            event["name"], authority=event.get("authority"), fresh=event.get("fresh", False)
        )
    return {"found": True, "identity": found.to_dict()} if found else {"found": False}


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer ``{"name": …, "authority"?: …, "fresh"?: …}``."""
    return asyncio.run(resolve(event))
