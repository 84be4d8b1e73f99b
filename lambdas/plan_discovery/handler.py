"""Workflow task: which providers are asked for the spectra of a nova?"""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.novae.store import NovaStore
from sourcebook.spectra.discover import plan_discovery
from sourcebook.spectra.messages import PlanDiscovery

task = Task.connect()
store = NovaStore(task.table)
handler = task.handler(PlanDiscovery, lambda request, _run: plan_discovery(store, request.nova_id))
