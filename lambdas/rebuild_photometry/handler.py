"""Workflow task: add the measurements of an upload to the table of its nova."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.catalog.photometry_messages import RebuildTable
from sourcebook.catalog.photometry_table import TableRebuilder
from sourcebook.catalog.replacing import Objects
from sourcebook.catalog.store import NovaStore

task = Task.connect()
rebuilder = TableRebuilder(NovaStore(task.table), Objects.connect())
handler = task.handler(RebuildTable, rebuilder.rebuild)
