"""Workflow task: what do the archives know under a name?"""

from __future__ import annotations

from sourcebook.runs.handlers import Task

import asyncio
from typing import Any

from sourcebook.catalog.adapters.archive import archive_policy
from sourcebook.catalog.resolve import NameResolver
from sourcebook.http import HttpClient
from sourcebook.runs.tasks import TaskRun

task = Task.connect()


async def resolve(event: dict[str, Any]) -> dict[str, Any]:
    """Ask the archives."""
    async with HttpClient(archive_policy()) as http:
        found = await NameResolver(http, task.table).resolve(
            event["name"], authority=event.get("authority"), fresh=event.get("fresh", False)
        )
    return {"found": True, "identity": found.to_dict()} if found else {"found": False}


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:  # noqa: ARG001 - as every task
    """Answer ``{"name": …, "authority"?: …, "fresh"?: …}``."""
    return asyncio.run(resolve(event))
