"""The state machines: their form, and that what they read is what the functions return."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.errors import Retryable
from sourcebook.sources.dispatch import DispatchCounts
from sourcebook.table import client
from tests.templates import ROOT

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

FILES = sorted((ROOT / "statemachines").glob("*.asl.json"))
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
            assert state["Resource"] == "arn:aws:states:::lambda:invoke"


def test_refresh_sources_reads_only_what_dispatch_returns() -> None:
    returned = {field.name for field in dataclasses.fields(DispatchCounts)}
    read = {
        field
        for text in _texts(_definition("refresh_sources"))
        for field in re.findall(r"\$states\.result\.Payload\.(\w+)", text)
    }
    assert read == returned


def test_refresh_sources_repeats_what_dispatch_calls_retryable() -> None:
    # Step Functions compares the exact name of a class, so the children that dispatch raises are listed.
    raised = {
        kind.__name__
        for kind in vars(client).values()
        if isinstance(kind, type) and issubclass(kind, Retryable)
    }
    listed = {
        error
        for retry in _definition("refresh_sources")["States"]["Dispatch the sources"]["Retry"]
        for error in retry["ErrorEquals"]
    }
    assert raised
    assert raised <= listed


def test_a_state_machine_may_call_its_functions_and_no_others(aws: Assembly) -> None:
    dispatch, _ = aws.function_resource("dispatch_sources")
    called = [
        statement["Resource"]
        for policy in aws.properties("AWS::IAM::Policy")
        for statement in policy["PolicyDocument"]["Statement"]
        if "lambda:InvokeFunction" in statement["Action"]
    ]
    assert called == [{"Fn::GetAtt": [dispatch, "Arn"]}]
