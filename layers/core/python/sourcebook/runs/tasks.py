"""One Attempt for each invocation of a task: written before the work, completed after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias, TypeVar

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput, SourcebookError
from sourcebook.messages import HandledFailure, Message, SchemaRule, TaskResult
from sourcebook.runs.errors import Held, as_step_functions_knows, error_fingerprint, short_message
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

ResultT = TypeVar("ResultT", bound=TaskResult)

Text: TypeAlias = Annotated[str, SchemaRule({"minLength": 1})]
_TIES: Final = 50


@dataclass(frozen=True, slots=True)
class TaskRun(Message):
    """The run that a task belongs to: the member `run` of its payload.

    Attributes:
        record: partition of the run's records.
        task_name: name of the state.
        attempt_no: 1, and one more for each retry.
    """

    workflow_name: Text
    job_run_id: Annotated[str, SchemaRule({"pattern": r"^[0-9A-Za-z_-]{1,80}\Z"})]
    correlation_id: Text
    execution_arn: Text
    record: Text
    task_name: Text
    attempt_no: Annotated[int, SchemaRule({"minimum": 1})]

    @classmethod
    def of(cls, event: Mapping[str, object]) -> TaskRun:
        """Read the member `run` of a task's payload. Raise InvalidInput naming what is missing or wrong."""
        return cls.of_json(event.get("run"), "run")

    def log_fields(self) -> dict[str, object]:
        """Return what every log line of the task carries."""
        return {
            "workflow_name": self.workflow_name,
            "execution_arn": self.execution_arn,
            "job_run_id": self.job_run_id,
            "state_name": self.task_name,
            "attempt_number": self.attempt_no,
            "schema_version": SCHEMA_VERSION,
            "correlation_id": self.correlation_id,
        }


@dataclass(frozen=True, slots=True)
class TaskRecorder:
    """Records the attempts of a Lambda's task.

    Attributes:
        table: where they are written.
        logger: gets the run's fields, and one line for each attempt.
    """

    table: Table
    logger: Logger
    clock: Clock = utc_now
    monotonic: Callable[[], float] = time.monotonic

    def attempt(self, task: TaskRun, work: Callable[[], ResultT]) -> ResultT:
        """Do a task's work, record the attempt, and return the result.

        STARTED is written first: what crashes or times out stays STARTED and is seen. A result with a
        `handled_failure` makes a failed attempt.

        Raises:
            Exception: what the work has raised, under the name by which Step Functions matches it.
        """
        self.logger.append_keys(**task.log_fields())
        begun = self.monotonic()
        try:
            key = self._start(task)
        except Exception as error:
            raise as_step_functions_knows(error) from error
        try:
            result = work()
        except Exception as error:
            self._fail(key, error, begun)
            raise as_step_functions_knows(error) from error
        failure = result.handled_failure()
        outcome = {"status": "SUCCEEDED"} if failure is None else _failed(failure)
        self._end(key, outcome, begun, result.log_fields())
        return result

    def _start(self, task: TaskRun) -> keys.Key:
        # dispatch_sources, which is called each minute and without a run, loads no records at its start.
        from sourcebook.records.run import Attempt  # noqa: PLC0415

        now = self.clock()
        for tie in range(_TIES):
            # Several items of a map may start within one millisecond.
            moment = isoformat(now + timedelta(milliseconds=tie), "milliseconds")
            key = keys.attempt(task.record, task.job_run_id, task.task_name, task.attempt_no, moment)
            attempt = Attempt(
                job_run_id=task.job_run_id,
                task_name=task.task_name,
                attempt_no=task.attempt_no,
                status="STARTED",
                created_at=moment,
                updated_at=moment,
            )
            there = self.table.create(attempt.to_item(key))
            if there is None:
                return key
        raise InvalidInput("run", task.task_name, f"fewer than {_TIES} attempts within a millisecond")

    def _fail(self, key: keys.Key, error: Exception, begun: float) -> None:
        values = _failed(HandledFailure(type(error).__name__, str(error)))
        if isinstance(error, Held):
            values["held"] = {"reason_code": error.reason_code, "context": error.context}
        level = self.logger.warning if isinstance(error, SourcebookError) else self.logger.error
        level(
            "task_failed",
            extra={
                "error_class": values["error_type"],
                "error_fingerprint": values["error_fingerprint"],
                "reason": str(error),
            },
            exc_info=not isinstance(error, SourcebookError),
        )
        self._end(key, values, begun)

    def _end(
        self,
        key: keys.Key,
        values: Mapping[str, object],
        begun: float,
        log_fields: Mapping[str, object] | None = None,
    ) -> None:
        duration = round((self.monotonic() - begun) * 1000)
        moment = isoformat(self.clock(), "milliseconds")
        try:
            self.table.update(key, assign={**values, "duration_ms": duration, "updated_at": moment})
        except (SourcebookError, ConditionFailed) as error:
            # The work is done, or has its own error to tell: a record that stays STARTED is the lesser harm.
            self.logger.exception("attempt_not_recorded", extra={"reason": str(error)})
            return
        answer = {"answer": log_fields} if log_fields else {}
        self.logger.info("task_ended", extra={"outcome": values["status"], "duration_ms": duration, **answer})


def _failed(failure: HandledFailure) -> dict[str, object]:
    """Return the attributes of an attempt that has failed."""
    return {
        "status": "FAILED",
        "error_type": failure.error_type,
        "error_message": short_message(failure.message),
        "error_fingerprint": error_fingerprint(failure.message, failure.error_type),
    }
