"""Workflow task: what do the archives know under a name?"""

from __future__ import annotations

from sourcebook.runs.handlers import Task

import asyncio

from sourcebook.http import HttpClient
from sourcebook.novae.messages import Resolved, ResolveName, Unresolved
from sourcebook.novae.resolve import NameResolver
from sourcebook.novae.resolvers.archive import archive_policy

task = Task.connect()


async def resolve(asked: ResolveName) -> Resolved | Unresolved:
    """Ask the archives."""
    async with HttpClient(archive_policy()) as http:
        found = await NameResolver(http, task.table).resolve(
            asked.name, authority=asked.authority, fresh=asked.fresh
        )
    return Resolved(identity=found) if found else Unresolved()


handler = task.handler(ResolveName, lambda asked, _run: asyncio.run(resolve(asked)))
