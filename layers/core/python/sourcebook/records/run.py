"""A run of a workflow: its record, the attempts of its tasks, and what the API writes before there is one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from sourcebook.records.base import NOT_SHOWN, EpochSeconds, Place, Record, Time, View
from sourcebook.table import keys


class RunStatus(StrEnum):
    """Where a run stands."""

    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun(Record):
    """One execution of a workflow."""

    PLACE: ClassVar = Place(keys.job_run, "the workflow itself", (keys.ELIGIBILITY_INDEX, keys.STATUS_INDEX))

    job_run_id: Annotated[str, "Its id."]
    workflow_name: Annotated[str, "The workflow."]
    subject: Annotated[str | None, "What the run is about, in the workflow's own terms."] = None
    nova_id: Annotated[str | None, "The nova that it is about, or that it has made."] = None
    status: Annotated[RunStatus, "Where it stands."] = RunStatus.RUNNING
    outcome: Annotated[str | None, "How it ended, in the workflow's own terms."] = None
    started_at: Annotated[Time, "When it began."]
    ended_at: Annotated[Time | None, "When it ended."] = None
    correlation_id: Annotated[str | None, "Joins the logs of what belongs together."] = None
    execution_arn: Annotated[str | None, "The execution of Step Functions."] = None
    error_type: Annotated[str | None, "The class of the error that ended it."] = None
    error_message: Annotated[str | None, "The error in words."] = None
    input: Annotated[object, "What it was started with; null for a run from before 2026-11-29."] = None
    result: Annotated[object, "What the run came to, in the workflow's own terms."] = None
    lock: Annotated[str | None, "What no other run may have at the same time.", NOT_SHOWN] = None
    timestamp: Annotated[Time | None, "Orders runs: when it began.", NOT_SHOWN] = None
    created_at: Annotated[Time | None, "When it was recorded.", NOT_SHOWN] = None
    updated_at: Annotated[Time | None, "When its record was last written.", NOT_SHOWN] = None

    def shown(self) -> View:
        """Return what the API shows of it: input and result are not the texts that they are kept as."""
        return Record.shown(self) | {"input": _read(self.input), "result": _read(self.result)}


def _read(written: object) -> object:
    """Return what a state machine has written as JSON, having no other way."""
    if isinstance(written, str):
        with suppress(ValueError):
            return json.loads(written)
    return written


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(Record):
    """One attempt of a task of a run. STARTED is written first: what crashes stays STARTED."""

    PLACE: ClassVar = Place(keys.attempt, "the function of the task")

    job_run_id: Annotated[str | None, "The run.", NOT_SHOWN] = None
    task_name: Annotated[str | None, "The task."] = None
    attempt_no: Annotated[int | None, "Of this task, from 1."] = None
    status: Annotated[str | None, "STARTED, SUCCEEDED or FAILED."] = None
    error_type: Annotated[str | None, "The class of its error."] = None
    error_message: Annotated[str | None, "Its error in words."] = None
    error_fingerprint: Annotated[str | None, "The same for errors of the same kind."] = None
    duration_ms: Annotated[float | None, "How long it took."] = None
    held: Annotated[Mapping[str, object] | None, "Why its task holds what it has found.", NOT_SHOWN] = None
    created_at: Annotated[Time, "When it began."]
    updated_at: Annotated[Time | None, "When it ended.", NOT_SHOWN] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedRun(Record):
    """A run that the API is about to start: known at once, before the workflow has recorded it."""

    PLACE: ClassVar = Place(keys.started_run, "the API; 1 day")

    job_run_id: Annotated[str, "The run's id."]
    workflow_name: Annotated[str, "The workflow."]
    status: Annotated[RunStatus, "RUNNING."] = RunStatus.RUNNING
    started_at: Annotated[Time, "When it was asked for."]
    correlation_id: Annotated[str, "Joins the logs of what belongs together."]
    ttl_timestamp: Annotated[EpochSeconds, "When it expires."]
