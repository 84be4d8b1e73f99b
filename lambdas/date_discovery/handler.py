"""Workflow task: what do a nova's publications say of the day of its discovery?"""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.novae.reference_messages import DateDiscovery
from sourcebook.novae.references import DiscoveryDater
from sourcebook.novae.store import NovaStore

task = Task.connect()
dater = DiscoveryDater(NovaStore(task.table))
handler = task.handler(DateDiscovery, lambda request, _run: dater.date(request.nova_id))
