"""Workflow task: do what a person has decided of a nova."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.bucket.objects import Objects
from sourcebook.curation.curate import Curator
from sourcebook.curation.messages import CurateNova
from sourcebook.novae.store import NovaStore

task = Task.connect()
curator = Curator(NovaStore(task.table), Objects.connect())
handler = task.handler(CurateNova, curator.curate)
