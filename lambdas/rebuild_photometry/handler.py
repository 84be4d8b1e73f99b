"""Workflow task: add the measurements of an upload to the table of its nova."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.bucket.objects import Objects
from sourcebook.novae.store import NovaStore
from sourcebook.photometry.messages import RebuildTable
from sourcebook.photometry.table import TableRebuilder

task = Task.connect()
rebuilder = TableRebuilder(NovaStore(task.table), Objects.connect())
handler = task.handler(RebuildTable, rebuilder.rebuild)
