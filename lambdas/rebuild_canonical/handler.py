"""Make the next piece of the canonical layer anew; the state machine calls until all is done."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.observations.rebuild import Rebuilder
from sourcebook.observations.rebuild_messages import RebuildCanonical

task = Task.connect()
rebuilder = Rebuilder(task.table)
handler = task.handler(RebuildCanonical, lambda request, _run: rebuilder.run(request))
