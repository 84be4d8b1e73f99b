"""Workflow task: which nova does a name mean, or is this id an active nova's?"""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.novae.establish import find_nova
from sourcebook.novae.messages import FindNova
from sourcebook.novae.store import NovaStore

task = Task.connect()
store = NovaStore(task.table)
handler = task.handler(FindNova, lambda request, _run: find_nova(store, request))
