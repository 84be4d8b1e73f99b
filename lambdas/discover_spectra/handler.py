"""Workflow task: ask one provider for the spectra of a nova, and make products of them."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

import asyncio

from sourcebook.bucket.objects import Objects
from sourcebook.http.client import HttpClient
from sourcebook.novae.resolvers.archive import archive_policy
from sourcebook.novae.store import NovaStore
from sourcebook.spectra.discover import SpectraDiscoverer
from sourcebook.spectra.messages import DiscoverSpectra, ProviderAnswered
from sourcebook.spectra.providers.registry import open_provider, provider_spec

task = Task.connect()
objects = Objects.connect()
discoverer = SpectraDiscoverer(NovaStore(task.table), task.logger)


async def discover(request: DiscoverSpectra) -> ProviderAnswered:
    """Ask the provider, and return what it answered."""
    spec = provider_spec(task.table, request.provider)
    async with HttpClient(archive_policy()) as http:
        provider = open_provider(spec, http=http, table=task.table, objects=objects, nova_id=request.nova_id)
        return await discoverer.discover(request.nova_id, spec, provider)


handler = task.handler(DiscoverSpectra, lambda request, _run: asyncio.run(discover(request)))
