"""The HTTP API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from infra.deployment import Target
from tests.infra.conftest import synthesize

if TYPE_CHECKING:
    from pathlib import Path

    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

CHANGING = {
    "POST /novae",
    "POST /quarantine/{quarantine_id}/review",
    "POST /feeds",
    "POST /feeds/import",
    "PATCH /feeds/{feed_id}",
    "DELETE /feeds/{feed_id}",
}
OPERATIONS = {
    "GET /health",
    "GET /articles",
    "GET /articles/{key+}",
    "GET /feeds",
    "GET /feeds.opml",
    "GET /feeds/{feed_id}",
    "GET /feeds/{feed_id}/history",
    "GET /api/v1/tools",
    "GET /api/v1/tools/{tool_id}/sentiment",
    "GET /api/v1/tools/{tool_id}/sentiment/series",
    "GET /api/v1/cache/health",
    "GET /latest",
    "GET /history",
    "GET /banks",
    "GET /series",
    "GET /meta/latest",
    "GET /events",
    "GET /events/{event_id}",
    "GET /job-runs",
    "GET /job-runs/{job_run_id}",
    "GET /novae",
    "GET /novae/{nova_id}",
    "GET /novae/{nova_id}/job-runs",
    "GET /quarantine",
    "GET /quarantine/{quarantine_id}",
    *CHANGING,
}


def _authorization(assembly: Assembly) -> dict[str, str]:
    return {
        route["RouteKey"]: route.get("AuthorizationType", "NONE")
        for route in assembly.properties("AWS::ApiGatewayV2::Route")
    }


def test_each_operation_has_a_route_of_its_own_to_the_one_function(aws: Assembly) -> None:
    assert set(_authorization(aws)) == OPERATIONS
    (integration,) = aws.properties("AWS::ApiGatewayV2::Integration")
    logical_id, _ = aws.function_resource("api")
    assert logical_id in json.dumps(integration["IntegrationUri"])
    assert integration["PayloadFormatVersion"] == "2.0"


def test_on_aws_everything_but_health_wants_a_signature(aws: Assembly) -> None:
    authorization = _authorization(aws)
    assert authorization.pop("GET /health") == "NONE"
    assert set(authorization.values()) == {"AWS_IAM"}


def test_the_embedded_cloud_answers_anybody(local: Assembly) -> None:
    authorization = _authorization(local)
    assert {authorization.pop(route) for route in CHANGING} == {"AWS_IAM"}
    assert set(authorization.values()) == {"NONE"}


def test_an_operator_can_open_the_read_side(tmp_path: Path) -> None:
    opened = synthesize(tmp_path, Target.LAMBDA, public_read="true")
    authorization = _authorization(opened)
    assert {authorization.pop(route) for route in CHANGING} == {"AWS_IAM"}
    assert set(authorization.values()) == {"NONE"}


def test_requests_are_logged_and_throttled(aws: Assembly) -> None:
    (stage,) = aws.properties("AWS::ApiGatewayV2::Stage")
    assert stage["StageName"] == "$default"
    assert stage["AutoDeploy"] is True
    assert stage["DefaultRouteSettings"] == {"ThrottlingBurstLimit": 100, "ThrottlingRateLimit": 50}
    logged = json.loads(stage["AccessLogSettings"]["Format"])
    assert {"requestId", "routeKey", "status", "responseLatency"} <= set(logged)
    assert "authorization" not in json.dumps(logged).lower()
    assert "*" not in json.dumps(stage["AccessLogSettings"]["DestinationArn"])


def test_no_other_site_may_read_by_a_visitors_browser(aws: Assembly) -> None:
    (api,) = aws.properties("AWS::ApiGatewayV2::Api")
    assert "CorsConfiguration" not in api


def test_the_function_gives_up_before_the_gateway_does(aws: Assembly) -> None:
    assert aws.function("api")["Timeout"] < 30
