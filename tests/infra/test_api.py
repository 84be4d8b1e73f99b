"""The HTTP API."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import pytest

import statemachines
from infra.gateway_routes import api_routes
from sourcebook.api.operations import Access
from sourcebook.api.parts import operations
from sourcebook.api.requests import SIGNED as PREFIX
from sourcebook.table.keys import API_TOKENS
from tests.integration.api.gateway import Gateway

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

OPEN = {operation.route for operation in operations() if operation.access is Access.OPEN}


def _authorization(assembly: Assembly) -> dict[str, str]:
    return {
        route["RouteKey"]: route.get("AuthorizationType", "NONE")
        for route in assembly.properties("AWS::ApiGatewayV2::Route")
    }


def test_the_routes_that_are_declared_lead_to_the_one_function(aws: Assembly) -> None:
    logical_id, _ = aws.function_resource("api")
    ((integration_id, integration),) = (
        (name, integration["Properties"])
        for name, integration in aws.resources("AWS::ApiGatewayV2::Integration").items()
        if logical_id in json.dumps(integration["Properties"]["IntegrationUri"])
    )
    assert integration["PayloadFormatVersion"] == "2.0"
    answered = {
        route["RouteKey"]
        for route in aws.properties("AWS::ApiGatewayV2::Route")
        if integration_id in json.dumps(route["Target"])
    }
    assert answered == {route.key for route in api_routes()}


def test_the_gateway_may_call_the_function_of_every_route(aws: Assembly) -> None:
    # AWS answers 500 otherwise. A call by $default has no method in its ARN.
    integrations = aws.resources("AWS::ApiGatewayV2::Integration")
    permissions = aws.properties("AWS::Lambda::Permission")
    for route in aws.properties("AWS::ApiGatewayV2::Route"):
        method, _, path = route["RouteKey"].partition(" ")
        integration = next(name for name in integrations if name in json.dumps(route["Target"]))
        function = integrations[integration]["Properties"]["IntegrationUri"]
        (pattern,) = (
            permission["SourceArn"]["Fn::Join"][1][-1]
            for permission in permissions
            if permission["FunctionName"] == function
            and permission["Principal"] == "apigateway.amazonaws.com"
        )
        assert fnmatchcase(f"/$default/{method}{path}", pattern), route["RouteKey"]


@pytest.mark.parametrize("kind", ["aws", "local"])
def test_whatever_is_below_iam_wants_a_signature_and_nothing_else_does(
    kind: str, request: pytest.FixtureRequest
) -> None:
    # The function takes the path below /iam for the gateway's word that the request is signed.
    for route, authorization in _authorization(request.getfixturevalue(kind)).items():
        assert (authorization == "AWS_IAM") == (route.partition(" ")[2].startswith("/iam")), route


@pytest.mark.parametrize("kind", ["aws", "local"])
def test_every_operation_has_an_address_with_a_signature_and_one_without(
    kind: str, request: pytest.FixtureRequest
) -> None:
    authorization = _authorization(request.getfixturevalue(kind))
    gateway = Gateway(key for key in authorization if key.startswith("ANY /") and PREFIX not in key)
    for operation in operations():
        path = re.sub(r"\{\w+\+?\}", "x", operation.path)
        for prefix, expected in (("", "NONE"), (PREFIX, "AWS_IAM")):
            route, _ = gateway.match(operation.method, f"{prefix}{path}")
            assert authorization[route] == expected
            assert route.startswith(f"{operation.method} "), "a permission for GET alone only reads"


def test_only_what_holds_no_data_is_open() -> None:
    assert {"GET /health", "GET /openapi.json", "GET /docs"} == OPEN
    assert all(operation.access is Access.WRITE for operation in operations() if operation.changes)
    assert not any(operation.access is Access.WRITE for operation in operations() if not operation.changes)


def test_the_function_knows_whether_anybody_may_read(
    aws: Assembly, local: Assembly, chosen: Assembly
) -> None:
    def public_read(assembly: Assembly) -> str:
        value: str = assembly.function("api")["Environment"]["Variables"]["PUBLIC_READ"]
        return value

    assert public_read(aws) == "false"
    assert public_read(local) == "true"
    assert public_read(chosen) == "true"


def test_the_function_knows_and_may_start_every_workflow(aws: Assembly) -> None:
    machines = aws.resources("AWS::StepFunctions::StateMachine")
    names = {
        machine["Properties"]["StateMachineName"].removeprefix("SourcebookPipeline-")
        for machine in machines.values()
    }
    assert names == set(aws.function("api")["Environment"]["Variables"]["WORKFLOWS"].split(","))
    assert names == set(statemachines.names())
    allowed = json.dumps(_statements(aws, "states:StartExecution"))
    assert all(logical_id in allowed for logical_id in machines)


def test_the_function_cannot_make_a_token(aws: Assembly) -> None:
    for action in ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"):
        statements = _statements(aws, f"dynamodb:{action}")
        assert statements
        for statement in statements:
            (patterns,) = statement["Condition"]["ForAllValues:StringLike"].values()
            assert not any(fnmatchcase(API_TOKENS, pattern) for pattern in patterns)


def _statements(assembly: Assembly, action: str) -> list[dict[str, Any]]:
    """Return the statements by which the function may do this."""
    return [
        statement
        for statement in assembly.allowed_to("api")
        if action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    ]


def test_the_functions_policy_stays_small_however_many_routes_there_are(aws: Assembly) -> None:
    logical_id, _ = aws.function_resource("api")
    permissions = [
        permission
        for permission in aws.properties("AWS::Lambda::Permission")
        if logical_id in json.dumps(permission["FunctionName"])
    ]
    assert len(permissions) == 1


def test_what_changes_something_has_narrower_limits(aws: Assembly) -> None:
    (stage,) = aws.properties("AWS::ApiGatewayV2::Stage")
    limits = stage["RouteSettings"]
    gateway = Gateway()
    changing = set()
    for operation in operations():
        path = re.sub(r"\{\w+\+?\}", "x", operation.path)
        for prefix in ("", PREFIX):
            route, _ = gateway.match(operation.method, f"{prefix}{path}")
            assert (route in limits) == operation.changes, operation.route
            changing |= {route} if operation.changes else set()
    assert set(limits) == changing
    assert limits["POST /workflows/{name}/executions"] == {
        "ThrottlingRateLimit": 2,
        "ThrottlingBurstLimit": 5,
    }
    (resource,) = aws.resources("AWS::ApiGatewayV2::Stage").values()
    routes = {
        logical_id
        for logical_id, route in aws.resources("AWS::ApiGatewayV2::Route").items()
        if route["Properties"]["RouteKey"] in changing
    }
    assert routes <= set(resource["DependsOn"])


def test_requests_are_logged_and_throttled(aws: Assembly) -> None:
    (stage,) = aws.properties("AWS::ApiGatewayV2::Stage")
    assert stage["StageName"] == "$default"
    assert stage["AutoDeploy"] is True
    assert stage["DefaultRouteSettings"] == {"ThrottlingBurstLimit": 100, "ThrottlingRateLimit": 50}
    logged = json.loads(stage["AccessLogSettings"]["Format"])
    assert {"requestId", "routeKey", "status", "responseLatency"} <= set(logged)
    assert "authorization" not in json.dumps(logged).lower()
    assert "*" not in json.dumps(stage["AccessLogSettings"]["DestinationArn"])


def test_no_other_site_may_read_by_a_visitors_browser(aws: Assembly, chosen: Assembly) -> None:
    (api,) = aws.properties("AWS::ApiGatewayV2::Api")
    assert "CorsConfiguration" not in api
    (api,) = chosen.properties("AWS::ApiGatewayV2::Api")
    cors = api["CorsConfiguration"]
    assert cors["AllowOrigins"] == ["https://app.example", "http://localhost:5173"]
    assert {"GET", "HEAD", "POST", "PATCH", "DELETE"} <= set(cors["AllowMethods"])
    assert {"authorization", "idempotency-key", "if-none-match"} <= set(cors["AllowHeaders"])
    assert not cors.get("AllowCredentials")


def test_the_address_that_the_stack_prints_has_no_slash_at_its_end(aws: Assembly) -> None:
    assert "ApiEndpoint" in json.dumps(aws.pipeline["Outputs"]["ApiUrl"])


def test_the_function_gives_up_before_the_gateway_does(aws: Assembly) -> None:
    assert aws.function("api")["Timeout"] < 30
