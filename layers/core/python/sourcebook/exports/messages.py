"""Requests and results of the task that exports days: little, since the API loads it."""

from __future__ import annotations

from dataclasses import dataclass

from sourcebook.messages import TaskRequest, TaskResult


@dataclass(frozen=True, slots=True)
class Exported(TaskResult):
    """How far an export is, in the form in which the next call takes it.

    Attributes:
        since: first day of the period.
        until: the day after its last.
        next: the piece to go on with.
        pieces: how many there are; the last one writes the manifest.
        rows: records that were written so far, in each of the forms.
        kept: files that were left as they are, since their day has begun to expire.
        done: whether all is written.
    """

    LOGGED = ("since", "until", "next", "pieces", "rows", "kept", "done")
    since: str
    until: str
    next: int
    pieces: int
    rows: int
    kept: int
    done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportDays(TaskRequest):
    """Asks for the next days of a period, by what the call before has answered.

    Attributes:
        since: see `Exported`, as of the others.
    """

    function = "export_days"
    results = (Exported,)
    since: str
    until: str
    next: int = 0
    rows: int = 0
    kept: int = 0
