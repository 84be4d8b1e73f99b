"""The state machines: their form, and that what they read is what the functions return."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from infra.deployment import Target
from sourcebook.articles.reanalysis import DayOfArticles, Progress
from sourcebook.catalog.sweep import LOCK
from sourcebook.catalog.sweep import WORKFLOW as SWEEP
from sourcebook.observations.rebuild import RebuildCounts
from sourcebook.runs.read import LONG_RUNS, LONGEST_RUN
from sourcebook.sources.dispatch import DispatchCounts
from sourcebook.table import keys
from tests.infra.conftest import synthesize
from tests.templates import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

FILES = sorted((ROOT / "statemachines").glob("*.asl.json"))
RECORDED = (
    "acquire_and_validate_spectra",
    "acquire_due_spectra",
    "discover_spectra_products",
    "ingest_new_nova",
    "ingest_photometry",
    "initialize_nova",
    "name_check_and_reconcile",
    "reanalyze_subject",
    "rebuild_canonical",
    "refresh_references",
    "refresh_sources",
)
"""State machines that leave job runs and attempts."""
LOCK_FREE = ("reanalyze_subject", "rebuild_canonical", "refresh_sources")
"""Those of them that may run twice at once: what they write is the same both times."""
NAMES = [path.name.removesuffix(".asl.json") for path in FILES]


def _definition(name: str) -> dict[str, Any]:
    definition: dict[str, Any] = json.loads((ROOT / "statemachines" / f"{name}.asl.json").read_text("utf-8"))
    return definition


def _next_states(state: dict[str, Any]) -> Iterator[str]:
    for holder in (state, *state.get("Choices", ()), *state.get("Catch", ())):
        yield from (holder[key] for key in ("Next", "Default") if key in holder)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for part in value.values():
                yield from _texts(part)
        case list():
            for part in value:
                yield from _texts(part)


def test_there_is_a_state_machine_for_each_file(aws: Assembly) -> None:
    machines = aws.properties("AWS::StepFunctions::StateMachine")
    assert {machine["StateMachineName"] for machine in machines} == {
        f"SourcebookPipeline-{name}" for name in NAMES
    }
    assert {machine["StateMachineType"] for machine in machines} == {"STANDARD"}


@pytest.mark.parametrize("name", NAMES)
def test_the_console_shows_the_file_as_it_stands(aws: Assembly, name: str) -> None:
    (machine,) = (
        machine
        for machine in aws.properties("AWS::StepFunctions::StateMachine")
        if machine["StateMachineName"].endswith(name)
    )
    assert machine["DefinitionString"] == (ROOT / "statemachines" / f"{name}.asl.json").read_text("utf-8")
    wanted = set(re.findall(r"\$\{(\w+)\}", machine["DefinitionString"]))
    assert wanted == set(machine["DefinitionSubstitutions"])


@pytest.mark.parametrize("name", NAMES)
def test_executions_are_logged_in_full(aws: Assembly, name: str) -> None:
    (machine,) = (
        machine
        for machine in aws.properties("AWS::StepFunctions::StateMachine")
        if machine["StateMachineName"].endswith(name)
    )
    assert machine["LoggingConfiguration"]["Level"] == "ALL"
    assert machine["LoggingConfiguration"]["IncludeExecutionData"] is True


@pytest.mark.parametrize("name", NAMES)
def test_every_path_leads_to_an_end_and_every_state_is_on_one(name: str) -> None:
    definition = _definition(name)
    states = definition["States"]
    reached, waiting = set(), [definition["StartAt"]]
    while waiting:
        current = waiting.pop()
        assert current in states
        if current in reached:
            continue
        reached.add(current)
        following = list(_next_states(states[current]))
        ends = states[current].get("End") is True or states[current]["Type"] in {"Fail", "Succeed"}
        assert ends or following, f"{current} leads nowhere"
        waiting += following
    assert reached == set(states)


@pytest.mark.parametrize("name", NAMES)
def test_every_state_says_what_it_is_for(name: str) -> None:
    definition = _definition(name)
    assert definition["Comment"]
    for state_name, state in definition["States"].items():
        assert state.get("Comment"), state_name
        if state["Type"] == "Task":
            assert state["Retry"], state_name
            assert state["Catch"][-1]["ErrorEquals"] == ["States.ALL"], state_name
        if state["Type"] == "Fail":
            assert state["Error"], state_name
            assert state["Cause"], state_name


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_called_by_the_optimized_integration(name: str) -> None:
    for state in _definition(name)["States"].values():
        if state["Type"] == "Task":
            assert state["Resource"] in {
                "arn:aws:states:::lambda:invoke",
                # Its own records and the next workflow: no function between.
                "arn:aws:states:::dynamodb:putItem",
                "arn:aws:states:::dynamodb:updateItem",
                "arn:aws:states:::dynamodb:deleteItem",
                "arn:aws:states:::states:startExecution",
            }


def test_refresh_sources_reads_only_what_dispatch_returns() -> None:
    returned = {field.name for field in dataclasses.fields(DispatchCounts)}
    read = {
        field
        for text in _texts(_definition("refresh_sources"))
        for field in re.findall(r"\$states\.result\.Payload\.(\w+)", text)
    }
    assert read == returned


@pytest.mark.parametrize("name", RECORDED)
def test_a_task_that_is_recorded_is_repeated_by_one_word(name: str) -> None:
    # TaskRecorder raises each child of Retryable as Retryable, so that no list of classes can be out of date.
    for state in _tasks(_definition(name)):
        function = re.fullmatch(r"\$\{(\w+)_arn\}", str(state["Arguments"].get("FunctionName", "")))
        if function is None:
            continue
        handler = (ROOT / "lambdas" / function[1] / "handler.py").read_text("utf-8")
        assert "@recorder.recorded\ndef handler" in handler, function[1]
        (retry,) = state["Retry"]
        assert "Retryable" in retry["ErrorEquals"]
        assert (retry["IntervalSeconds"], retry["BackoffRate"], retry["MaxAttempts"]) == (2, 5, 3)
        assert (retry["MaxDelaySeconds"], retry["JitterStrategy"]) == (30, "FULL")


@pytest.mark.parametrize("name", RECORDED)
def test_every_task_is_told_of_its_run(name: str) -> None:
    for state in _tasks(_definition(name)):
        if state["Resource"] != "arn:aws:states:::lambda:invoke":
            continue
        payload = json.dumps(state["Arguments"]["Payload"])
        assert "'task_name': $states.context.State.Name" in payload
        assert "'attempt_no': $states.context.State.RetryCount + 1" in payload


@pytest.mark.parametrize("name", RECORDED)
def test_all_workflows_keep_their_books_in_one_way(name: str) -> None:
    mine, model = _definition(name)["States"], _definition("initialize_nova")["States"]
    for state in ("Begin the job run", "Finalize the job run", "How did it end?", "Report the failure"):
        text = json.dumps(mine[state]).replace(name, "initialize_nova")
        if name in LOCK_FREE and state == "Begin the job run":
            text = re.sub(r'"Next": "[^"]+"\}$', '"Next": "Acquire the lock"}', text)
        assert text == json.dumps(model[state]), state
    assert list(mine)[:3] == ["Check the input", "Name the run", "Begin the job run"]
    key = keys.job_run("P", name, "T", "R")
    begin = mine["Begin the job run"]["Arguments"]["Item"]
    spelled = begin["SK"]["S"].replace("{% ", "").replace(" %}", "")
    assert spelled == f"'JOBRUN#{name}#' & $run.started_at & '#' & $run.job_run_id"
    assert key["SK"] == f"JOBRUN#{name}#T#R"
    assert begin["GSI1PK"]["S"] == "{% 'JOBRUN#' & $run.job_run_id %}"
    assert keys.job_run_by_id("R") == "JOBRUN#R"
    assert begin["status"]["S"] == "RUNNING"


@pytest.mark.parametrize("name", [name for name in RECORDED if name not in LOCK_FREE])
def test_an_expired_lock_counts_as_absent_in_the_condition_itself(name: str) -> None:
    states = _definition(name)["States"]
    acquire = states["Acquire the lock"]["Arguments"]
    assert acquire["ConditionExpression"].startswith("attribute_not_exists(PK) OR ttl_timestamp < :now")
    assert acquire["Item"]["PK"]["S"] == "{% 'LOCK#' & $lock %}"
    assert keys.lock("x") == {"PK": "LOCK#x", "SK": "LOCK"}
    assert f"{name}:" in states["Name the run"]["Assign"]["lock"]
    # Whatever happens after it was taken leads over its release.
    for state_name, state in states.items():
        if state["Type"] == "Task" and "lambda" in state["Resource"]:
            assert state["Catch"][-1]["Next"] == "Release the lock", state_name


def test_a_sweep_runs_no_more_spectra_at_once_than_the_deployment_says(tmp_path: Path) -> None:
    assembly = synthesize(tmp_path, Target.LAMBDA, acquire_concurrency="7")
    (machine,) = (
        machine
        for machine in assembly.properties("AWS::StepFunctions::StateMachine")
        if machine["StateMachineName"].endswith("-acquire_due_spectra")
    )
    assert machine["DefinitionSubstitutions"]["acquire_concurrency"] == "7"
    states = _definition("acquire_due_spectra")["States"]
    assert states["Acquire what is due"]["MaxConcurrency"] == "{% ${acquire_concurrency} %}"
    one = states["Acquire what is due"]["ItemProcessor"]["States"]["Acquire one"]
    assert one["Resource"].endswith(":startExecution.sync:2"), "not waited for, the bound bounds nothing"
    with pytest.raises(ValueError, match="acquire_concurrency='41'"):
        synthesize(tmp_path / "more", Target.LAMBDA, acquire_concurrency="41")


def test_a_sweep_has_one_lock_whatever_the_day() -> None:
    named = _definition("acquire_due_spectra")["States"]["Name the run"]
    assert named["Assign"]["lock"] == LOCK
    assert SWEEP == "acquire_due_spectra"


def test_rebuild_canonical_reads_what_its_function_returns_and_hands_on_all_of_it() -> None:
    piece = _definition("rebuild_canonical")["States"]["Rebuild a piece"]
    read = {
        field for text in _texts(piece) for field in re.findall(r"\$states\.result\.Payload\.(\w+)", text)
    }
    assert read == {"examined", "changed", "done"}
    assert read <= {field.name for field in dataclasses.fields(RebuildCounts)}
    assert piece["Assign"]["place"] == "{% $states.result.Payload %}"


def test_reanalyze_subject_reads_only_what_its_functions_return_and_hands_on_what_they_need() -> None:
    states = _definition("reanalyze_subject")["States"]
    day = states["Analyze every day"]["ItemProcessor"]["States"]
    part = day["Analyze a part of the day"]
    read = {
        f for text in _texts(part["Output"]) for f in re.findall(r"\$states\.result\.Payload\.(\w+)", text)
    }
    assert read == {field.name for field in dataclasses.fields(Progress)}
    wanted = {field.name for field in dataclasses.fields(DayOfArticles)}
    assert wanted <= set(states["Analyze every day"]["ItemSelector"]) & set(part["Output"])


@pytest.mark.parametrize("name", RECORDED)
def test_a_run_is_called_lost_only_when_its_workflow_would_have_ended_it(name: str) -> None:
    longest = LONG_RUNS.get(name, LONGEST_RUN).total_seconds()
    assert 60 < _definition(name)["TimeoutSeconds"] < longest


@pytest.mark.parametrize("name", NAMES)
def test_a_state_machine_may_call_its_functions_and_no_others(aws: Assembly, name: str) -> None:
    (machine,) = (
        machine
        for machine in aws.properties("AWS::StepFunctions::StateMachine")
        if machine["StateMachineName"].endswith(f"-{name}")
    )
    role = machine["RoleArn"]["Fn::GetAtt"][0]
    allowed = {
        (action, json.dumps(resource))
        for policy in aws.properties("AWS::IAM::Policy")
        if {"Ref": role} in policy["Roles"]
        for statement in policy["PolicyDocument"]["Statement"]
        for action in _listed(statement["Action"])
        for resource in _listed(statement["Resource"])
        if action.startswith(("lambda:", "states:", "dynamodb:"))
    }
    substituted = machine["DefinitionSubstitutions"]
    functions = [
        v for key, v in substituted.items() if (ROOT / "lambdas" / key.removesuffix("_arn")).is_dir()
    ]
    others = [v for key, v in substituted.items() if key.removesuffix("_arn") in NAMES]
    started = [v for v in others if v not in functions]
    table = [v for key, v in substituted.items() if key == "table_name"]
    assert {r for a, r in allowed if a == "lambda:InvokeFunction"} == {json.dumps(f) for f in functions}
    assert {r for a, r in allowed if a == "states:StartExecution"} == {json.dumps(f) for f in started}
    own = {a for a, _ in allowed if a.startswith("dynamodb:")}
    locks = {"dynamodb:DeleteItem"} if "dynamodb:deleteItem" in machine["DefinitionString"] else set()
    assert own == ({"dynamodb:PutItem", "dynamodb:UpdateItem"} | locks if table else set())


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _tasks(definition: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield all tasks, those within maps too."""
    for state in definition["States"].values():
        if state["Type"] == "Task":
            yield state
        if "ItemProcessor" in state:
            yield from _tasks(state["ItemProcessor"])
