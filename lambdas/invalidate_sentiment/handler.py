"""Delete what is cached of a subject whose mentions have been judged anew."""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.errors import InvalidInput
from sourcebook.runs.tasks import TaskRecorder
from sourcebook.sentiment.cache import SentimentCache
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
recorder = TaskRecorder(table, logger)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, str]:  # noqa: ARG001 - Lambda's own signature
    """Answer with the subject whose entries are gone; the next read computes them."""
    tool_id: str = event["tool_id"]
    if SubjectRegistry(table).get(tool_id) is None:
        raise InvalidInput("tool_id", tool_id, "a subject that is there: `sourcebook subjects list`")
    SentimentCache(table).invalidate(tool_id)
    logger.info("sentiment_invalidated", extra={"tool_id": tool_id})
    return {"invalidated": tool_id}
