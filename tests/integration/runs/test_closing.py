"""A run whose execution did not write its own end is closed, once, and its lock is released."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from sourcebook.errors import InvalidInput
from sourcebook.runs.closing import EndedExecution, ExecutionEnd, RecordLate, RunCloser, RunSweeper
from sourcebook.runs.read import RunReader
from sourcebook.table import keys

if TYPE_CHECKING:
    from sourcebook.table.client import Table

pytestmark = pytest.mark.integration

BEGUN = datetime(2026, 11, 27, 21, 0, 0, 123_000, tzinfo=UTC)
STARTED_AT = "2026-11-27T21:00:00.123Z"
LATER = BEGUN + timedelta(minutes=10)
PREFIX = "arn:aws:states:eu-central-1:1:execution:SourcebookPipeline"
LOCK = "ingest_new_nova:n:1:2026-11-27"


def arn(name: str = "one", workflow: str = "ingest_new_nova") -> str:
    return f"{PREFIX}-{workflow}:{name}"


def event(status: str = "ABORTED", name: str = "one", **more: object) -> dict[str, Any]:
    milliseconds = int(BEGUN.timestamp() * 1000)
    detail = {
        "executionArn": arn(name),
        "status": status,
        "startDate": milliseconds,
        "stopDate": milliseconds + 5_000,
        "error": None,
        "cause": None,
        **more,
    }
    return {"source": "aws.states", "detail": detail}


def begin(table: Table, name: str = "one", *, run: str = "r-1", **more: object) -> None:
    """Write what a state machine writes at the beginning of a run."""
    table.put(
        {
            **keys.job_run("N", "ingest_new_nova", STARTED_AT, run),
            "GSI1PK": keys.job_run_by_id(run),
            "GSI1SK": STARTED_AT,
            "entity_type": "JobRun",
            "job_run_id": run,
            "workflow_name": "ingest_new_nova",
            "execution_arn": arn(name),
            "correlation_id": "c",
            "subject": "N",
            "status": "RUNNING",
            "timestamp": STARTED_AT,
            "started_at": STARTED_AT,
            "lock": LOCK,
            **more,
        }
    )


def lock(table: Table, run: str) -> None:
    table.put({**keys.lock(LOCK), "job_run_id": run, "ttl_timestamp": 1})


@pytest.fixture
def closer(table: Table) -> RunCloser:
    return RunCloser(table, lambda: LATER)


def run_of(table: Table, run: str = "r-1") -> dict[str, Any]:
    found = RunReader(table, lambda: LATER).get(run)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("status", "error", "error_type"),
    [
        ("ABORTED", None, "Aborted"),
        ("ABORTED", "Mine", "Mine"),
        ("TIMED_OUT", None, "TimedOut"),
        ("FAILED", "States.QueryEvaluationError", "States.QueryEvaluationError"),
    ],
)
def test_a_run_says_how_its_execution_was_ended(
    table: Table, closer: RunCloser, status: str, error: str | None, error_type: str
) -> None:
    begin(table)
    lock(table, "r-1")
    assert closer.close(EndedExecution.of_event(event(status, error=error))) == "r-1"
    found = run_of(table)
    assert (found["status"], found["outcome"], found["error_type"]) == ("FAILED", status, error_type)
    assert found["error_message"]
    assert (found["ended_at"], found["lost"]) == ("2026-11-27T21:00:05.123Z", False)
    assert table.get(keys.lock(LOCK)) is None


def test_an_event_that_comes_twice_or_late_changes_nothing(table: Table, closer: RunCloser) -> None:
    begin(table)
    assert closer.close(EndedExecution.of_event(event())) == "r-1"
    before = run_of(table)
    assert closer.close(EndedExecution.of_event(event("FAILED", cause="another"))) is None
    assert run_of(table) == before


def test_a_run_that_has_ended_by_itself_stays_as_it_ended(table: Table, closer: RunCloser) -> None:
    begin(table, status="FAILED", outcome="FAILED", error_type="NoSuchNova")
    assert closer.close(EndedExecution.of_event(event("FAILED", error="NoSuchNova"))) is None
    assert run_of(table)["error_type"] == "NoSuchNova"


def test_a_lock_that_another_run_has_is_not_released(table: Table, closer: RunCloser) -> None:
    begin(table)
    lock(table, "r-2")
    assert closer.close(EndedExecution.of_event(event())) == "r-1"
    assert table.get(keys.lock(LOCK)) is not None


def test_runs_that_began_at_one_moment_are_distinguished(table: Table, closer: RunCloser) -> None:
    for number in range(5):
        begin(table, f"x{number}", run=f"r-{number}")
    assert closer.close(EndedExecution.of_event(event(name="x3"))) == "r-3"
    assert [run_of(table, f"r-{number}")["status"] for number in (2, 3)] == ["RUNNING", "FAILED"]


def test_an_execution_that_was_ended_before_it_was_recorded_is_recorded_then(table: Table) -> None:
    name = "run-0f6a2b51-7c1e-4a51-9b52-3d5a8e0c9f11"
    ended = EndedExecution.of_event(event(name=name, cause="stopped by hand"))
    with pytest.raises(RecordLate):
        RunCloser(table, lambda: BEGUN + timedelta(seconds=6)).close(ended)
    closer = RunCloser(table, lambda: LATER)
    assert closer.close(ended) == name.removeprefix("run-")
    assert closer.close(ended) is None
    found = run_of(table, name.removeprefix("run-"))
    assert (found["workflow_name"], found["outcome"]) == ("ingest_new_nova", "ABORTED")
    assert found["error_message"] == "stopped by hand"
    other = closer.close(EndedExecution.of_event(event(name="unnamed")))
    assert other is not None
    assert run_of(table, other)["execution_arn"] == arn("unnamed")


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"detail": []},
        {"detail": {"executionArn": 5}},
        event("RUNNING"),
        event("LOST"),
        event(stopDate=None),
        event(executionArn="arn:aws:states:x"),
    ],
)
def test_an_event_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="detail"):
        EndedExecution.of_event(wrong)


class Executions:
    """Step Functions, as far as the sweep asks it."""

    def __init__(self, **status: str) -> None:
        self.status = status

    def describe_execution(self, *, executionArn: str) -> dict[str, Any]:  # noqa: N803 - boto3's own
        name = executionArn.rpartition(":")[2]
        if name not in self.status:
            raise ClientError({"Error": {"Code": "ExecutionDoesNotExist"}}, "DescribeExecution")
        output = '{"outcome": "LAUNCHED"}' if self.status[name] == "SUCCEEDED" else None
        return {"status": self.status[name], "stopDate": BEGUN + timedelta(seconds=9), "output": output}


def test_a_sweep_closes_what_the_events_lost_and_leaves_what_is_at_work(
    table: Table, closer: RunCloser
) -> None:
    executions = Executions(a="RUNNING", b="ABORTED", c="TIMED_OUT", d="SUCCEEDED", e="PENDING_REDRIVE")
    for name in (*executions.status, "gone"):
        begin(table, name, run=f"r-{name}")
    # A batch of articles is a job run too, of no execution.
    batch = keys.job_run("B", "ingest_articles", STARTED_AT, "r-batch")
    table.put({**batch, "status": "RUNNING", "timestamp": STARTED_AT})
    sweeper = RunSweeper(table, executions, closer, lambda: LATER)  # type: ignore[arg-type]
    swept = sweeper.sweep()
    assert (swept.running, swept.closed) == (6, 4)
    outcomes = {name: run_of(table, f"r-{name}")["outcome"] for name in (*executions.status, "gone")}
    assert outcomes == {
        "a": None,
        "b": "ABORTED",
        "c": "TIMED_OUT",
        "d": "LAUNCHED",
        "e": None,
        "gone": ExecutionEnd.LOST.value,
    }
    assert run_of(table, "r-d")["status"] == "SUCCEEDED"
    again = sweeper.sweep()
    assert (again.running, again.closed) == (2, 0)


def test_a_sweep_leaves_runs_that_have_just_begun_to_the_events(table: Table, closer: RunCloser) -> None:
    begin(table)
    young = lambda: BEGUN + timedelta(seconds=90)  # noqa: E731 - a clock
    swept = RunSweeper(table, Executions(one="ABORTED"), closer, young).sweep()  # type: ignore[arg-type]
    assert (swept.running, swept.closed) == (0, 0)
