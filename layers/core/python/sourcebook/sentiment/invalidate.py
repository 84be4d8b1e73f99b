"""Deleting what is cached of a subject whose mentions have been judged anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sourcebook.errors import InvalidInput
from sourcebook.messages import Answer, Asked
from sourcebook.sentiment.cache import SentimentCache
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table.client import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalidated(Answer):
    """The subject whose entries are gone; the next read computes them."""

    invalidated: str

    def noted(self) -> Mapping[str, object]:
        """Return what the log says of it."""
        return {"tool_id": self.invalidated}


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidateSentiment(Asked):
    """Asks for what is cached of a subject to be deleted."""

    function = "invalidate_sentiment"
    results = (Invalidated,)
    tool_id: str


def invalidate(table: Table, asked: InvalidateSentiment) -> Invalidated:
    """Delete what is cached of a subject.

    Raises:
        InvalidInput: if there is no such subject.
    """
    if SubjectRegistry(table).get(asked.tool_id) is None:
        raise InvalidInput("tool_id", asked.tool_id, "a subject that is there: `sourcebook subjects list`")
    SentimentCache(table).invalidate(asked.tool_id)
    return Invalidated(invalidated=asked.tool_id)
