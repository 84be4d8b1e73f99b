"""The records of runs whose execution ended without writing its own end: stopped, timed out, or broken.

Step Functions says so in an event, usually within seconds; a sweep finds what the events lost.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from boto3.dynamodb.conditions import Attr, ConditionBase
from boto3.dynamodb.conditions import Key as KeyCondition
from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.clock import Clock, isoformat, parse_iso, utc_now
from sourcebook.errors import InvalidInput, Retryable
from sourcebook.records.run import JobRun
from sourcebook.runs.started import NAME_PREFIX
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

INDEX_LAG: Final = timedelta(seconds=60)
"""An index shows what was written after this time at the latest."""
YOUNG: Final = timedelta(minutes=2)
"""Younger runs are not swept: an event may still come."""
MOST_PER_SWEEP: Final = 500

_MESSAGE_LIMIT: Final = 500
_NAMESPACE: Final = uuid.UUID("6f0f3a4e-8a57-4f57-9c2a-6a8c1a1f5f0b")
_GONE: Final = "ExecutionDoesNotExist"


class RecordLate(Retryable):
    """No run has been recorded for an execution, or the index does not show it yet."""


class StepFunctionsBusy(Retryable):
    """Step Functions is not able to answer now."""


class ExecutionEnd(StrEnum):
    """The end of an execution. The words are Step Functions' own, but for the last one."""

    ABORTED = "ABORTED"
    TIMED_OUT = "TIMED_OUT"
    FAILED = "FAILED"
    SUCCEEDED = "SUCCEEDED"
    LOST = "LOST"
    """Step Functions no longer knows the execution."""


_MESSAGES: Final[Mapping[ExecutionEnd, tuple[str, str]]] = {
    ExecutionEnd.ABORTED: ("Aborted", "The execution was stopped from outside before it had ended."),
    ExecutionEnd.TIMED_OUT: ("TimedOut", "The execution took longer than its workflow may."),
    ExecutionEnd.FAILED: ("ExecutionFailed", "The execution failed outside of its tasks."),
    ExecutionEnd.SUCCEEDED: ("Unrecorded", "The execution succeeded, but its record was not finished."),
    ExecutionEnd.LOST: ("Lost", "Step Functions does not know the execution any more."),
}


@dataclass(frozen=True, slots=True)
class EndedExecution:
    """An execution that has ended.

    Attributes:
        arn: of the execution.
        how: how it ended.
        started_at: when it began, as its run has it.
        ended_at: when it ended.
        error: its error, if it has one.
        cause: what the error's cause is, likewise.
        outcome: what its output says, if it has succeeded.
    """

    arn: str
    how: ExecutionEnd
    started_at: str
    ended_at: str
    error: str = ""
    cause: str = ""
    outcome: str = ""

    @classmethod
    def of_event(cls, event: Mapping[str, object]) -> EndedExecution:
        """Read an event "Step Functions Execution Status Change".

        Raises:
            InvalidInput: naming what is missing or wrong.
        """
        detail = event.get("detail")
        if not isinstance(detail, Mapping):
            raise InvalidInput("detail", detail, "the detail of an event of Step Functions")
        arn, status = detail.get("executionArn"), detail.get("status")
        if not isinstance(arn, str) or ":execution:" not in arn:
            raise InvalidInput("detail.executionArn", arn, "the ARN of an execution")
        if status not in set(ExecutionEnd) - {ExecutionEnd.LOST}:
            raise InvalidInput("detail.status", status, "how an execution ended, such as ABORTED")
        times = {}
        for name in ("startDate", "stopDate"):
            milliseconds = detail.get(name)
            if not isinstance(milliseconds, int):
                raise InvalidInput(f"detail.{name}", milliseconds, "milliseconds since 1970")
            times[name] = isoformat(datetime.fromtimestamp(milliseconds / 1000, UTC), "milliseconds")
        return cls(arn, ExecutionEnd(status), times["startDate"], times["stopDate"], **_said(detail))


@dataclass(frozen=True, slots=True)
class RunCloser:
    """Closes the record of an execution that has ended, and releases its lock. Repeating it is harmless."""

    table: Table
    clock: Clock = utc_now

    def close(self, ended: EndedExecution) -> str | None:
        """Close the run's record. Return its id, None if the execution had closed it itself.

        A run that was ended before it was recorded is recorded now. Raise RecordLate if there is no record,
        and it is too early to say that there will be none.
        """
        run = self._find(ended)
        if run is None:
            if self.clock() - parse_iso(ended.ended_at) < INDEX_LAG:
                raise RecordLate(f"no run is recorded yet for {ended.arn}")
            return self._record(ended)
        # First, for what is closed is not looked at again.
        self._release(run)
        closed = self.table.change_if(
            Attr("status").eq("RUNNING"),
            keys.key_of(run),
            assign={**_closing(ended), "updated_at": isoformat(self.clock(), "milliseconds")},
        )
        return str(run["job_run_id"]) if closed else None

    def _find(self, ended: EndedExecution) -> Item | None:
        """Return the run of an execution, which begins at the same moment."""
        begun = parse_iso(ended.started_at)
        earliest, latest = (isoformat(begun + timedelta(seconds=s), "milliseconds") for s in (-1, 1))
        for status in ("RUNNING", "FAILED", "SUCCEEDED"):
            for run in _runs(self.table, status, KeyCondition("timestamp").between(earliest, latest)):
                if run.get("execution_arn") == ended.arn:
                    return run
        return None

    def _release(self, run: Item) -> None:
        if "lock" in run:
            with suppress(ConditionFailed):  # another run has it by now, or nobody
                self.table.delete(keys.lock(run["lock"]), Attr("job_run_id").eq(run["job_run_id"]))

    def _record(self, ended: EndedExecution) -> str:
        """Record a run that was ended before its execution had done so."""
        *_, state_machine, name = ended.arn.split(":")
        workflow = state_machine.rpartition("-")[2]
        given = name.removeprefix(NAME_PREFIX)
        job_run_id = given if given != name else str(uuid.uuid5(_NAMESPACE, ended.arn))
        run = JobRun(
            job_run_id=job_run_id,
            workflow_name=workflow,
            execution_arn=ended.arn,
            correlation_id=name,
            subject="-",
            timestamp=ended.started_at,
            started_at=ended.started_at,
            created_at=ended.started_at,
            updated_at=isoformat(self.clock(), "milliseconds"),
        )
        partition = keys.workflow_partition(workflow, name)
        key = keys.job_run(partition, workflow, ended.started_at, job_run_id)
        by_id = keys.EligibilityKey(GSI1PK=keys.job_run_by_id(job_run_id), GSI1SK=ended.started_at)
        self.table.create(run.to_item(key, by_id) | _closing(ended))
        return job_run_id


@dataclass(frozen=True, slots=True)
class SweptRuns:
    """Counts of a sweep.

    Attributes:
        running: runs that it has looked at.
        closed: those whose execution had ended.
    """

    running: int
    closed: int


@dataclass(frozen=True, slots=True)
class RunSweeper:
    """Closes the runs whose execution has ended and whose event was lost."""

    table: Table
    client: SFNClient
    closer: RunCloser
    clock: Clock = field(default=utc_now)

    def sweep(self) -> SweptRuns:
        """Check the runs that have not ended, the oldest first, and record how their executions ended.

        Raises:
            StepFunctionsBusy: if Step Functions does not answer; what was closed is closed.
        """
        running = closed = 0
        for run in self._running():
            running += 1
            ended = self._ended(run)
            closed += ended is not None and self.closer.close(ended) is not None
            if running == MOST_PER_SWEEP:
                break
        return SweptRuns(running, closed)

    def _running(self) -> Iterator[Item]:
        until = isoformat(self.clock() - YOUNG, "milliseconds")
        for run in _runs(self.table, "RUNNING", KeyCondition("timestamp").lt(until)):
            # What no execution has, such as a batch of articles, is none of these.
            if run.get("status") == "RUNNING" and "execution_arn" in run:
                yield run

    def _ended(self, run: Item) -> EndedExecution | None:
        """Return how the execution of a run has ended, None if it is at work."""
        arn = str(run["execution_arn"])
        try:
            found = self.client.describe_execution(executionArn=arn)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != _GONE:
                raise StepFunctionsBusy(f"{arn}: {error}") from error
            now = isoformat(self.clock(), "milliseconds")
            return EndedExecution(arn, ExecutionEnd.LOST, str(run["started_at"]), now)
        except BotoCoreError as error:
            raise StepFunctionsBusy(f"{arn}: Step Functions did not answer") from error
        if found["status"] not in set(ExecutionEnd):
            return None
        stopped = isoformat(found["stopDate"], "milliseconds")
        return EndedExecution(
            arn, ExecutionEnd(found["status"]), str(run["started_at"]), stopped, **_said(found)
        )


def _runs(table: Table, status: str, when: ConditionBase) -> Iterator[Item]:
    """Yield the runs that the index has under a status, as they are now."""
    for row in table.query_all(
        KeyCondition("status").eq(status) & when, index=keys.STATUS_INDEX, page_size=100
    ):
        if row["SK"].startswith(keys.JOB_RUN_PREFIX) and (
            run := table.get(keys.key_of(row), consistent=True)
        ):
            yield run


def _closing(ended: EndedExecution) -> dict[str, str]:
    """Return what a run's record says of its end."""
    kind, default = _MESSAGES[ended.how]
    message = " ".join(ended.cause.split())[:_MESSAGE_LIMIT] or default
    closing = {"status": "FAILED", "outcome": ended.how.value, "result": "{}", "ended_at": ended.ended_at}
    if ended.how is ExecutionEnd.SUCCEEDED:
        closing |= {"status": "SUCCEEDED", "outcome": ended.outcome or kind}
    return closing | {"error_type": ended.error or kind, "error_message": message}


def _said(execution: Mapping[str, object]) -> dict[str, str]:
    """Return what Step Functions says of an execution: its error, the cause, and its output's outcome."""
    output = execution.get("output")
    try:
        found = json.loads(output) if isinstance(output, str) else None
    except ValueError:
        found = None
    outcome = found.get("outcome") if isinstance(found, dict) else None
    return {
        "error": str(execution.get("error") or ""),
        "cause": str(execution.get("cause") or ""),
        "outcome": outcome if isinstance(outcome, str) else "",
    }
