"""Traces: all that runs is part of one when they are chosen, and nothing is there when they are not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra


def test_each_function_and_each_workflow_is_traced_and_may_say_so(chosen: Assembly) -> None:
    functions = chosen.properties("AWS::Lambda::Function")
    assert {json.dumps(function.get("TracingConfig")) for function in functions} == {'{"Mode": "Active"}'}
    machines = chosen.properties("AWS::StepFunctions::StateMachine")
    assert {machine["TracingConfiguration"]["Enabled"] for machine in machines} == {True}
    allowed = {
        role
        for role, statements in chosen.allowed().items()
        if "xray:PutTraceSegments" in json.dumps(statements)
    }
    acting = {function["Role"]["Fn::GetAtt"][0] for function in functions}
    acting |= {machine["RoleArn"]["Fn::GetAtt"][0] for machine in machines}
    assert acting == allowed


def test_without_the_choice_there_is_no_trace_of_them(aws: Assembly, local: Assembly) -> None:
    for assembly in (aws, local):
        assert "xray" not in json.dumps(assembly.pipeline)
        assert not [f for f in assembly.properties("AWS::Lambda::Function") if "TracingConfig" in f]
