"""The wiring of every handler of a workflow's task: its log, its table, its attempts."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.messages import Answer, Asked, Json
from sourcebook.runs.tasks import TaskRecorder, TaskRun
from sourcebook.settings import required
from sourcebook.table.client import Table

Event: TypeAlias = Mapping[str, object]
Handler: TypeAlias = Callable[[Event, LambdaContext], Mapping[str, Json]]
AskedT = TypeVar("AskedT", bound=Asked)


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a workflow.

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

    def handler(self, asked: type[AskedT], task: Callable[[AskedT, TaskRun], Answer]) -> Handler:
        """Return the handler of a task that only workflows call: `task`, recorded as an attempt.

        Args:
            asked: what `task` takes.
            task: does the work; it gets the run too.
        """
        recorder = TaskRecorder(self.table, self.logger)

        def handle(event: Event, context: LambdaContext) -> Mapping[str, Json]:  # noqa: ARG001 - Lambda's own signature
            run = TaskRun.of(event)
            return recorder.attempt(run, lambda: task(asked.of_json(event), run)).to_json()

        return collect_garbage_from_now(self.logger.inject_lambda_context(handle, clear_state=True))

    def handler_alone(self, asked: type[AskedT], task: Callable[[AskedT, LambdaContext], Answer]) -> Handler:
        """Return the handler of a task that is also called by itself, and then leaves no attempt.

        Args:
            asked: what `task` takes.
            task: does the work; it gets Lambda's context too.
        """
        recorder = TaskRecorder(self.table, self.logger)

        def handle(event: Event, context: LambdaContext) -> Mapping[str, Json]:
            def work() -> Answer:
                return task(asked.of_json(event), context)

            answer = recorder.attempt(TaskRun.of(event), work) if "run" in event else work()
            return answer.to_json()

        return collect_garbage_from_now(self.logger.inject_lambda_context(handle, clear_state=True))
