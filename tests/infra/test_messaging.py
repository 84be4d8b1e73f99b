"""Schedule, queues and topics."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from sourcebook_cli.local import up
from sourcebook_cli.redrive import dead_letter_queues

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra


def _mapping(assembly: Assembly, name: str) -> dict[str, Any]:
    logical_id, _ = assembly.function_resource(name)
    (found,) = (
        mapping
        for mapping in assembly.properties("AWS::Lambda::EventSourceMapping")
        if mapping["FunctionName"] == {"Ref": logical_id}
    )
    return found


def _queue_of(assembly: Assembly, name: str) -> dict[str, Any]:
    logical_id = _mapping(assembly, name)["EventSourceArn"]["Fn::GetAtt"][0]
    properties: dict[str, Any] = assembly.resources("AWS::SQS::Queue")[logical_id]["Properties"]
    return properties


SCHEDULED = {
    "dispatch_sources": "rate(1 minute)",
    "heal_articles": "rate(15 minutes)",
    "trigger_grouping": "rate(1 minute)",
    "refresh_sentiment": "rate(15 minutes)",
    "sweep_spectra": "rate(15 minutes)",
    "index_articles": "rate(3 minutes)",
    "close_runs": "rate(15 minutes)",
}


def test_what_runs_by_the_clock_and_how_often(aws: Assembly) -> None:
    found = {}
    for rule in aws.properties("AWS::Events::Rule"):
        assert rule["State"] == "ENABLED"
        if "ScheduleExpression" not in rule:
            continue
        (target,) = rule["Targets"]
        found[target["Arn"]["Fn::GetAtt"][0]] = rule["ScheduleExpression"]
    assert found == {aws.function_resource(name)[0]: rate for name, rate in SCHEDULED.items()}


def test_every_queue_with_dead_letters_can_be_redriven(aws: Assembly) -> None:
    outputs = {name: str(output["Value"]) for name, output in aws.pipeline["Outputs"].items()}
    redriven = {work: dead for dead, work in dead_letter_queues(outputs).values()}
    queues = aws.resources("AWS::SQS::Queue")
    with_dead_letters = {
        str({"Ref": logical_id}): str({"Ref": policy["deadLetterTargetArn"]["Fn::GetAtt"][0]})
        for logical_id, queue in queues.items()
        if (policy := queue["Properties"].get("RedrivePolicy"))
    }
    assert with_dead_letters
    assert redriven == with_dead_letters


def test_a_failed_run_waits_for_the_next_one(aws: Assembly) -> None:
    retries = {
        config["FunctionName"]["Ref"]: config["MaximumRetryAttempts"]
        for config in aws.properties("AWS::Lambda::EventInvokeConfig")
    }
    # close_runs is called by events of executions too, and none of those comes again by the clock.
    assert retries == {aws.function_resource(name)[0]: 2 if name == "close_runs" else 0 for name in SCHEDULED}


def test_a_dispatch_ends_before_the_next_one_begins(aws: Assembly) -> None:
    assert aws.function("dispatch_sources")["Timeout"] < 60


@pytest.mark.parametrize(
    ("name", "batch_size", "receive_count"), [("fetch_sources", 1, 3), ("analyze_sentiment", 50, 5)]
)
def test_a_queue_feeds_its_function_in_partial_batches_and_gives_up_into_dead_letters(
    aws: Assembly, name: str, batch_size: int, receive_count: int
) -> None:
    mapping, queue = _mapping(aws, name), _queue_of(aws, name)
    assert mapping["BatchSize"] == batch_size
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert queue["RedrivePolicy"]["maxReceiveCount"] == receive_count
    dead_letters = aws.resources("AWS::SQS::Queue")[
        queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
    ]["Properties"]
    assert dead_letters["MessageRetentionPeriod"] == 14 * 24 * 3600
    assert "RedrivePolicy" not in dead_letters


@pytest.mark.parametrize("name", ["fetch_sources", "analyze_sentiment"])
def test_a_message_stays_hidden_six_times_as_long_as_its_function_may_run(aws: Assembly, name: str) -> None:
    assert _queue_of(aws, name)["VisibilityTimeout"] >= 6 * aws.function(name)["Timeout"]


@pytest.mark.parametrize("name", ["fetch_sources", "analyze_sentiment"])
def test_the_work_of_a_killed_process_comes_again_while_make_up_waits(local: Assembly, name: str) -> None:
    patience = next(option.default for option in up.params if option.name == "timeout")
    hidden = _queue_of(local, name)["VisibilityTimeout"]
    assert local.function(name)["Timeout"] < hidden
    assert 2 * hidden < patience, "it may happen to a fetch and to the analysis of what was fetched"


def test_a_fetch_has_two_minutes(aws: Assembly) -> None:
    assert aws.function("fetch_sources")["Timeout"] == 120


@pytest.mark.parametrize(("name", "most"), [("fetch_sources", 3), ("analyze_sentiment", 2)])
def test_the_embedded_cloud_runs_few_at_once(local: Assembly, name: str, most: int) -> None:
    assert _mapping(local, name)["ScalingConfig"] == {"MaximumConcurrency": most}


def test_concurrency_is_the_operators_choice(aws: Assembly, chosen: Assembly) -> None:
    assert _mapping(chosen, "fetch_sources")["ScalingConfig"] == {"MaximumConcurrency": 7}
    for synthesized, lines, most, batch in ((aws, "1", 2, 10), (chosen, "8", 8, 1)):
        grouping = _mapping(synthesized, "group_headlines")
        assert grouping["ScalingConfig"] == {"MaximumConcurrency": most}
        assert grouping["BatchSize"] == batch
        asks = synthesized.function("trigger_grouping")["Environment"]["Variables"]
        assert asks["GROUPING_LINES"] == lines
    for synthesized, shards in ((aws, None), (chosen, "8,16")):
        functions = synthesized.properties("AWS::Lambda::Function")
        variables = [function["Environment"]["Variables"] for function in functions]
        knowing = [one for one in variables if "TABLE_NAME" in one]
        assert len(knowing) > 20
        assert {one.get("INDEX_SHARDS") for one in knowing} == {shards}


def test_new_articles_reach_the_analysis_unwrapped(aws: Assembly) -> None:
    (subscription,) = aws.properties("AWS::SNS::Subscription")
    assert subscription["Protocol"] == "sqs"
    assert subscription["RawMessageDelivery"] is True
    queue = _mapping(aws, "analyze_sentiment")["EventSourceArn"]
    assert subscription["Endpoint"] == queue
    assert "IngestionArticles" in subscription["TopicArn"]["Ref"]


def test_queues_are_encrypted(aws: Assembly) -> None:
    queues = aws.properties("AWS::SQS::Queue")
    assert len(queues) == 10
    assert {queue["SqsManagedSseEnabled"] for queue in queues} == {True}


@pytest.mark.parametrize(
    ("kind", "policy_kind", "refers"),
    [
        ("AWS::SQS::Queue", "AWS::SQS::QueuePolicy", "Queues"),
        ("AWS::SNS::Topic", "AWS::SNS::TopicPolicy", "Topics"),
        ("AWS::S3::Bucket", "AWS::S3::BucketPolicy", "Bucket"),
    ],
)
def test_plain_http_is_refused(aws: Assembly, kind: str, policy_kind: str, refers: str) -> None:
    policies = aws.properties(policy_kind)
    assert aws.resources(kind)
    for logical_id in aws.resources(kind):
        statements = [
            statement
            for policy in policies
            if f'"{logical_id}"' in json.dumps(policy[refers])
            for statement in policy["PolicyDocument"]["Statement"]
        ]
        assert [
            statement
            for statement in statements
            if statement["Effect"] == "Deny"
            and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
            and statement["Principal"] in ({"AWS": "*"}, "*")
        ], logical_id


def test_alarms_of_this_account_alone_may_publish_to_their_topic(aws: Assembly) -> None:
    (policy,) = (
        policy
        for policy in aws.properties("AWS::SNS::TopicPolicy")
        if "MonitoringAlarms" in json.dumps(policy["Topics"])
    )
    (allow,) = (s for s in policy["PolicyDocument"]["Statement"] if s["Effect"] == "Allow")
    assert allow["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert allow["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
