"""Workflow task: do what a person has decided of a nova."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.catalog.curation import Curator
from sourcebook.catalog.curation_messages import CurateNova
from sourcebook.catalog.replacing import Objects
from sourcebook.catalog.store import NovaStore

task = Task.connect()
curator = Curator(NovaStore(task.table), Objects.connect())
handler = task.handler(CurateNova, curator.curate)
