"""What the templates promise of who may do what, of secrets, and of what is stored.

That no statement allows every action, and every resource only for a reason, is in test_functions.py; that
the bucket is private and encrypted, in test_data_stack.py; queues and plain HTTP, in test_messaging.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.api.page import POLICY as PAGE_POLICY
from sourcebook.api.reference import POLICY as REFERENCE_POLICY
from sourcebook.events import ArticleCreated
from sourcebook.spectra.providers.registry import BUILT_IN
from tests.leaks import secrets_in
from tests.templates import ROOT

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

STORING = {
    "AWS::DynamoDB::Table": "encrypted by DynamoDB always, with a key that AWS owns",
    "AWS::S3::Bucket": "AES-256, held in test_data_stack.py",
    "AWS::SQS::Queue": "SSE-SQS, held in test_messaging.py",
    "AWS::SNS::Topic": "on encrypted disks, until it is delivered; ids only, see below",
    "AWS::Events::EventBus": "encrypted by EventBridge always, until it is delivered",
    "AWS::SecretsManager::Secret": "encrypted by KMS always",
    "AWS::Logs::LogGroup": "encrypted by CloudWatch Logs always; no secret is logged",
    "AWS::StepFunctions::StateMachine": "encrypted by Step Functions always",
}
NOT_STORING = {
    "AWS::ApiGatewayV2::Api",
    "AWS::ApiGatewayV2::Integration",
    "AWS::ApiGatewayV2::Route",
    "AWS::ApiGatewayV2::Stage",
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::Events::Rule",
    "AWS::IAM::Role",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::Function",
    "AWS::Lambda::LayerVersion",
    "AWS::Lambda::Permission",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Subscription",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::QueuePolicy",
}
NEVER = re.compile(
    r"^(iam|sts|kms|organizations|ec2|ssm):|^dynamodb:(Scan|DeleteTable|UpdateTable)|^s3:Delete"
)
"""Actions that no function and no state machine of this project has a use for."""


def resources(assembly: Assembly) -> Iterator[tuple[str, dict[str, Any]]]:
    for template in (assembly.data, assembly.pipeline):
        yield from template["Resources"].items()


def statements(value: Any) -> Iterator[dict[str, Any]]:
    """Every policy statement, wherever it stands."""
    if isinstance(value, dict):
        if "Effect" in value:
            yield value
        for part in value.values():
            yield from statements(part)
    elif isinstance(value, list):
        for part in value:
            yield from statements(part)


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_whatever_stores_something_is_known_to_be_encrypted(aws: Assembly) -> None:
    kinds = {resource["Type"] for _, resource in resources(aws)}
    assert kinds == STORING.keys() | NOT_STORING


def test_what_a_topic_carries_is_ids() -> None:
    assert ArticleCreated.model_fields.keys() == {"schema_version", "correlation_id", "dedup_key"}


@pytest.mark.parametrize("kind", ["aws", "local"])
def test_no_statement_allows_by_exception(kind: str, request: pytest.FixtureRequest) -> None:
    for logical_id, resource in resources(request.getfixturevalue(kind)):
        for statement in statements(resource):
            assert not {"NotAction", "NotResource", "NotPrincipal"} & statement.keys(), logical_id


def test_no_role_may_what_nobody_needs(aws: Assembly) -> None:
    for logical_id, allowed in aws.allowed().items():
        for statement in allowed:
            assert not [a for a in listed(statement["Action"]) if NEVER.search(a)], logical_id


def test_roles_are_taken_by_services_of_this_account_alone(aws: Assembly) -> None:
    roles = aws.resources("AWS::IAM::Role")
    assert roles
    for logical_id, role in roles.items():
        (trust,) = statements(role["Properties"]["AssumeRolePolicyDocument"])
        (service,) = trust["Principal"].values()
        assert trust["Principal"].keys() == {"Service"}
        assert service in {"events.amazonaws.com", "lambda.amazonaws.com", "states.amazonaws.com"}, logical_id
        if service != "lambda.amazonaws.com":
            # Another account's state machine or rule must not borrow it (the confused deputy).
            assert trust["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}


def test_what_is_stored_is_opened_to_nobody_outside(aws: Assembly) -> None:
    for kind in ("AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy"):
        for logical_id, resource in aws.resources(kind).items():
            for statement in statements(resource):
                if statement["Effect"] == "Deny":
                    continue
                principal = statement["Principal"]
                assert set(principal) == {"Service"}, logical_id
                named = json.dumps(statement["Condition"])
                assert "aws:SourceAccount" in named or "aws:SourceArn" in named, logical_id
    for bucket in aws.properties("AWS::S3::Bucket"):
        assert not {"AccessControl", "WebsiteConfiguration"} & bucket.keys()
        # A script may put what a signed link is for, and read nothing.
        rules = bucket.get("CorsConfiguration", {}).get("CorsRules", [])
        assert {method for rule in rules for method in rule["AllowedMethods"]} <= {"PUT"}


def test_a_function_is_called_by_what_is_named_and_has_no_address_of_its_own(aws: Assembly) -> None:
    for permission in aws.properties("AWS::Lambda::Permission"):
        assert permission["Principal"] in {"events.amazonaws.com", "apigateway.amazonaws.com"}
        assert permission["SourceArn"]
    assert not aws.resources("AWS::Lambda::Url")


def test_a_function_gets_no_secret_and_logs_no_event(aws: Assembly) -> None:
    for function in aws.properties("AWS::Lambda::Function"):
        environment: dict[str, Any] = function["Environment"]["Variables"]
        assert not {"POWERTOOLS_LOGGER_LOG_EVENT", "POWERTOOLS_DEV", "POWERTOOLS_DEBUG"} & environment.keys()
        assert environment["POWERTOOLS_LOG_LEVEL"] == "INFO"
        for name, value in environment.items():
            if re.search("KEY|SECRET|TOKEN|PASSWORD", name):
                # The name of a secret, never what is in it.
                assert name.endswith("_SECRET"), name
                assert isinstance(value, dict) or value.startswith("sourcebook/"), name
    for handler in (ROOT / "lambdas").glob("*/handler.py"):
        assert "log_event" not in handler.read_text("utf-8"), handler


def test_a_function_asks_aws_by_tls_alone(aws: Assembly) -> None:
    for function in aws.properties("AWS::Lambda::Function"):
        assert not [name for name in function["Environment"]["Variables"] if name.startswith("AWS_ENDPOINT")]
    for path in [*(ROOT / "lambdas").rglob("*.py"), *(ROOT / "layers" / "core").rglob("*.py")]:
        text = path.read_text("utf-8")
        assert not re.search(r"endpoint_url\s*=|use_ssl\s*=|verify\s*=\s*False|CERT_NONE", text), path


def test_archives_are_asked_by_tls_but_for_one_that_has_none() -> None:
    plain = {url for spec in BUILT_IN for url in spec.addresses if not url.startswith("https://")}
    assert plain == {"http://basebe.obspm.fr/cgi-bin/ssapBE.pl"}


@pytest.mark.parametrize("kind", ["aws", "local"])
def test_no_template_holds_a_secret(kind: str, request: pytest.FixtureRequest) -> None:
    assembly: Assembly = request.getfixturevalue(kind)
    assert secrets_in(json.dumps([assembly.data, assembly.pipeline])) == []
    for secret in assembly.properties("AWS::SecretsManager::Secret"):
        assert json.loads(secret["SecretString"]) == {"api_key": ""}


@pytest.mark.parametrize("policy", [PAGE_POLICY, REFERENCE_POLICY])
def test_a_page_may_run_and_load_its_own_alone(policy: str) -> None:
    directives = {
        name: set(sources)
        for name, *sources in (directive.split() for directive in policy.split(";") if directive.strip())
    }
    assert directives["default-src"] == {"'none'"}
    for name in ("base-uri", "form-action", "frame-ancestors"):
        assert directives[name] == {"'none'"}
    assert directives.get("script-src", set()) <= {"'self'"}
    assert directives.get("connect-src", set()) <= {"'self'"}
    for name, sources in directives.items():
        allowed = {"'none'", "'self'", "data:"} if name == "img-src" else {"'none'", "'self'"}
        assert all(one in allowed or one.startswith("'sha256-") for one in sources), name
