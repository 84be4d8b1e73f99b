"""Delete what is cached of a subject whose mentions have been judged anew."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

from sourcebook.errors import InvalidInput
from sourcebook.runs.tasks import TaskRun
from sourcebook.sentiment.cache import SentimentCache
from sourcebook.sentiment.subjects import SubjectRegistry

task = Task.connect()


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, str]:  # noqa: ARG001 - as every task
    """Answer with the subject whose entries are gone; the next read computes them."""
    tool_id: str = event["tool_id"]
    if SubjectRegistry(task.table).get(tool_id) is None:
        raise InvalidInput("tool_id", tool_id, "a subject that is there: `sourcebook subjects list`")
    SentimentCache(task.table).invalidate(tool_id)
    task.logger.info("sentiment_invalidated", extra={"tool_id": tool_id})
    return {"invalidated": tool_id}
