"""Requests and results of the task that rebuilds the canonical layer: little, since the API loads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from sourcebook.errors import InvalidInput
from sourcebook.messages import TaskRequest, TaskResult


@dataclass(frozen=True, slots=True)
class RebuildCounts(TaskResult):
    """The progress so far, in the form in which the next call takes it.

    Attributes:
        source_ids: only these sources' figures; all when None.
        after: series and sort key of the last item that was looked at; None at the beginning and the end.
        examined: items looked at.
        changed: those among them that were not as they should be.
        done: whether all were looked at.
    """

    LOGGED = ("examined", "changed", "done")
    source_ids: tuple[str, ...] | None = None
    after: tuple[str, ...] | None = None
    examined: int = 0
    changed: int = 0
    done: bool = False


@dataclass(frozen=True, slots=True)
class RebuildCanonical(RebuildCounts, TaskRequest):
    """Asks for the next piece, by what the call before has answered; for the first piece by nothing."""

    function = "rebuild_canonical"
    results = (RebuildCounts,)

    @classmethod
    def of_json(cls, value: object, within: str = "") -> Self:
        """Read it. Raise InvalidInput if `source_ids` is empty, or `after` is no place."""
        request = super(RebuildCanonical, cls).of_json(value, within)
        if request.source_ids == ():
            raise InvalidInput("source_ids", [], "the ids of sources, or nothing for all of them")
        if request.after is not None and len(request.after) != 2:
            raise InvalidInput(
                "after", list(request.after), "series and sort key, as the call before answered"
            )
        return request
