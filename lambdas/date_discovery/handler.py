"""Workflow task: what do a nova's publications say of the day of its discovery?"""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.novae.messages import DateDiscovery
from sourcebook.novae.references import move_discovery_back
from sourcebook.novae.store import NovaStore

task = Task.connect()
store = NovaStore(task.table)
handler = task.handler(DateDiscovery, lambda request, _run: move_discovery_back(store, request.nova_id))
