"""Deleting what is cached of a subject whose mentions have been judged anew."""

from __future__ import annotations

from sourcebook.errors import InvalidInput
from sourcebook.sentiment.cache import SentimentCache
from sourcebook.sentiment.invalidate_messages import Invalidated, InvalidateSentiment
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table.client import Table


def invalidate(table: Table, request: InvalidateSentiment) -> Invalidated:
    """Delete what is cached of a subject.

    Raises:
        InvalidInput: if there is no such subject.
    """
    if SubjectRegistry(table).get(request.tool_id) is None:
        raise InvalidInput("tool_id", request.tool_id, "a subject that is there: `sourcebook subjects list`")
    SentimentCache(table).invalidate(request.tool_id)
    return Invalidated(invalidated=request.tool_id)
