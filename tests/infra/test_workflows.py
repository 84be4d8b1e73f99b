"""The state machines: their form, and that what they read is what the functions return."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import statemachines
from infra.deployment import DeploymentTarget
from sourcebook.articles.reanalysis_messages import DayOfArticles, Progress
from sourcebook.exports.messages import Exported
from sourcebook.observations.rebuild_messages import RebuildCounts
from sourcebook.runs.closing import ExecutionEnd
from sourcebook.sources.dispatch import DispatchCounts
from sourcebook.spectra.sweep import LOCK
from sourcebook.spectra.sweep import WORKFLOW as SWEEP
from tests.definitions import NAMES, definition, texts
from tests.infra.conftest import synthesize
from tests.templates import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra


def test_there_is_a_state_machine_for_each_declaration(aws: Assembly) -> None:
    machines = aws.properties("AWS::StepFunctions::StateMachine")
    assert {machine["StateMachineName"] for machine in machines} == {
        f"SourcebookPipeline-{name}" for name in NAMES
    }
    assert {machine["StateMachineType"] for machine in machines} == {"STANDARD"}


@pytest.mark.parametrize("name", NAMES)
def test_the_definition_is_the_declared_one_and_all_that_it_leaves_open_is_put_in(
    aws: Assembly, name: str
) -> None:
    (machine,) = (
        machine
        for machine in aws.properties("AWS::StepFunctions::StateMachine")
        if machine["StateMachineName"].endswith(f"-{name}")
    )
    assert machine["DefinitionString"] == statemachines.workflow(name).text()
    put_in = set(re.findall(r"\$\{(\w+)\}", statemachines.workflow(name).text()))
    assert put_in == set(machine["DefinitionSubstitutions"])
    assert machine["DefinitionSubstitutions"]["partition"] == {"Ref": "AWS::Partition"}


def test_whatever_ends_an_execution_of_this_stack_but_success_closes_its_run(aws: Assembly) -> None:
    closes = {"Fn::GetAtt": [aws.function_resource("close_runs")[0], "Arn"]}
    (rule,) = (
        rule
        for rule in aws.properties("AWS::Events::Rule")
        if "EventPattern" in rule and closes in [target["Arn"] for target in rule["Targets"]]
    )
    assert rule["EventPattern"]["source"] == ["aws.states"]
    assert rule["EventPattern"]["detail-type"] == ["Step Functions Execution Status Change"]
    detail = rule["EventPattern"]["detail"]
    # What has succeeded has closed its own run; what has no end yet is not closed.
    assert set(detail["status"]) == set(ExecutionEnd) - {ExecutionEnd.SUCCEEDED, ExecutionEnd.LOST}
    (machines,) = detail["stateMachineArn"]
    own = "".join(part for part in machines["prefix"]["Fn::Join"][1] if isinstance(part, str))
    assert own.startswith("arn:")
    assert own.endswith(":stateMachine:SourcebookPipeline-")
    for machine in aws.properties("AWS::StepFunctions::StateMachine"):
        assert machine["StateMachineName"].startswith("SourcebookPipeline-")
    assert rule.get("State", "ENABLED") == "ENABLED"
    (permission,) = (
        one
        for one in aws.properties("AWS::Lambda::Permission")
        if one["FunctionName"] == closes and "Ended" in str(one.get("SourceArn"))
    )
    assert permission["Principal"] == "events.amazonaws.com"


@pytest.mark.parametrize("name", NAMES)
def test_executions_are_logged_in_full(aws: Assembly, name: str) -> None:
    (machine,) = (
        machine
        for machine in aws.properties("AWS::StepFunctions::StateMachine")
        if machine["StateMachineName"].endswith(name)
    )
    assert machine["LoggingConfiguration"]["Level"] == "ALL"
    assert machine["LoggingConfiguration"]["IncludeExecutionData"] is True


def test_refresh_sources_reads_only_what_dispatch_returns() -> None:
    returned = {field.name for field in dataclasses.fields(DispatchCounts)}
    read = {
        field
        for text in texts(definition("refresh_sources"))
        for field in re.findall(r"\$states\.result\.Payload\.(\w+)", text)
    }
    assert read == returned


def test_a_sweep_runs_no_more_spectra_at_once_than_the_deployment_says(tmp_path: Path) -> None:
    assembly = synthesize(tmp_path, DeploymentTarget.LAMBDA, acquire_concurrency="7")
    (machine,) = (
        machine
        for machine in assembly.properties("AWS::StepFunctions::StateMachine")
        if machine["StateMachineName"].endswith("-acquire_due_spectra")
    )
    assert machine["DefinitionSubstitutions"]["acquire_concurrency"] == "7"
    states = definition("acquire_due_spectra")["States"]
    assert states["Acquire what is due"]["MaxConcurrency"] == "{% ${acquire_concurrency} %}"
    one = states["Acquire what is due"]["ItemProcessor"]["States"]["Acquire one"]
    assert one["Resource"].endswith(":startExecution.sync:2"), "not waited for, the bound bounds nothing"
    with pytest.raises(ValueError, match="acquire_concurrency='41'"):
        synthesize(tmp_path / "more", DeploymentTarget.LAMBDA, acquire_concurrency="41")


def test_a_sweep_has_one_lock_whatever_the_day() -> None:
    named = definition("acquire_due_spectra")["States"]["Name the run"]
    assert named["Assign"]["lock"].replace("' & '", "") == f"{{% '{LOCK}' %}}"
    assert SWEEP == "acquire_due_spectra"


def test_rebuild_canonical_reads_what_its_function_returns_and_hands_on_all_of_it() -> None:
    piece = definition("rebuild_canonical")["States"]["Rebuild a piece"]
    read = {field for text in texts(piece) for field in re.findall(r"\$states\.result\.Payload\.(\w+)", text)}
    assert read == {"examined", "changed", "done"}
    assert read <= {field.name for field in dataclasses.fields(RebuildCounts)}
    assert piece["Assign"]["place"] == "{% $states.result.Payload %}"


def test_export_period_reads_what_its_function_returns_and_hands_on_all_of_it() -> None:
    some = definition("export_period")["States"]["Export some days"]
    read = {field for text in texts(some) for field in re.findall(r"\$states\.result\.Payload\.(\w+)", text)}
    assert read == {"since", "until", "rows", "kept", "done"}
    assert read <= {field.name for field in dataclasses.fields(Exported)}
    assert some["Assign"]["place"] == "{% $states.result.Payload %}"


def test_reanalyze_subject_reads_only_what_its_functions_return_and_hands_on_what_they_need() -> None:
    states = definition("reanalyze_subject")["States"]
    day = states["Analyze every day"]["ItemProcessor"]["States"]
    part = day["Analyze a part of the day"]
    read = {
        f for text in texts(part["Output"]) for f in re.findall(r"\$states\.result\.Payload\.(\w+)", text)
    }
    assert read == {field.name for field in dataclasses.fields(Progress)}
    wanted = {field.name for field in dataclasses.fields(DayOfArticles)}
    assert wanted <= set(states["Analyze every day"]["ItemSelector"]) & set(part["Output"])


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
        for statement in aws.allowed()[role]
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
