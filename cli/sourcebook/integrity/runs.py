"""Runs of workflows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sourcebook.clock import Clock, parse_iso, utc_now
from sourcebook.integrity.model import Check, IntegrityFinding, is_of
from sourcebook.runs.read import LONG_RUNS, LONGEST_RUN
from sourcebook.table.codec import Item


@dataclass(frozen=True, slots=True)
class RunsEnd(Check):
    """A run of a workflow has ended, well or badly, within the time that its state machine has."""

    clock: Clock = utc_now
    name = "runs"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield runs that are open for longer."""
        for run in items:
            if not is_of(run, "JobRun") or run["status"] != "RUNNING":
                continue
            limit = LONG_RUNS.get(run["workflow_name"], LONGEST_RUN)
            if self.clock() - parse_iso(run["started_at"]) > limit:
                problem = (
                    f"{run['workflow_name']} is RUNNING since {run['started_at']}, and has {limit} to end: "
                    f"it was aborted or lost; see {run.get('execution_arn') or 'its execution'}"
                )
                # Nothing in the table says how the run ended.
                yield self.found(run, problem, repairable=False)
