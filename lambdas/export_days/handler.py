"""Write the next days of an export; the state machine calls until all are written."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.bucket.objects import Objects
from sourcebook.exports.days import Exporter
from sourcebook.exports.messages import ExportDays

task = Task.connect()
exporter = Exporter(task.table, Objects.connect())
handler = task.handler(ExportDays, lambda request, _run: exporter.run(request))
