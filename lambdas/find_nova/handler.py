"""Workflow task: which nova does a name mean, or is this id an active nova's?"""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.novae.establish import NovaFinder
from sourcebook.novae.messages import FindNova
from sourcebook.novae.store import NovaStore

task = Task.connect()
finder = NovaFinder(NovaStore(task.table))
handler = task.handler(FindNova, lambda request, _run: finder.find(request))
