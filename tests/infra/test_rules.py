"""What cfn-lint and cdk-nag say of the stacks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from cdk_nag import AwsSolutionsChecks

from infra.application import build_app
from tests.templates import cdk_context

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

ACCEPTED_OF_CFN_LINT = {
    "W3005": "the CDK writes DependsOn beside a reference that already means it",
    "W6001": "the pipeline's outputs repeat the table's and bucket's names for whoever has only that stack",
}
ACCEPTED_LOCALLY = {
    "W3037": "the embedded cloud checks batch operations under names that AWS does not know",
}


@pytest.mark.parametrize(
    ("target", "accepted"),
    [("aws", ACCEPTED_OF_CFN_LINT), ("local", ACCEPTED_OF_CFN_LINT | ACCEPTED_LOCALLY)],
)
def test_cfn_lint_finds_nothing(
    target: str, accepted: dict[str, str], request: pytest.FixtureRequest
) -> None:
    assembly: Assembly = request.getfixturevalue(target)
    cfn_lint = str(Path(sys.executable).with_name("cfn-lint"))
    templates = map(str, sorted(assembly.folder.glob("*.template.json")))
    finished = subprocess.run(
        [cfn_lint, "--format", "parseable", "--ignore-checks", *accepted, "--", *templates],
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.stdout == ""
    assert finished.stderr == ""
    assert finished.returncode == 0


@pytest.mark.parametrize(
    "choices",
    [
        {"target": "lambda"},
        {"target": "local"},
        {"sentiment_engine": "comprehend", "traces": "true", "tns_bot": "12345:our_bot"},
    ],
)
def test_cdk_nag_finds_nothing_that_is_not_accepted_for_a_reason(
    tmp_path: Path, choices: dict[str, str]
) -> None:
    app = build_app(outdir=tmp_path, context=cdk_context(**choices), validate=False)
    cdk.Aspects.of(app).add(AwsSolutionsChecks(verbose=True, reports=False))
    app.synth()
    assert _messages(tmp_path, "aws:cdk:warning", "aws:cdk:error") == []


def _messages(folder: Path, *kinds: str) -> list[str]:
    """Return what a synth has said, from its files: jsii 1.142 cannot hand on a stack's messages."""
    files = [*folder.glob("*.metadata.json"), folder / "manifest.json"]
    return [
        f"{found['type']}: {found.get('data')}"
        for file in files
        for found in _entries(json.loads(file.read_text("utf-8")))
        if found["type"] in kinds
    ]


def _entries(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if isinstance(value.get("type"), str):
            yield value
        for part in value.values():
            yield from _entries(part)
    elif isinstance(value, list):
        for part in value:
            yield from _entries(part)


def test_a_finding_of_cdk_nag_would_be_seen(tmp_path: Path) -> None:
    app = cdk.App(outdir=str(tmp_path), analytics_reporting=False)
    cdk.Annotations.of(cdk.Stack(app, "Some")).add_error("AwsSolutions-XY1: look here")
    app.synth()
    (found,) = _messages(tmp_path, "aws:cdk:error")
    assert "AwsSolutions-XY1" in found


def test_reasons_for_what_is_accepted_are_sentences_and_few(aws: Assembly) -> None:
    accepted = [
        (rule["id"], rule["reason"])
        for template in (aws.data, aws.pipeline)
        for resource in template["Resources"].values()
        for rule in resource.get("Metadata", {}).get("cdk_nag", {}).get("rules_to_suppress", ())
    ]
    assert sorted({rule for rule, _ in accepted}) == [
        "AwsSolutions-APIG4",
        "AwsSolutions-IAM5",
        "AwsSolutions-L1",
        "AwsSolutions-S1",
        "AwsSolutions-SF2",
        "AwsSolutions-SMG4",
    ]
    for rule, reason in accepted:
        assert len(reason.split()) >= 10, rule
        assert reason.endswith("."), rule


def test_the_stacks_go_to_any_account_and_region(aws: Assembly) -> None:
    manifest = json.loads((aws.folder / "manifest.json").read_text("utf-8"))
    assert not manifest.get("missing"), "a lookup"
    for name in ("SourcebookData", "SourcebookPipeline"):
        assert manifest["artifacts"][name]["environment"] == "aws://unknown-account/unknown-region"


def test_the_stacks_go_to_any_partition(aws: Assembly) -> None:
    """China, GovCloud and the European cloud have other partitions, and other domains of URLs."""
    for template in (aws.data, aws.pipeline):
        text = json.dumps(template["Resources"]) + json.dumps(template["Outputs"])
        assert not re.findall(r"arn:aws[\w-]*:", text)
        hosts = set(re.findall(r"[\w.-]+\.amazonaws\.com[\w.]*", text))
        # Names of services are the same everywhere.
        assert all(
            re.fullmatch(r"(apigateway|cloudwatch|events|lambda|sns|states)\.amazonaws\.com", h)
            for h in hosts
        )


def test_the_stacks_describe_themselves_and_tag_what_they_make(aws: Assembly) -> None:
    for template in (aws.data, aws.pipeline):
        assert template["Description"].startswith("Sourcebook: ")
    for kind in ("AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::Lambda::Function", "AWS::SQS::Queue"):
        for resource in aws.properties(kind):
            assert {"Key": "project", "Value": "sourcebook"} in resource["Tags"], kind


def test_the_pipeline_says_where_its_parts_are(aws: Assembly) -> None:
    assert set(aws.pipeline["Outputs"]) == {
        "ApiId",
        "Version",
        "ApiUrl",
        "TableName",
        "BucketName",
        "FetchQueueUrl",
        "FetchDeadLetterQueueUrl",
        "AnalyzeQueueUrl",
        "AnalyzeDeadLetterQueueUrl",
        "NewArticlesQueueUrl",
        "NewArticlesDeadLetterQueueUrl",
        "GroupQueueUrl",
        "GroupDeadLetterQueueUrl",
        "IdeasQueueUrl",
        "IdeasDeadLetterQueueUrl",
        "TriggerFunctionName",
        "GroupFunctionName",
        "IdeasFunctionName",
        "EventBusName",
        "TiingoSecretName",
        "FinnhubSecretName",
        "ArticleTopicArn",
        "AlarmTopicArn",
        "AlertMailTopicArn",
        "DispatchFunctionName",
        "FetchFunctionName",
        "AnalyzeFunctionName",
        "ApiFunctionName",
        "CloseRunsFunctionName",
        "HealFunctionName",
        "IndexFunctionName",
        "RefreshSourcesArn",
        "InitializeNovaArn",
        "IngestNewNovaArn",
        "RefreshReferencesArn",
        "CurateNovaArn",
        "DiscoverSpectraProductsArn",
        "AcquireAndValidateSpectraArn",
        "AcquireDueSpectraArn",
        "IngestPhotometryArn",
        "NameCheckAndReconcileArn",
        "QuarantineTopicArn",
        "RebuildFunctionName",
        "RefreshSentimentFunctionName",
        "ReanalyzeSubjectArn",
        "RebuildCanonicalArn",
        "ExportPeriodArn",
        "IndexShards",
    }
