"""Workflow task: delete what is cached of a subject whose mentions have been judged anew."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.sentiment.invalidate import invalidate
from sourcebook.sentiment.invalidate_messages import InvalidateSentiment

task = Task.connect()
handler = task.handler(InvalidateSentiment, lambda request, _run: invalidate(task.table, request))
