"""Requests and results of the task that deletes cached sentiment: little, since the API loads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sourcebook.messages import TaskRequest, TaskResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalidated(TaskResult):
    """The subject whose entries are gone; the next read computes them."""

    invalidated: str

    def log_fields(self) -> Mapping[str, object]:
        """Return the fields that the log has of this result."""
        return {"tool_id": self.invalidated}


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidateSentiment(TaskRequest):
    """Asks for what is cached of a subject to be deleted."""

    function = "invalidate_sentiment"
    results = (Invalidated,)
    tool_id: str
