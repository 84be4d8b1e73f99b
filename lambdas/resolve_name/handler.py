"""Workflow task: what do the archives know under a name?"""

from __future__ import annotations

from sourcebook.runs.handlers import Task

import asyncio
import os
from functools import cache

from sourcebook.http.client import HttpClient
from sourcebook.novae.messages import Resolved, ResolveName, Unresolved
from sourcebook.novae.resolve import NameResolver
from sourcebook.novae.resolvers.archive import archive_policy
from sourcebook.novae.resolvers.tns import TnsBot
from sourcebook.settings import required
from sourcebook.sources.secrets import Secrets
from sourcebook.table.client import aws_config

task = Task.connect()
BOT = os.environ.get("TNS_BOT", "")


def tns() -> TnsBot:
    """Return who asks TNS; its key is read when the first name is that no other archive knows."""
    return TnsBot.of(BOT, secrets().api_key(required("TNS_SECRET")))


@cache
def secrets() -> Secrets:
    """Return what reads secrets."""
    import boto3

    return Secrets(boto3.client("secretsmanager", config=aws_config()))


async def resolve(request: ResolveName) -> Resolved | Unresolved:
    """Ask the archives for the name, and return what they answered."""
    async with HttpClient(archive_policy()) as http:
        found = await NameResolver(http, task.table, tns=tns if BOT else None).resolve(
            request.name, authority=request.authority, fresh=request.fresh
        )
    return Resolved(identity=found) if found else Unresolved()


handler = task.handler(ResolveName, lambda request, _run: asyncio.run(resolve(request)))
