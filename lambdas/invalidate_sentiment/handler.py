"""Workflow task: delete what is cached of a subject whose mentions have been judged anew."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.sentiment.cache import InvalidateSentiment, SentimentCache

task = Task.connect()
cache = SentimentCache(task.table)
handler = task.handler(InvalidateSentiment, lambda request, _run: cache.invalidate(request.tool_id))
