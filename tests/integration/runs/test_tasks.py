"""Each invocation of a task leaves an attempt, whatever becomes of it."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from aws_lambda_powertools import Logger

from sourcebook.errors import InvalidInput, Quarantine, Retryable, Terminal
from sourcebook.messages import HandledFailure, TaskResult
from sourcebook.runs.errors import Held
from sourcebook.runs.read import RunReader
from sourcebook.runs.tasks import TaskRecorder, TaskRun
from sourcebook.table import keys
from sourcebook.table.client import TableBusy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourcebook.table.client import Table

pytestmark = pytest.mark.integration

NOW = datetime(2026, 11, 27, 21, 0, tzinfo=UTC)
RECORD = "WORKFLOW#initialize_nova#c-1"


def payload(attempt_no: int = 1, task: str = "Resolve the name") -> dict[str, Any]:
    return {
        "name": "V1324 Sco",
        "run": {
            "workflow_name": "initialize_nova",
            "job_run_id": "5a4fce02-3b02-4b5c-8d06-541d9f2d4f60",
            "correlation_id": "c-1",
            "execution_arn": "arn:aws:states:us-east-1:1:execution:x:y",
            "started_at": "2026-11-27T21:00:00.000Z",
            "record": RECORD,
            "task_name": task,
            "attempt_no": attempt_no,
        },
    }


@dataclass(frozen=True, slots=True)
class Said(TaskResult):
    word: str = ""
    page: bool = False

    def handled_failure(self) -> HandledFailure | None:
        return HandledFailure("WebPage", "HTML_BODY: a page of 12 kB came") if self.page else None

    def log_fields(self) -> Mapping[str, object]:
        return {"word": self.word}


def task(attempt_no: int = 1, name: str = "Resolve the name") -> TaskRun:
    return TaskRun.of(payload(attempt_no, name))


class Ticking:
    """Each look at the clock is a second later."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def lines() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def recorder(table: Table, lines: io.StringIO) -> TaskRecorder:
    logger = Logger(service=f"test-{id(lines)}", stream=lines)
    return TaskRecorder(table, logger, Ticking())


def attempts(table: Table) -> list[dict[str, Any]]:
    return RunReader(table).attempts(RECORD, payload()["run"]["job_run_id"])


def test_started_is_written_before_the_work(recorder: TaskRecorder, table: Table) -> None:
    seen: list[str] = []

    def work() -> Said:
        seen.extend(attempt["status"] for attempt in attempts(table))
        return Said("V1324 SCO")

    assert recorder.attempt(task(), work) == Said("V1324 SCO")
    assert seen == ["STARTED"]
    (attempt,) = attempts(table)
    assert attempt["status"] == "SUCCEEDED"
    assert attempt["task_name"] == "Resolve the name"
    assert attempt["duration_ms"] >= 0
    assert attempt["SK"].startswith(
        "ATTEMPT#5a4fce02-3b02-4b5c-8d06-541d9f2d4f60#Resolve the name#1#2026-11-27T21:00:01"
    )


def test_a_crash_shows(recorder: TaskRecorder, table: Table) -> None:
    class Killed(BaseException):
        """What no handler catches: the process is gone."""

    def work() -> Said:
        raise Killed

    with pytest.raises(Killed):
        recorder.attempt(task(), work)
    (attempt,) = attempts(table)
    assert attempt["status"] == "STARTED"
    assert "duration_ms" not in attempt


@pytest.mark.parametrize(
    ("error", "leaves_as"),
    [
        (TableBusy("later"), Retryable),
        (Retryable("later"), Retryable),
        (Held("AMBIGUOUS_NAME", "which?", {"candidates": ["a"]}), Quarantine),
        (Terminal("never"), Terminal),
        (InvalidInput("name", "", "a name"), InvalidInput),
        (KeyError("bug"), KeyError),
    ],
)
def test_a_failure_is_recorded_and_leaves_as_a_word_of_the_state_machines(
    recorder: TaskRecorder, table: Table, error: Exception, leaves_as: type[Exception]
) -> None:
    def work() -> Said:
        raise error

    with pytest.raises(leaves_as) as raised:
        recorder.attempt(task(), work)
    assert type(raised.value) is leaves_as
    (attempt,) = attempts(table)
    assert (attempt["status"], attempt["error_type"]) == ("FAILED", type(error).__name__)
    assert attempt["error_fingerprint"].startswith(f"{type(error).__name__}:")
    held = {"reason_code": "AMBIGUOUS_NAME", "context": {"candidates": ["a"]}}
    assert attempt.get("held") == (held if isinstance(error, Held) else None)


def test_retries_and_the_items_of_a_map_are_attempts_of_their_own(table: Table, lines: io.StringIO) -> None:
    logger = Logger(service=f"test-{id(lines)}", stream=lines)
    recorder = TaskRecorder(table, logger, lambda: NOW)
    for attempt_no in (1, 2, 3):
        recorder.attempt(task(attempt_no), Said)
    for _ in range(3):
        recorder.attempt(task(1, "Store a chunk"), Said)
    found = [(attempt["task_name"], attempt["attempt_no"]) for attempt in attempts(table)]
    assert sorted(found) == [("Resolve the name", n) for n in (1, 2, 3)] + [("Store a chunk", 1)] * 3


def test_log_lines_carry_the_run(recorder: TaskRecorder, lines: io.StringIO) -> None:
    def work() -> Said:
        raise Terminal("never")

    with pytest.raises(Terminal):
        recorder.attempt(task(2), work)
    written = [json.loads(line) for line in lines.getvalue().splitlines()]
    failed = next(line for line in written if line["message"] == "task_failed")
    assert {
        name: failed[name]
        for name in (
            "workflow_name",
            "job_run_id",
            "state_name",
            "attempt_number",
            "correlation_id",
            "error_class",
        )
    } == {
        "workflow_name": "initialize_nova",
        "job_run_id": "5a4fce02-3b02-4b5c-8d06-541d9f2d4f60",
        "state_name": "Resolve the name",
        "attempt_number": 2,
        "correlation_id": "c-1",
        "error_class": "Terminal",
    }
    assert failed["execution_arn"]
    assert failed["schema_version"] == "1"
    assert failed["error_fingerprint"].startswith("Terminal:")


@pytest.mark.parametrize(
    "change", [{"job_run_id": "../x"}, {"record": ""}, {"attempt_no": 0}, {"task_name": 1}]
)
def test_a_run_that_is_none_is_refused(change: dict[str, Any]) -> None:
    event = payload()
    event["run"] |= change
    with pytest.raises(InvalidInput, match=r"run\."):
        TaskRun.of(event)


def run_item(number: int, status: str = "SUCCEEDED", workflow: str = "initialize_nova") -> dict[str, Any]:
    started = f"2026-11-27T21:00:{number:02d}.000Z"
    run_id = f"run-{number}"
    return {
        **keys.job_run(keys.workflow_partition(workflow, f"c-{number}"), workflow, started, run_id),
        "GSI1PK": keys.job_run_by_id(run_id),
        "GSI1SK": started,
        "entity_type": "JobRun",
        "job_run_id": run_id,
        "workflow_name": workflow,
        "status": status,
        "timestamp": started,
        "started_at": started,
        "result": '{"found": 3}',
    }


def test_runs_are_listed_newest_first_by_status_and_workflow(table: Table) -> None:
    items = [run_item(n, ("SUCCEEDED", "FAILED", "RUNNING")[n % 3]) for n in range(12)]
    for item in [*items, run_item(50, workflow="ingest_new_nova")]:
        table.put(item)
    reader = RunReader(table, lambda: NOW)
    seen: list[str] = []
    cursor = None
    while True:
        page = reader.page(limit=5, cursor=cursor)
        seen += [run["job_run_id"] for run in page.items]
        if (cursor := page.next_cursor) is None:
            break
    assert seen == ["run-50", *(f"run-{n}" for n in reversed(range(12)))]
    failed = reader.page(status="FAILED", limit=100).items
    assert {run["status"] for run in failed} == {"FAILED"}
    assert len(failed) == 4
    assert [run["job_run_id"] for run in reader.page(workflow="ingest_new_nova", limit=9).items] == ["run-50"]
    found = reader.get("run-3")
    assert found is not None
    assert (found["result"], found["attempts"]) == ({"found": 3}, [])
    assert reader.get("run-99") is None


@pytest.mark.parametrize("status", [None, "FAILED"])
def test_many_runs_that_began_at_one_moment_are_listed_once_each(
    table: Table, monkeypatch: pytest.MonkeyPatch, status: str | None
) -> None:
    monkeypatch.setattr("sourcebook.table.pages.SORTED_AT_MOST", 4)
    statuses = ("SUCCEEDED", "FAILED", "RUNNING")
    items = [run_item(n, statuses[n % 3]) | {"timestamp": "2026-11-27T21:00:00.000Z"} for n in range(24)]
    for item in [*items, run_item(50, "FAILED"), run_item(51, "FAILED")]:
        table.put(item)
    reader = RunReader(table, lambda: NOW)
    seen: list[str] = []
    cursor = None
    for _ in range(30):
        page = reader.page(status=status, limit=3, cursor=cursor)
        seen += [run["job_run_id"] for run in page.items]
        if (cursor := page.next_cursor) is None:
            break
    wanted = [n for n in range(24) if status in {None, statuses[n % 3]}]
    assert sorted(seen) == sorted(f"run-{n}" for n in [*wanted, 50, 51])


def test_a_rare_workflow_among_many_runs_ends_pages_early_and_is_found(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sourcebook.table.pages.READ_AT_MOST", 5)
    for number in range(1, 24):
        table.put(run_item(number))
    table.put(run_item(0, workflow="ingest_new_nova"))
    reader = RunReader(table, lambda: NOW)
    page = reader.page(workflow="ingest_new_nova", limit=5)
    assert page.items == []
    pages = 1
    while page.next_cursor is not None and not page.items:
        page = reader.page(workflow="ingest_new_nova", limit=5, cursor=page.next_cursor)
        pages += 1
    assert [run["job_run_id"] for run in page.items] == ["run-0"]
    assert pages == 5


def test_a_run_that_never_ended_is_said_to_be_lost(table: Table) -> None:
    table.put(run_item(1, "RUNNING"))

    def lost(after: timedelta) -> bool:
        found = RunReader(table, lambda: NOW + after).get("run-1")
        assert found is not None
        return bool(found["lost"])

    assert not lost(timedelta(minutes=10))
    assert lost(timedelta(hours=1))


def test_an_answer_with_a_failure_in_it_is_a_failed_attempt(
    recorder: TaskRecorder, table: Table, lines: io.StringIO
) -> None:
    page = Said("a page", page=True)
    assert recorder.attempt(task(1), lambda: page) == page, "the workflow goes on by the answer"
    recorder.attempt(task(2), lambda: Said("a file"))
    written = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [line["answer"] for line in written] == [{"word": "a page"}, {"word": "a file"}]
    first, second = attempts(table)
    assert (first["status"], first["error_type"]) == ("FAILED", "WebPage")
    assert first["error_message"] == "HTML_BODY: a page of 12 kB came"
    assert first["error_fingerprint"].startswith("WebPage:")
    assert (second["status"], second.get("error_type")) == ("SUCCEEDED", None)
