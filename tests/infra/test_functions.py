"""How the Lambdas are made, and what each may do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from infra import functions
from infra.deployment import DeploymentTarget
from sourcebook.table import keys
from tests.infra.conftest import synthesize
from tests.permissions.seen import BY_LAMBDA, LOCAL_ACTIONS, UNUSED, seen
from tests.templates import ROOT

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

FUNCTIONS = (
    "acquire_spectrum",
    "analyze_sentiment",
    "api",
    "claim_spectra",
    "close_runs",
    "curate_nova",
    "date_discovery",
    "discover_spectra",
    "dispatch_sources",
    "establish_nova",
    "fetch_references",
    "fetch_sources",
    "find_nova",
    "generate_ideas",
    "group_headlines",
    "heal_articles",
    "hold_for_review",
    "hold_spectrum",
    "index_articles",
    "invalidate_sentiment",
    "load_spectrum",
    "page",
    "plan_discovery",
    "prepare_nova",
    "reanalyze_articles",
    "rebuild_canonical",
    "export_days",
    "rebuild_photometry",
    "reconcile_names",
    "record_spectrum",
    "refresh_sentiment",
    "resolve_name",
    "store_references",
    "sweep_spectra",
    "trigger_grouping",
    "validate_photometry",
    "validate_spectrum",
)

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

ANALYZING = tuple(
    f"dynamodb:{action}"
    for action in (
        "BatchGetItem",
        "BatchWriteItem",
        "DeleteItem",
        "GetItem",
        "PartiQLInsert",
        "PutItem",
        "Query",
        "UpdateItem",
    )
)

RECORDING = (("dynamodb:PutItem", TABLE), ("dynamodb:UpdateItem", TABLE))
"""Every task of a workflow writes its attempt and completes it."""

ALLOWED: dict[str, set[tuple[str, str]]] = {
    "page": set(),  # its files come with it
    "dispatch_sources": {
        ("dynamodb:Query", f"table/index/{keys.ELIGIBILITY_INDEX}"),
        ("dynamodb:PutItem", TABLE),
        ("dynamodb:UpdateItem", TABLE),
        ("sqs:GetQueueAttributes", "fetch queue"),
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
        ("dynamodb:PartiQLInsert", TABLE),
        ("dynamodb:PartiQLUpdate", TABLE),
        ("dynamodb:Query", TABLE),
        ("s3:PutObject", "bucket/snapshots/*"),
        ("sns:Publish", "article topic"),
        # A source that errors have disabled is told to whoever hears of alarms.
        ("sns:Publish", "alarm topic"),
        ("events:PutEvents", "news bus"),
        ("secretsmanager:GetSecretValue", "secret tiingo"),
        ("secretsmanager:GetSecretValue", "secret finnhub"),
        *((action, "fetch queue") for action in RECEIVING),
    },
    "analyze_sentiment": {
        *((action, TABLE) for action in ANALYZING),
        ("dynamodb:Query", f"table/index/{keys.ELIGIBILITY_INDEX}"),
        *((action, "analyze queue") for action in RECEIVING),
    },
    "reanalyze_articles": {
        *((action, TABLE) for action in ANALYZING),
        ("dynamodb:Query", f"table/index/{keys.ELIGIBILITY_INDEX}"),
        ("dynamodb:Query", f"table/index/{keys.SENTIMENT_INDEX}"),
        ("dynamodb:Query", f"table/index/{keys.TAG_INDEX}"),
    },
    "refresh_sentiment": {
        ("dynamodb:BatchGetItem", TABLE),
        ("dynamodb:BatchWriteItem", TABLE),
        ("dynamodb:DeleteItem", TABLE),
        ("dynamodb:PutItem", TABLE),
        ("dynamodb:Query", TABLE),
        ("dynamodb:UpdateItem", TABLE),
        ("dynamodb:Query", f"table/index/{keys.ELIGIBILITY_INDEX}"),
        ("dynamodb:Query", f"table/index/{keys.TAG_INDEX}"),
    },
    "invalidate_sentiment": {
        ("dynamodb:DeleteItem", TABLE),
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:PutItem", TABLE),
        ("dynamodb:UpdateItem", TABLE),
    },
    "trigger_grouping": {
        ("dynamodb:Query", TABLE),
        ("events:PutEvents", "news bus"),
        *((action, "new articles queue") for action in RECEIVING),
    },
    "group_headlines": {
        ("dynamodb:BatchGetItem", TABLE),
        ("dynamodb:BatchWriteItem", TABLE),
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:PutItem", TABLE),
        ("dynamodb:Query", TABLE),
        ("dynamodb:UpdateItem", TABLE),
        ("events:PutEvents", "news bus"),
        *((action, "group queue") for action in RECEIVING),
    },
    "generate_ideas": {
        ("dynamodb:BatchGetItem", TABLE),
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:PutItem", TABLE),
        ("dynamodb:UpdateItem", TABLE),
        *((action, "ideas queue") for action in RECEIVING),
    },
    "rebuild_canonical": {
        ("dynamodb:BatchGetItem", TABLE),
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:PutItem", TABLE),
        ("dynamodb:Query", TABLE),
        ("dynamodb:UpdateItem", TABLE),
    },
    "export_days": {
        *RECORDING,
        ("dynamodb:BatchGetItem", TABLE),
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:Query", TABLE),
        ("dynamodb:Query", f"table/index/{keys.SENTIMENT_INDEX}"),
        ("dynamodb:Query", f"table/index/{keys.STATUS_INDEX}"),
        ("s3:GetObject", "bucket/exports/*"),
        ("s3:PutObject", "bucket/exports/*"),
        ("s3:ListBucket", "bucket"),
    },
    "heal_articles": {
        ("dynamodb:Query", f"table/index/{keys.STATUS_INDEX}"),
        ("dynamodb:BatchGetItem", TABLE),
        ("sns:Publish", "article topic"),
    },
    **{
        name: {*RECORDING, ("dynamodb:GetItem", TABLE), ("dynamodb:Query", TABLE)}
        for name in (
            "find_nova",
            "establish_nova",
            "date_discovery",
            "reconcile_names",
        )
    },
    "prepare_nova": {*RECORDING, ("dynamodb:GetItem", TABLE)},
    "plan_discovery": {*RECORDING, ("dynamodb:GetItem", TABLE)},
    "resolve_name": {*RECORDING, ("dynamodb:GetItem", TABLE)},
    "fetch_references": {
        *RECORDING,
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:Query", TABLE),
        ("secretsmanager:GetSecretValue", "secret ads"),
        ("s3:PutObject", "bucket/raw/references/*"),
    },
    "discover_spectra": {
        *RECORDING,
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:Query", TABLE),
        ("s3:GetObject", "bucket/raw/donations/*"),
        ("s3:ListBucket", "bucket"),
    },
    "store_references": {
        *RECORDING,
        ("s3:GetObject", "bucket/raw/references/*"),
        ("s3:PutObject", "bucket/quarantine/*"),
        ("sns:Publish", "quarantine topic"),
    },
    "hold_for_review": {
        *RECORDING,
        ("dynamodb:Query", TABLE),
        ("s3:PutObject", "bucket/quarantine/*"),
        ("sns:Publish", "quarantine topic"),
    },
    "load_spectrum": {*RECORDING, ("dynamodb:GetItem", TABLE), ("dynamodb:Query", TABLE)},
    "acquire_spectrum": {
        *RECORDING,
        ("dynamodb:GetItem", TABLE),
        ("s3:GetObject", "bucket/raw/donations/*"),
        ("s3:PutObject", "bucket/raw/spectra/*"),
    },
    "validate_spectrum": {
        *RECORDING,
        ("s3:GetObject", "bucket/raw/spectra/*"),
        ("s3:PutObject", "bucket/derived/spectra/*"),
    },
    "hold_spectrum": {
        *RECORDING,
        ("s3:GetObject", "bucket/raw/spectra/*"),
        ("s3:PutObject", "bucket/quarantine/*"),
        ("sns:Publish", "quarantine topic"),
    },
    "record_spectrum": {*RECORDING, ("dynamodb:GetItem", TABLE)},
    "claim_spectra": {*RECORDING, ("dynamodb:Query", f"table/index/{keys.STATUS_INDEX}")},
    "close_runs": {
        ("dynamodb:DeleteItem", TABLE),
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:PutItem", TABLE),
        ("dynamodb:UpdateItem", TABLE),
        ("dynamodb:Query", f"table/index/{keys.STATUS_INDEX}"),
        ("states:DescribeExecution", "executions"),
    },
    "sweep_spectra": {
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:Query", f"table/index/{keys.STATUS_INDEX}"),
        ("states:StartExecution", "workflow AcquireDueSpectra"),
    },
    "validate_photometry": {
        *RECORDING,
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:Query", TABLE),
        ("s3:GetObject", "bucket/raw/photometry/*"),
        ("s3:PutObject", "bucket/derived/photometry/*"),
    },
    "rebuild_photometry": {
        *RECORDING,
        ("dynamodb:GetItem", TABLE),
        ("s3:GetObject", "bucket/derived/photometry/*"),
        ("s3:PutObject", "bucket/derived/photometry/*"),
    },
    "curate_nova": {
        *RECORDING,
        ("dynamodb:DeleteItem", TABLE),
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:Query", TABLE),
        ("s3:GetObject", "bucket/derived/photometry/*"),
        ("s3:PutObject", "bucket/derived/photometry/*"),
    },
    "index_articles": {
        *(
            (f"dynamodb:{action}", "table stream")
            for action in ("DescribeStream", "GetRecords", "GetShardIterator")
        ),
        ("dynamodb:BatchGetItem", TABLE),
        # New articles that wait for their analysis.
        ("dynamodb:PartiQLUpdate", TABLE),
        # The place up to which the stream has been read; rules of alerts, and what fires.
        ("dynamodb:GetItem", TABLE),
        ("dynamodb:PutItem", TABLE),
        ("dynamodb:UpdateItem", TABLE),
        ("events:PutEvents", "news bus"),
        ("sns:Publish", "alert mails"),
        ("dynamodb:Query", TABLE),
        ("dynamodb:Query", f"table/index/{keys.ELIGIBILITY_INDEX}"),
        ("dynamodb:Query", f"table/index/{keys.SENTIMENT_INDEX}"),
        ("s3:GetObject", "bucket/search/v2/*"),
        ("s3:PutObject", "bucket/search/v2/*"),
        ("s3:ListBucket", "bucket"),
    },
    "api": {
        # Light curves and spectra, the search index, and exports.
        ("s3:GetObject", "bucket/search/v2/*"),
        ("s3:GetObject", "bucket/exports/*"),
        # Whoever makes a rule with a mail address has that asked.
        ("sns:Subscribe", "alert mails"),
        # Articles that a person has joined or split are analyzed anew.
        ("sns:Publish", "article topic"),
        ("s3:ListBucket", "bucket"),
        *(
            ("sqs:GetQueueAttributes", f"{name} dead letters")
            for name in ("fetch", "analyze", "new articles", "group", "ideas")
        ),
        ("s3:GetObject", "bucket/derived/photometry/*/points.json.gz"),
        ("s3:GetObject", "bucket/derived/spectra/*"),
        # Whoever reviews a spectrum is shown its file.
        ("s3:GetObject", "bucket/quarantine/spectra/*"),
        ("s3:GetObject", "bucket/raw/spectra/*"),
        # Files that are uploaded, and what an upload is noted in.
        *(
            (f"s3:{action}Object", f"bucket/raw/{folder}/*")
            for action in ("Get", "Put")
            for folder in ("uploads", "photometry", "donations")
        ),
        # A person's decision on what is in quarantine, and the workflows that may be started.
        ("dynamodb:UpdateItem", TABLE),
        *(
            ("states:StartExecution", f"workflow {name}")
            for name in (
                "AcquireAndValidateSpectra",
                "AcquireDueSpectra",
                "CurateNova",
                "DiscoverSpectraProducts",
                "ExportPeriod",
                "IngestNewNova",
                "IngestPhotometry",
                "InitializeNova",
                "NameCheckAndReconcile",
                "ReanalyzeSubject",
                "RebuildCanonical",
                "RefreshReferences",
                "RefreshSources",
            )
        ),
        ("dynamodb:BatchGetItem", TABLE),
        ("dynamodb:GetItem", TABLE),
        # Its own entries of the sentiment cache, and sources; see the test of the conditions below.
        ("dynamodb:PutItem", TABLE),
        ("dynamodb:UpdateItem", TABLE),
        ("dynamodb:BatchWriteItem", TABLE),
        ("dynamodb:DeleteItem", TABLE),
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


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "page"])
def test_a_function_gets_its_name_and_the_names_of_table_and_bucket(aws: Assembly, name: str) -> None:
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
    assert carriers == {"analyze_sentiment", "reanalyze_articles"}
    assert all(len(aws.function(name)["Layers"]) >= 2 for name in FUNCTIONS)


def test_only_what_writes_parquet_carries_its_layer(aws: Assembly) -> None:
    layers = aws.resources("AWS::Lambda::LayerVersion")
    (parquet,) = (key for key, layer in layers.items() if "parquet" in layer["Properties"]["Description"])
    carriers = {name for name in FUNCTIONS if {"Ref": parquet} in aws.function(name)["Layers"]}
    assert carriers == {"curate_nova", "export_days", "rebuild_photometry"}


def test_only_the_examination_of_spectra_carries_the_science_layer(aws: Assembly) -> None:
    layers = aws.resources("AWS::Lambda::LayerVersion")
    (science,) = (key for key, layer in layers.items() if "science" in layer["Properties"]["Description"])
    carriers = {name for name in FUNCTIONS if {"Ref": science} in aws.function(name)["Layers"]}
    assert carriers == {"validate_spectrum"}


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


def test_the_api_writes_no_article(aws: Assembly) -> None:
    written = [
        statement["Condition"]
        for statement in aws.allowed_to("api")
        if statement["Action"] == ["dynamodb:PutItem", "dynamodb:UpdateItem"] and "Condition" in statement
    ]
    assert {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["TOOL#*", "CACHE#METADATA"]}} in written


def test_the_api_deletes_and_adds_only_what_its_operations_make(aws: Assembly) -> None:
    deleting = {
        pattern: set(statement["Action"])
        for statement in aws.allowed_to("api")
        if {"dynamodb:DeleteItem", "dynamodb:BatchWriteItem"} & {*statement["Action"]}
        for pattern in statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    }
    assert deleting == {
        pattern: {f"dynamodb:{name}" for name in names.split()}
        for pattern, names in (
            ("SOURCE#*", "BatchWriteItem DeleteItem PutItem UpdateItem"),
            ("IDEMPOTENT#*", "DeleteItem PutItem UpdateItem"),
            (keys.started_run("*")["PK"], "DeleteItem PutItem"),
            (keys.event("*")["PK"], "BatchWriteItem DeleteItem PutItem UpdateItem"),
            (keys.ALERT_RULES, "DeleteItem PutItem UpdateItem"),
        )
    }


def test_names_of_actions_that_only_the_embedded_cloud_knows_stay_there(
    aws: Assembly, local: Assembly
) -> None:
    for name in FUNCTIONS:
        added = _permissions(local, name) - _permissions(aws, name)
        assert {action for action, _ in added} <= {
            "sqs:SendMessageBatch",
            "sns:PublishBatch",
            "dynamodb:BatchExecuteStatement",
            # Requests to a stream name no resource there (infra/search.py).
            "dynamodb:DescribeStream",
            "dynamodb:GetRecords",
            "dynamodb:GetShardIterator",
        }


def test_no_role_takes_a_policy_that_aws_may_widen(aws: Assembly) -> None:
    for role in aws.properties("AWS::IAM::Role"):
        assert "ManagedPolicyArns" not in role


def test_each_role_belongs_to_one_function(aws: Assembly) -> None:
    roles = [json.dumps(aws.function(name)["Role"]) for name in FUNCTIONS]
    assert len(set(roles)) == len(FUNCTIONS)


def test_no_statement_allows_every_action_or_every_resource_without_a_reason(aws: Assembly) -> None:
    roles = aws.resources("AWS::IAM::Role")
    for logical_id, statements in aws.allowed().items():
        accepted = {
            finding
            for rule in roles[logical_id].get("Metadata", {}).get("cdk_nag", {}).get("rules_to_suppress", ())
            for finding in rule.get("applies_to", ())
        }
        for statement in statements:
            if statement["Effect"] != "Allow":
                continue
            assert not [action for action in _list(statement["Action"]) if "*" in action], logical_id
            for resource in _list(statement["Resource"]):
                if "*" in json.dumps(resource):
                    assert f"Resource::{_as_cdk_nag_has_it(resource)}" in accepted, (logical_id, resource)


def test_a_folder_without_a_handler_stops_the_synth_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(functions, "_LAMBDAS", tmp_path / "lambdas")
    with pytest.raises(ValueError, match=r"lambdas/fetch_sources/handler\.py is missing"):
        synthesize(tmp_path / "out", DeploymentTarget.LAMBDA)


def _permissions(aws: Assembly, name: str) -> set[tuple[str, str]]:
    """Return what a function's role allows, as pairs of an action and a name of its resource."""
    own_group = aws.function(name)["LoggingConfig"]["LogGroup"]["Ref"]
    return {
        (action, _resource_name(resource, own_group))
        for statement in aws.allowed_to(name)
        for action in _list(statement["Action"])
        for resource in _list(statement["Resource"])
    }


NAMES = {
    "IngestionFetchDeadLetters": "fetch dead letters",
    "AnalysisAnalyzeDeadLetters": "analyze dead letters",
    "NewsNewArticlesDeadLetters": "new articles dead letters",
    "NewsGroupDeadLetters": "group dead letters",
    "NewsIdeasDeadLetters": "ideas dead letters",
    "FetchQueue": "fetch queue",
    "AnalyzeQueue": "analyze queue",
    "NewArticlesQueue": "new articles queue",
    "NewsGroupQueue": "group queue",
    "NewsIdeasQueue": "ideas queue",
    "NewsBus": "news bus",
    "IngestionArticles": "article topic",
    "TiingoKey": "secret tiingo",
    "FinnhubKey": "secret finnhub",
    "AdsKey": "secret ads",
    "MonitoringAlarms": "alarm topic",
    "CatalogQuarantined": "quarantine topic",
    "AlertsMails": "alert mails",
    "CatalogCurationCurateNovaWorkflowStateMachine": "workflow CurateNova",
    "CatalogPhotometryIngestPhotometryStateMachine": "workflow IngestPhotometry",
    **{
        f"CatalogSpectra{name}StateMachine": f"workflow {name}"
        for name in ("AcquireAndValidateSpectra", "AcquireDueSpectra")
    },
    **{
        f"Catalog{name}StateMachine": f"workflow {name}"
        for name in (
            "DiscoverSpectraProducts",
            "IngestNewNova",
            "InitializeNova",
            "NameCheckAndReconcile",
            "RefreshReferences",
        )
    },
    "ExportsExportPeriodStateMachine": "workflow ExportPeriod",
    "SentimentReanalyzeSubjectStateMachine": "workflow ReanalyzeSubject",
    "ObservationsRebuildStateMachine": "workflow RebuildCanonical",
    "RefreshSourcesStateMachine": "workflow RefreshSources",
}
"""What stands in a resource's logical id, and what it is called in `ALLOWED`."""


def _resource_name(arn: Any, own_group: str) -> str:
    match arn:
        case {"Fn::GetAtt": [logical_id, "Arn"]} if logical_id == own_group:
            return "own log group"
        case {"Fn::GetAtt": [logical_id, "Arn"]} | {"Ref": logical_id} | {"Fn::ImportValue": logical_id} if (
            known := next((name for part, name in NAMES.items() if part in logical_id), None)
        ):
            return known
        case {"Fn::ImportValue": name} if "TableStreamArn" in name:
            return "table stream"
        case {"Fn::ImportValue": name} if "TableArn" in name:
            return TABLE
        case {"Fn::Join": ["", [{"Fn::ImportValue": name}, path]]} if "TableArn" in name:
            return f"{TABLE}{path}"
        case {"Fn::ImportValue": name} if "DataBucketArn" in name:
            return "bucket"
        case {"Fn::Join": ["", [{"Fn::ImportValue": name}, path]]} if "DataBucketArn" in name:
            return f"bucket{path}"
        case {"Fn::Join": ["", [*_, str(path)]]} if path.endswith(":execution:SourcebookPipeline-*"):
            return "executions"
        case _:
            return json.dumps(arn)


def _as_cdk_nag_has_it(resource: Any) -> str:
    match resource:
        case {"Fn::Join": ["", [{"Fn::ImportValue": name}, path]]} if "DataBucketArn" in name:
            return f"<DataBucket.Arn>{path}"
        case {"Fn::Join": ["", [*parts]]}:
            return "".join(part if isinstance(part, str) else f"<{part['Ref']}>" for part in parts)
        case _:
            return str(resource)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_nothing_is_allowed_that_no_test_has_used_unless_for_a_reason(aws: Assembly) -> None:
    """What the end-to-end tests have been seen to use is in tests/permissions/seen.json."""
    allowed = {(name, action) for name in FUNCTIONS for action, _ in _permissions(aws, name)}
    of_lambda = {(name, action) for name, action in allowed if action in BY_LAMBDA}
    unexplained = allowed - seen() - of_lambda - UNUSED.keys()
    assert sorted(unexplained) == [], "run the end-to-end tests and `python -m tests.permissions.seen`"
    assert sorted(UNUSED.keys() - allowed) == [], "is not allowed any more: take it from the table"
    assert sorted(UNUSED.keys() & seen()) == [], "has been used: take it from the table"
    for reason in UNUSED.values():
        assert len(reason.split()) >= 6
        assert reason.endswith(".")


def test_both_clouds_get_the_same_policies_but_for_names_of_actions(aws: Assembly, local: Assembly) -> None:
    """So a call that the policies of the embedded cloud allow is allowed by those of AWS."""
    for name in FUNCTIONS:
        missing = _permissions(aws, name) - _permissions(local, name)
        assert {resource for _, resource in missing} <= {"table stream"}, name
        assert LOCAL_ACTIONS.isdisjoint({action for action, _ in _permissions(aws, name)})
