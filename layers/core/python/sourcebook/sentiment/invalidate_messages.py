"""What the task that deletes cached sentiment is asked and answers: little, since the API loads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sourcebook.messages import Answer, Asked


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
