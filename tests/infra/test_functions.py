"""How the Lambdas are made, and what each may do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from infra import functions
from infra.deployment import Target
from sourcebook.table import keys
from tests.infra.conftest import synthesize
from tests.templates import ROOT

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

FUNCTIONS = ("analyze_sentiment", "api", "dispatch_sources", "fetch_sources", "heal_articles")

TABLE = "table"
INDEXES = tuple(
    f"table/index/{name}"
    for name in (keys.ELIGIBILITY_INDEX, keys.SENTIMENT_INDEX, keys.STATUS_INDEX, keys.TAG_INDEX)
)
LOGS = {("logs:CreateLogStream", "own log group"), ("logs:PutLogEvents", "own log group")}
RECEIVING = tuple(
    f"sqs:{action}"
    for action in (
        "ChangeMessageVisibility",
        "DeleteMessage",
        "GetQueueAttributes",
        "GetQueueUrl",
        "ReceiveMessage",
    )
)

ALLOWED: dict[str, set[tuple[str, str]]] = {
    "dispatch_sources": {
        ("dynamodb:Query", f"table/index/{keys.ELIGIBILITY_INDEX}"),
        ("dynamodb:PutItem", TABLE),
        ("dynamodb:UpdateItem", TABLE),
        ("sqs:SendMessage", "fetch queue"),
    },
    "fetch_sources": {
        ("dynamodb:BatchGetItem", TABLE),
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:PutItem", TABLE),
        ("dynamodb:UpdateItem", TABLE),
        ("dynamodb:BatchWriteItem", TABLE),
        ("dynamodb:ConditionCheckItem", TABLE),
        ("dynamodb:DeleteItem", TABLE),
        ("sns:Publish", "article topic"),
        *((action, "fetch queue") for action in RECEIVING),
    },
    "analyze_sentiment": {
        ("dynamodb:BatchGetItem", TABLE),
        ("dynamodb:BatchWriteItem", TABLE),
        ("dynamodb:UpdateItem", TABLE),
        *((action, "analyze queue") for action in RECEIVING),
    },
    "heal_articles": {
        ("dynamodb:Query", f"table/index/{keys.STATUS_INDEX}"),
        ("dynamodb:BatchGetItem", TABLE),
        ("sns:Publish", "article topic"),
    },
    "api": {
        ("dynamodb:BatchGetItem", TABLE),
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:Query", TABLE),
        *(("dynamodb:Query", index) for index in INDEXES),
    },
}
"""Everything that each function may do besides writing its log. A new line here is a decision."""


def test_every_folder_is_a_function_with_a_handler() -> None:
    folders = {
        path.name for path in (ROOT / "lambdas").iterdir() if path.is_dir() and path.name != "__pycache__"
    }
    assert folders == set(FUNCTIONS)
    for name in FUNCTIONS:
        assert (ROOT / "lambdas" / name / "handler.py").is_file()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_runs_its_own_handler_on_python_3_13_and_arm(aws: Assembly, name: str) -> None:
    function = aws.function(name)
    assert function["Handler"] == "handler.handler"
    assert function["Runtime"] == "python3.13"
    assert function["Architectures"] == ["arm64"]
    assert (aws.asset(function["Code"]) / "handler.py").read_bytes() == (
        ROOT / "lambdas" / name / "handler.py"
    ).read_bytes()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_told_who_it_is_and_where_the_data_lies(aws: Assembly, name: str) -> None:
    environment = aws.function(name)["Environment"]["Variables"]
    assert environment["POWERTOOLS_SERVICE_NAME"] == name
    assert environment["POWERTOOLS_METRICS_NAMESPACE"] == "Sourcebook"
    assert environment["POWERTOOLS_LOG_LEVEL"] == "INFO"
    assert "Table" in json.dumps(environment["TABLE_NAME"])
    assert "DataBucket" in json.dumps(environment["BUCKET_NAME"])


def test_fetching_reaches_loopback_on_the_embedded_cloud_only(aws: Assembly, local: Assembly) -> None:
    def allowed(assembly: Assembly) -> str:
        value: str = assembly.function("fetch_sources")["Environment"]["Variables"]["HTTP_ALLOWED_NETWORKS"]
        return value

    assert allowed(aws) == ""
    assert allowed(local) == "127.0.0.0/8,::1/128"


def test_only_the_analysis_carries_the_sentiment_layer(aws: Assembly) -> None:
    layers = aws.resources("AWS::Lambda::LayerVersion")
    (sentiment,) = (key for key, layer in layers.items() if "sentiment" in layer["Properties"]["Description"])
    carriers = {name for name in FUNCTIONS if {"Ref": sentiment} in aws.function(name)["Layers"]}
    assert carriers == {"analyze_sentiment"}
    assert all(len(aws.function(name)["Layers"]) >= 2 for name in FUNCTIONS)


def test_every_log_group_is_forgotten_after_a_month(aws: Assembly) -> None:
    groups = aws.resources("AWS::Logs::LogGroup")
    assert groups
    assert {group["Properties"].get("RetentionInDays") for group in groups.values()} == {30}
    for name in FUNCTIONS:
        assert aws.function(name)["LoggingConfig"]["LogGroup"]["Ref"] in groups


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_may_do_what_it_does_and_nothing_else(aws: Assembly, name: str) -> None:
    found = _permissions(aws, name)
    assert found - LOGS == ALLOWED[name]
    assert found >= LOGS


def test_names_of_actions_that_only_the_embedded_cloud_knows_stay_there(
    aws: Assembly, local: Assembly
) -> None:
    for name in FUNCTIONS:
        added = _permissions(local, name) - _permissions(aws, name)
        assert {action for action, _ in added} <= {"sqs:SendMessageBatch", "sns:PublishBatch"}


def test_no_role_takes_a_policy_that_aws_may_widen(aws: Assembly) -> None:
    for role in aws.properties("AWS::IAM::Role"):
        assert "ManagedPolicyArns" not in role


def test_each_role_belongs_to_one_function(aws: Assembly) -> None:
    roles = [json.dumps(aws.function(name)["Role"]) for name in FUNCTIONS]
    assert len(set(roles)) == len(FUNCTIONS)


def test_no_statement_allows_every_action_or_every_resource_without_a_reason(aws: Assembly) -> None:
    for logical_id, policy in aws.resources("AWS::IAM::Policy").items():
        accepted = {
            finding
            for rule in policy.get("Metadata", {}).get("cdk_nag", {}).get("rules_to_suppress", ())
            for finding in rule.get("applies_to", ())
        }
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]:
            if statement["Effect"] != "Allow":
                continue
            assert not [action for action in _list(statement["Action"]) if "*" in action], logical_id
            for resource in _list(statement["Resource"]):
                if "*" in json.dumps(resource):
                    assert f"Resource::{resource}" in accepted, (logical_id, resource)


def test_a_folder_without_a_handler_stops_the_synth_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(functions, "_LAMBDAS", tmp_path / "lambdas")
    with pytest.raises(ValueError, match=r"lambdas/fetch_sources/handler\.py is missing"):
        synthesize(tmp_path / "out", Target.LAMBDA)


def _permissions(aws: Assembly, name: str) -> set[tuple[str, str]]:
    """Return what a function's role allows, as pairs of an action and a name of its resource."""
    logical_id, function = aws.function_resource(name)
    role = function["Properties"]["Role"]["Fn::GetAtt"][0]
    own_group = function["Properties"]["LoggingConfig"]["LogGroup"]["Ref"]
    assert logical_id
    return {
        (action, _resource_name(resource, own_group))
        for policy in aws.properties("AWS::IAM::Policy")
        if {"Ref": role} in policy["Roles"]
        for statement in policy["PolicyDocument"]["Statement"]
        for action in _list(statement["Action"])
        for resource in _list(statement["Resource"])
    }


def _resource_name(arn: Any, own_group: str) -> str:
    match arn:
        case {"Fn::GetAtt": [logical_id, "Arn"]} if logical_id == own_group:
            return "own log group"
        case {"Fn::GetAtt": [logical_id, "Arn"]} if "FetchQueue" in logical_id:
            return "fetch queue"
        case {"Fn::GetAtt": [logical_id, "Arn"]} if "AnalyzeQueue" in logical_id:
            return "analyze queue"
        case {"Ref": logical_id} if "IngestionArticles" in logical_id:
            return "article topic"
        case {"Fn::ImportValue": name} if "TableArn" in name:
            return TABLE
        case {"Fn::Join": ["", [{"Fn::ImportValue": name}, path]]} if "TableArn" in name:
            return f"{TABLE}{path}"
        case _:
            return json.dumps(arn)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
