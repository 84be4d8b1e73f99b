"""bench/scale.py reckons with the functions and limits that are deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench import scale
from bench.simulation import Function

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra


def test_the_simulation_has_the_memory_that_is_deployed(aws: Assembly) -> None:
    for function in (scale.FETCH, scale.ANALYZE, scale.GROUP, scale.API, scale.ACQUIRE):
        assert aws.function(function.name)["MemorySize"] == function.memory_mb


def test_the_simulation_has_the_concurrency_and_the_batches_that_are_deployed(aws: Assembly) -> None:
    mappings = {
        mapping["FunctionName"]["Ref"]: mapping
        for mapping in aws.properties("AWS::Lambda::EventSourceMapping")
        if "ScalingConfig" in mapping
    }

    def mapping(function: Function) -> dict[str, object]:
        found: dict[str, object] = mappings[aws.function_resource(function.name)[0]]
        return found

    for function in (scale.FETCH, scale.ANALYZE):
        assert mapping(function)["ScalingConfig"] == {"MaximumConcurrency": function.at_once}
    assert mapping(scale.ANALYZE)["BatchSize"] == scale.ANALYZE.batch


def test_the_simulation_has_the_throttle_that_is_deployed(aws: Assembly) -> None:
    (stage,) = aws.properties("AWS::ApiGatewayV2::Stage")
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] == scale.THROTTLE
