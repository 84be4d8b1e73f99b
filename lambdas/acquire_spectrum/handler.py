"""Workflow task: bring the file of a spectrum from its provider into the bucket."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

import asyncio

from sourcebook.bucket.objects import Objects
from sourcebook.http.client import HttpClient
from sourcebook.runs.tasks import TaskRun
from sourcebook.spectra.acquire import Acquirer, acquisition_policy
from sourcebook.spectra.messages import AcquireSpectrum, Acquisition

task = Task.connect()
objects = Objects.connect()
policy = acquisition_policy()


async def acquire(request: AcquireSpectrum, run: TaskRun) -> Acquisition:
    """Ask the provider, and return what it answered."""
    async with HttpClient(policy) as http:
        return await Acquirer(task.table, objects, http).acquire(request, run)


handler = task.handler(AcquireSpectrum, lambda request, run: asyncio.run(acquire(request, run)))
