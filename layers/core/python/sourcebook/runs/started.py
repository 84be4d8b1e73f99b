"""Runs that the API has started: known at once, a moment before they have a record of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sourcebook.clock import Clock, epoch_seconds, isoformat, utc_now
from sourcebook.records.run import StartedRun
from sourcebook.table import keys
from sourcebook.table.client import Table

KEPT: Final = timedelta(days=1)
NAME_PREFIX: Final = "run-"
"""An execution of this name and a UUID has a run of that id; statemachines/ has it from here."""


@dataclass(frozen=True, slots=True)
class StartedRuns:
    """Records the runs that the API starts."""

    table: Table
    clock: Clock = utc_now

    def start(
        self,
        start: Callable[[str, Mapping[str, object], str], str],
        workflow: str,
        payload: Mapping[str, object],
        job_run_id: str,
        *,
        correlation_id: str,
    ) -> str:
        """Start a workflow as a run of this id, and return its execution's ARN.

        A run that was started under this id before is returned as it is.
        """
        # State machines take fewer characters than the gateway writes.
        correlation_id = re.sub(r"[^A-Za-z0-9._:-]", "-", correlation_id)[:128] or job_run_id
        now = self.clock()
        key = keys.started_run(job_run_id)
        run = StartedRun(
            job_run_id=job_run_id,
            workflow_name=workflow,
            started_at=isoformat(now, "milliseconds"),
            correlation_id=correlation_id,
            ttl_timestamp=epoch_seconds(now + KEPT),
        )
        self.table.put(run.to_item(key))
        try:
            execution_name = f"{NAME_PREFIX}{job_run_id}"
            return start(workflow, {**payload, "correlation_id": correlation_id}, execution_name)
        except BaseException:
            self.table.delete(key)
            raise
