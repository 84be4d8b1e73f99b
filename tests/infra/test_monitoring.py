"""Alarms and the runbook."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from infra.ingestion import MANY_DUE
from infra.monitoring import FAILED_RUNS
from tests.templates import ROOT

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

ALARMS = {
    "dead-letters": {"ApproximateNumberOfMessagesVisible"},
    "backlog": {"ApproximateAgeOfOldestMessage"},
    "scheduled-function-errors": {"Errors"},
    "function-throttles": {"Throttles"},
    "schedule-not-ticking": {"Invocations"},
    "work-overdue": {"ArticlesHealed", "SpectraOverdueMinutes"},
    "feed-fetches-failing": {"feed_fetch_duration_seconds", "feed_fetch_errors_total"},
    "feed-fetches-strained": {"feed_fetch_duration_seconds", "memory_usage_bytes"},
    "feed-queue-size": {"queue_size"},
    "collision-rate": {"ArticlesFetched", "ArticlesMerged"},
    "scrape-anomaly": {"ScrapeAnomalies"},
    "sentiment-fallback": {"SentimentFallback"},
    "spectra-acquisition-failed": {"ExecutionsFailed"},
    "api-slow": {"Latency"},
    "api-server-errors": {"5xx"},
}
MOST_ALARMS = 15
MOST_RESOURCES = 250
"""In one stack: half of what CloudFormation takes."""
MOST_RENT = 6.0
"""US dollars a month that an idle deployment may cost by list price (us-east-1, November 2026)."""
MINUTES = 30 * 24 * 60
ALARM_METRIC = 0.10
"""Of an alarm, for each metric that it watches (CloudWatch pricing)."""
SECRET = 0.40
DASHBOARD = 3.00
FREE_DASHBOARDS = 3
FREE_DASHBOARD_METRICS = 50
"""A dashboard of more metrics is not among the free ones."""
SQS_REQUESTS, LAMBDA_REQUESTS, GIGABYTE_SECONDS = 0.40 / 1e6, 0.20 / 1e6, 0.0000133334
POLLS_A_MINUTE = 15
"""Receives of an idle event source: five pollers, each of which waits for 20 seconds."""
IDLE_SECONDS = 0.15
"""That a scheduled function takes when there is nothing to do."""


def _alarms(assembly: Assembly) -> dict[str, dict[str, Any]]:
    return {
        alarm["AlarmName"].removeprefix("SourcebookPipeline-"): alarm
        for alarm in assembly.properties("AWS::CloudWatch::Alarm")
    }


def _metrics(alarm: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the metrics that an alarm watches, each with its period."""
    if "MetricName" in alarm:
        return [alarm]
    return [
        {**part["MetricStat"]["Metric"], "Period": part["MetricStat"]["Period"]}
        for part in alarm["Metrics"]
        if "MetricStat" in part
    ]


def _referred(value: object) -> set[str]:
    """Return the logical ids that a piece of a template refers to."""
    text = json.dumps(value)
    return set(re.findall(r'"(?:Fn::GetAtt": \["|Ref": ")(\w+)"', text)) | set(
        re.findall(r"\$\{(\w+)[.}]", text)
    )


def _entries() -> dict[str, str]:
    """Return the runbook's entries by the anchor that GitHub gives their headings."""
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")
    parts = re.split(r"^### (.+)$", text, flags=re.MULTILINE)[1:]
    return {
        re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-"): re.split(
            r"^## ", body, flags=re.MULTILINE
        )[0]
        for heading, body in zip(parts[::2], parts[1::2], strict=True)
    }


def test_every_trouble_has_its_alarm(aws: Assembly) -> None:
    found = {
        name: {metric["MetricName"] for metric in _metrics(alarm)} for name, alarm in _alarms(aws).items()
    }
    assert found == ALARMS
    assert len(found) <= MOST_ALARMS


def test_a_deployment_at_rest_costs_little(aws: Assembly) -> None:
    alarms = ALARM_METRIC * sum(len(_metrics(alarm)) for alarm in aws.properties("AWS::CloudWatch::Alarm"))
    secrets = SECRET * len(aws.resources("AWS::SecretsManager::Secret"))
    dashboards = aws.properties("AWS::CloudWatch::Dashboard")
    shown = json.dumps(dashboards).count('\\"stat\\"')
    assert len(dashboards) <= FREE_DASHBOARDS
    assert shown <= FREE_DASHBOARD_METRICS, "a dashboard of so many metrics costs DASHBOARD a month"
    polling = len(aws.resources("AWS::Lambda::EventSourceMapping")) * POLLS_A_MINUTE * MINUTES * SQS_REQUESTS
    runs = 0.0
    for rule in aws.properties("AWS::Events::Rule"):
        if "ScheduleExpression" not in rule:
            continue
        found = re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", rule["ScheduleExpression"])
        assert found, rule["ScheduleExpression"]
        times = MINUTES / (int(found[1]) * {"minute": 1, "hour": 60, "day": 1440}[found[2]])
        (function,) = _referred(rule["Targets"]) & set(aws.resources("AWS::Lambda::Function"))
        name = aws.resources("AWS::Lambda::Function")[function]["Properties"]["FunctionName"]
        handler = ROOT / "lambdas" / name.partition("-")[2] / "handler.py"
        # Of $0.30 a month each; `sourcebook.counting.count` sends none where nothing has happened.
        assert "add_metric" not in handler.read_text("utf-8"), "a metric that is sent at rest"
        memory = aws.resources("AWS::Lambda::Function")[function]["Properties"]["MemorySize"] / 1024
        runs += times * (LAMBDA_REQUESTS + memory * IDLE_SECONDS * GIGABYTE_SECONDS)
    rent = {"alarms": alarms, "secrets": secrets, "polling": polling, "runs": runs}
    assert sum(rent.values()) <= MOST_RENT, rent


def test_there_is_room_in_a_stack(aws: Assembly) -> None:
    for template in (aws.data, aws.pipeline):
        assert len(template["Resources"]) <= MOST_RESOURCES


def test_the_collision_rate_is_watched_where_there_are_enough_articles(
    aws: Assembly, local: Assembly
) -> None:
    alarm = _alarms(aws)["collision-rate"]
    (expression,) = (part["Expression"] for part in alarm["Metrics"] if "Expression" in part)
    assert expression == (
        "IF(fetched < 200, 0, IF(100 * merged / fetched < 5 OR 100 * merged / fetched > 40, 1, 0))"
    )
    assert {part["MetricStat"]["Period"] for part in alarm["Metrics"] if "MetricStat" in part} == {6 * 3600}
    assert "collision-rate" not in _alarms(local), "the embedded cloud knows no metric math"


def test_failing_feeds_are_an_alarm_where_enough_were_fetched(aws: Assembly, local: Assembly) -> None:
    alarm = _alarms(aws)["feed-fetches-failing"]
    (expression,) = (part["Expression"] for part in alarm["Metrics"] if "Expression" in part)
    assert expression == "IF(fetches < 20, 0, 100 * errors / fetches)"
    assert (alarm["Threshold"], alarm["EvaluationPeriods"]) == (50, 2)
    assert "feed-fetches-failing" not in _alarms(local), "the embedded cloud knows no metric math"


def _limits(alarm: dict[str, Any]) -> dict[str, float]:
    """Return the limit of each metric of an alarm that rings when any of them is bad."""
    (expression,) = (part["Expression"] for part in alarm["Metrics"] if "Expression" in part)
    whole = re.fullmatch(r"MAX\(\[(.+)\]\)", expression)
    assert whole
    shares = dict(re.findall(r"FILL\((m\d+), 0\) / (\d+)", whole[1]))
    names = {part["Id"]: part["MetricStat"]["Metric"] for part in alarm["Metrics"] if "MetricStat" in part}
    assert set(shares) == set(names)
    assert alarm["Threshold"] == 1
    assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
    return {metric["MetricName"]: float(shares[number]) for number, metric in names.items()}


def test_the_alarms_on_feeds_have_the_bounds_of_what_they_watch(aws: Assembly) -> None:
    alarms = _alarms(aws)
    memory = aws.function("fetch_sources")["MemorySize"] * 1024**2
    limits = _limits(alarms["feed-fetches-strained"])
    assert limits["feed_fetch_duration_seconds"] == 5
    assert 0.8 * memory < limits["memory_usage_bytes"] < memory
    queue = alarms["feed-queue-size"]
    assert queue["Threshold"] == MANY_DUE
    # A minute in which nothing is due has no value, and must count as one.
    assert (queue["Period"], queue["EvaluationPeriods"], queue["DatapointsToAlarm"]) == (60, 15, 15)
    assert queue["TreatMissingData"] == "notBreaching"
    for name in ("feed-fetches-strained", "feed-queue-size"):
        for metric in _metrics(alarms[name]):
            (dimension,) = metric["Dimensions"]
            environment = aws.function(dimension["Value"])["Environment"]["Variables"]
            # What Powertools puts beside every metric of a function.
            assert dimension == {"Name": "service", "Value": environment["POWERTOOLS_SERVICE_NAME"]}
            assert metric["Namespace"] == environment["POWERTOOLS_METRICS_NAMESPACE"]


def test_every_queue_is_watched_for_its_age_or_its_dead_letters(aws: Assembly) -> None:
    alarms = _alarms(aws)
    watched = _referred([_metrics(alarms[name]) for name in ("dead-letters", "backlog")])
    assert set(aws.resources("AWS::SQS::Queue")) <= watched


def test_nobody_misses_a_function_that_fails(aws: Assembly) -> None:
    """Who is called by the clock, by a queue, in a workflow or by the API is watched there."""
    by_the_clock = _referred(_metrics(_alarms(aws)["scheduled-function-errors"]))
    by_a_queue = _referred(aws.properties("AWS::Lambda::EventSourceMapping"))
    in_a_workflow = _referred(aws.properties("AWS::StepFunctions::StateMachine"))
    by_the_api = _referred(aws.properties("AWS::ApiGatewayV2::Integration"))
    functions = set(aws.resources("AWS::Lambda::Function"))
    assert functions <= by_the_clock | by_a_queue | in_a_workflow | by_the_api
    for rule in aws.properties("AWS::Events::Rule"):
        if "ScheduleExpression" in rule:
            assert _referred(rule["Targets"]) & functions <= by_the_clock


def test_every_execution_that_failed_is_a_message_to_the_topic_of_alarms(aws: Assembly) -> None:
    (topic,) = (key for key in aws.resources("AWS::SNS::Topic") if "Alarms" in key)
    published: dict[str, set[str]] = {}
    for rule in aws.properties("AWS::Events::Rule"):
        if {"Ref": topic} not in [target["Arn"] for target in rule["Targets"]]:
            continue
        (target,) = rule["Targets"]
        assert "docs/operations.md#workflow-failed" in json.dumps(target["InputTransformer"])
        for machine in _referred(rule["EventPattern"]["detail"]["stateMachineArn"]):
            published.setdefault(machine, set()).update(rule["EventPattern"]["detail"]["status"])
    machines = set(aws.resources("AWS::StepFunctions::StateMachine"))
    (acquiring,) = _referred(_metrics(_alarms(aws)["spectra-acquisition-failed"])) & machines
    assert published == {
        machine: {"TIMED_OUT"} if machine == acquiring else {"FAILED", "TIMED_OUT"} for machine in machines
    }
    (policy,) = (
        policy["PolicyDocument"]["Statement"]
        for policy in aws.properties("AWS::SNS::TopicPolicy")
        if {"Ref": topic} in policy["Topics"]
    )
    publishers = {
        statement["Principal"].get("Service")
        for statement in policy
        if statement["Effect"] == "Allow" and isinstance(statement["Principal"], dict)
    }
    assert publishers == {"cloudwatch.amazonaws.com"}, "EventBridge publishes by a role"


def test_every_alarm_says_what_to_do_and_where_to_read_on(aws: Assembly) -> None:
    entries = _entries()
    named = set()
    for name, alarm in _alarms(aws).items():
        found = re.fullmatch(r"(.{30,}) Runbook: docs/operations\.md#([\w-]+)", alarm["AlarmDescription"])
        assert found, name
        assert found[2] in entries, name
        named.add(found[2])
    # An execution that failed is told of by an event and not by an alarm.
    assert named | {FAILED_RUNS} == set(entries), "an entry without an alarm"


def test_every_entry_has_a_meaning_something_to_look_at_and_something_to_do() -> None:
    for anchor, entry in _entries().items():
        for part in ("**What it means.**", "**What to look at.**", "**What to do.**"):
            assert part in entry, (anchor, part)
        assert re.search(r"^aws ", entry, flags=re.MULTILINE), f"{anchor} has no command"


def test_links_within_the_runbook_lead_somewhere() -> None:
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")
    headings = re.findall(r"^#{2,4} (.+)$", text, flags=re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([\w-]+)\)", text)) <= anchors


def test_the_runbooks_commands_name_outputs_and_log_groups_that_exist(aws: Assembly) -> None:
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")
    outputs = set(re.findall(r"\$\(out (\w+)\)", text))
    assert outputs
    assert outputs <= set(aws.pipeline["Outputs"])
    groups = set(re.findall(r"(?<=\s)(/aws/[\w/-]+)", text))
    assert groups
    assert groups <= {group["LogGroupName"] for group in aws.properties("AWS::Logs::LogGroup")}


def test_every_alarm_notifies_the_topic(aws: Assembly) -> None:
    (topic,) = (key for key in aws.resources("AWS::SNS::Topic") if "Alarms" in key)
    for name, alarm in _alarms(aws).items():
        assert alarm["AlarmActions"] == [{"Ref": topic}], name
        assert alarm["OKActions"] == [{"Ref": topic}], name


def test_silence_of_the_schedule_is_an_alarm_and_silence_of_all_else_is_none(aws: Assembly) -> None:
    for name, alarm in _alarms(aws).items():
        expected = "breaching" if name == "schedule-not-ticking" else "notBreaching"
        assert alarm["TreatMissingData"] == expected, name
    schedule = _alarms(aws)["schedule-not-ticking"]
    assert schedule["ComparisonOperator"] == "LessThanThreshold"
    assert schedule["Period"] * schedule["EvaluationPeriods"] == 300


def test_a_message_that_is_only_being_repeated_is_not_late(aws: Assembly) -> None:
    longest = max(queue.get("VisibilityTimeout", 30) for queue in aws.properties("AWS::SQS::Queue"))
    assert _limits(_alarms(aws)["backlog"])["ApproximateAgeOfOldestMessage"] > 2 * longest


def test_an_alarm_of_a_scheduled_function_can_ring_at_all(aws: Assembly) -> None:
    # Two of three periods without a run in them would never be bad.
    rates = [
        rule["ScheduleExpression"]
        for rule in aws.properties("AWS::Events::Rule")
        if "ScheduleExpression" in rule
    ]
    longest = max(int(re.findall(r"rate\((\d+) minute", rate)[0]) for rate in rates)
    metrics = _metrics(_alarms(aws)["scheduled-function-errors"])
    assert {metric["Period"] for metric in metrics} == {longest * 60}
    assert {metric["Period"] for metric in _metrics(_alarms(aws)["work-overdue"])} == {15 * 60}


def test_there_is_a_dashboard(aws: Assembly) -> None:
    (dashboard,) = aws.properties("AWS::CloudWatch::Dashboard")
    assert dashboard["DashboardName"] == "SourcebookPipeline"
    shown = json.dumps(dashboard["DashboardBody"])
    for metric in ("Invocations", "ApproximateAgeOfOldestMessage", "queue_size", "articles_inserted_total"):
        assert metric in shown
