"""Handlers of workflow tasks: each reads its request, does the work as a recorded attempt, and answers."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.messages import Json, TaskRequest, TaskResult
from sourcebook.runs.tasks import TaskRecorder, TaskRun
from sourcebook.settings import required
from sourcebook.table.client import Table

Event: TypeAlias = Mapping[str, object]
Handler: TypeAlias = Callable[[Event, LambdaContext], Mapping[str, Json]]
RequestT = TypeVar("RequestT", bound=TaskRequest)


@dataclass(frozen=True, slots=True)
class Task:
    """The workflow task of one Lambda function.

    Attributes:
        table: where its attempts are written.
        logger: has the run's ids in every line.
    """

    table: Table
    logger: Logger

    @classmethod
    def connect(cls) -> Task:
        """Return the task of this function; raise MissingSetting if its table is not set."""
        return cls(Table.connect(required("TABLE_NAME")), Logger())

    def handler(self, kind: type[RequestT], work: Callable[[RequestT, TaskRun], TaskResult]) -> Handler:
        """Return the handler of a task that only workflows call; each call is recorded as an attempt.

        Args:
            kind: class of the request.
            work: does the task; it gets the request and the run.
        """
        recorder = TaskRecorder(self.table, self.logger)

        def handle(event: Event, context: LambdaContext) -> Mapping[str, Json]:  # noqa: ARG001 - Lambda's own signature
            run = TaskRun.of(event)
            return recorder.attempt(run, lambda: work(kind.of_json(event), run)).to_json()

        return collect_garbage_from_now(self.logger.inject_lambda_context(handle, clear_state=True))

    def handler_of_all_callers(
        self, kind: type[RequestT], work: Callable[[RequestT, LambdaContext], TaskResult]
    ) -> Handler:
        """Return the handler of a task that others than workflows call too, such as a schedule.

        Only the calls of a workflow are recorded as attempts.

        Args:
            kind: class of the request.
            work: does the task; it gets the request and Lambda's context.
        """
        recorder = TaskRecorder(self.table, self.logger)

        def handle(event: Event, context: LambdaContext) -> Mapping[str, Json]:
            def attempt() -> TaskResult:
                return work(kind.of_json(event), context)

            result = recorder.attempt(TaskRun.of(event), attempt) if "run" in event else attempt()
            return result.to_json()

        return collect_garbage_from_now(self.logger.inject_lambda_context(handle, clear_state=True))
