"""What every handler of a workflow's task is wired of: its log, its table, its attempts."""

from __future__ import annotations

from sourcebook.start import ready

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from aws_lambda_powertools import Logger

from sourcebook.runs.tasks import HandledFailure, Handler, TaskRecorder, TaskRun
from sourcebook.settings import required
from sourcebook.table.client import Table

Act: TypeAlias = Callable[[dict[str, Any], TaskRun], Mapping[str, Any]]
"""What a task does: takes what it is asked and the run that it is of, and returns its answer."""


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
        """Return the task of this function; raise InvalidInput if its environment is wrong."""
        return cls(Table.connect(required("TABLE_NAME")), Logger())

    def handles(self, act: Act) -> Handler:
        """Return the handler of a task: `act`, recorded as an attempt."""
        return self.failing_by(lambda _: None)(act)

    def failing_by(self, failure_in: Callable[[Any], HandledFailure | None]) -> Callable[[Act], Handler]:
        """Return what `handles` does, where an answer with a failure in it is a failed attempt."""
        recorder = TaskRecorder(self.table, self.logger)

        def wrap(act: Act) -> Handler:
            @ready
            @self.logger.inject_lambda_context(clear_state=True)
            @recorder.recording(failure_in)
            def handler(event: dict[str, Any], context: Any) -> Any:  # noqa: ANN401, ARG001 - Lambda's own
                return act(event, TaskRun.of(event))

            return handler

        return wrap
