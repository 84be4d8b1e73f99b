"""Alarms and the runbook."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.sources.dispatch import MOST_PER_DISPATCH
from tests.templates import ROOT

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

ALARMS = {
    "fetch-dead-letters": "ApproximateNumberOfMessagesVisible",
    "analyze-dead-letters": "ApproximateNumberOfMessagesVisible",
    "fetch-backlog": "ApproximateAgeOfOldestMessage",
    "analyze-backlog": "ApproximateAgeOfOldestMessage",
    **{
        f"{job}-{what}": metric
        for job in ("new-articles", "group", "ideas")
        for what, metric in (
            ("dead-letters", "ApproximateNumberOfMessagesVisible"),
            ("backlog", "ApproximateAgeOfOldestMessage"),
        )
    },
    **{
        f"{name}-{what}": what.capitalize()
        for name in ("trigger-grouping", "group-headlines", "generate-ideas")
        for what in ("errors", "throttles")
    },
    **{
        f"{name}-{what}": what.capitalize()
        for name in ("refresh-sentiment", "reanalyze-articles", "invalidate-sentiment")
        for what in ("errors", "throttles")
    },
    "reanalyze-subject-failed": "ExecutionsFailed",
    "reanalyze-subject-timed-out": "ExecutionsTimedOut",
    **{
        f"{name}-{what}": what.capitalize()
        for name in (
            "find-nova",
            "resolve-name",
            "establish-nova",
            "prepare-nova",
            "fetch-references",
            "store-references",
            "date-discovery",
            "plan-discovery",
            "discover-spectra",
            "validate-photometry",
            "rebuild-photometry",
            "reconcile-names",
            "hold-for-review",
        )
        for what in ("errors", "throttles")
    },
    **{
        f"{name}-{what}": metric
        for name in (
            "initialize-nova",
            "ingest-new-nova",
            "refresh-references",
            "discover-spectra-products",
            "ingest-photometry",
            "name-check-and-reconcile",
        )
        for what, metric in (("failed", "ExecutionsFailed"), ("timed-out", "ExecutionsTimedOut"))
    },
    **{
        f"{name}-{what}": what.capitalize()
        for name in (
            "load-spectrum",
            "acquire-spectrum",
            "validate-spectrum",
            "hold-spectrum",
            "record-spectrum",
            "claim-spectra",
            "sweep-spectra",
        )
        for what in ("errors", "throttles")
    },
    **{
        f"{name}-{what}": metric
        for name in ("acquire-and-validate-spectra", "acquire-due-spectra")
        for what, metric in (("failed", "ExecutionsFailed"), ("timed-out", "ExecutionsTimedOut"))
    },
    "spectra-overdue": "SpectraOverdueMinutes",
    "collision-rate": "ArticlesFetched ArticlesMerged",
    "feed-fetches-failing": "feed_fetch_duration_seconds feed_fetch_errors_total",
    "feed-fetches-slow": "feed_fetch_duration_seconds",
    "feed-queue-size": "queue_size",
    "fetch-memory": "memory_usage_bytes",
    "dispatch-sources-errors": "Errors",
    "fetch-sources-errors": "Errors",
    "analyze-sentiment-errors": "Errors",
    "heal-articles-errors": "Errors",
    "index-articles-errors": "Errors",
    "close-runs-errors": "Errors",
    "close-runs-throttles": "Throttles",
    "api-errors": "Errors",
    "page-errors": "Errors",
    "page-throttles": "Throttles",
    "api-slow": "Latency",
    "articles-waiting": "ArticlesHealed",
    "fetch-sources-recursion": "RecursiveInvocationsDropped",
    "analyze-sentiment-recursion": "RecursiveInvocationsDropped",
    "dispatch-sources-throttles": "Throttles",
    "fetch-sources-throttles": "Throttles",
    "analyze-sentiment-throttles": "Throttles",
    "heal-articles-throttles": "Throttles",
    "index-articles-throttles": "Throttles",
    "api-throttles": "Throttles",
    "schedule-not-ticking": "Invocations",
    "api-server-errors": "5xx",
    "rebuild-canonical-errors": "Errors",
    "rebuild-canonical-throttles": "Throttles",
    "rebuild-canonical-failed": "ExecutionsFailed",
    "rebuild-canonical-timed-out": "ExecutionsTimedOut",
    "scrape-anomaly": "ScrapeAnomalies",
    "sentiment-fallback": "SentimentFallback",
    "refresh-sources-failed": "ExecutionsFailed",
    "refresh-sources-timed-out": "ExecutionsTimedOut",
}


def _alarms(assembly: Assembly) -> dict[str, dict[str, Any]]:
    return {
        alarm["AlarmName"].removeprefix("SourcebookPipeline-"): alarm
        for alarm in assembly.properties("AWS::CloudWatch::Alarm")
    }


def _metric(alarm: dict[str, Any]) -> str:
    """Return the metric that an alarm watches; of an expression, all that it is made of."""
    parts = [part["MetricStat"]["Metric"] for part in alarm.get("Metrics", ()) if "MetricStat" in part]
    return " ".join(sorted(part["MetricName"] for part in parts)) or str(alarm["MetricName"])


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
    assert {name: _metric(alarm) for name, alarm in _alarms(aws).items()} == ALARMS


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


def test_the_alarms_on_feeds_have_the_bounds_of_what_they_watch(aws: Assembly) -> None:
    alarms = _alarms(aws)
    assert (alarms["feed-fetches-slow"]["ExtendedStatistic"], alarms["feed-fetches-slow"]["Threshold"]) == (
        "p95",
        5,
    )
    assert alarms["feed-queue-size"]["Threshold"] == MOST_PER_DISPATCH
    memory = aws.function("fetch_sources")["MemorySize"] * 1024**2
    assert 0.8 * memory < alarms["fetch-memory"]["Threshold"] < memory
    for name in ("feed-fetches-slow", "feed-queue-size", "fetch-memory"):
        (dimension,) = alarms[name]["Dimensions"]
        environment = aws.function(dimension["Value"])["Environment"]["Variables"]
        # What Powertools puts beside every metric of a function.
        assert dimension == {"Name": "service", "Value": environment["POWERTOOLS_SERVICE_NAME"]}
        assert alarms[name]["Namespace"] == environment["POWERTOOLS_METRICS_NAMESPACE"]


def test_every_queue_and_function_and_workflow_is_watched(aws: Assembly) -> None:
    text = json.dumps([alarm.get("Dimensions", ()) for alarm in _alarms(aws).values()])
    for kind in ("AWS::SQS::Queue", "AWS::Lambda::Function", "AWS::StepFunctions::StateMachine"):
        for logical_id in aws.resources(kind):
            assert f'"{logical_id}"' in text


def test_every_alarm_says_what_to_do_and_where_to_read_on(aws: Assembly) -> None:
    entries = _entries()
    named = set()
    for name, alarm in _alarms(aws).items():
        found = re.fullmatch(r"(.{30,}) Runbook: docs/operations\.md#([\w-]+)", alarm["AlarmDescription"])
        assert found, name
        assert found[2] in entries, name
        named.add(found[2])
    assert named == set(entries), "an entry without an alarm"


def test_every_entry_has_a_meaning_something_to_look_at_and_something_to_do() -> None:
    for anchor, entry in _entries().items():
        for part in ("**What it means.**", "**What to look at.**", "**What to do.**"):
            assert part in entry, (anchor, part)
        assert re.search(r"^aws ", entry, flags=re.MULTILINE), f"{anchor} has no command"


def test_links_within_the_runbook_lead_somewhere() -> None:
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")
    chapters = {
        heading.lower().replace(" ", "-") for heading in re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([\w-]+)\)", text)) <= set(_entries()) | chapters


def test_the_runbooks_commands_name_outputs_and_log_groups_that_exist(aws: Assembly) -> None:
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")
    outputs = set(re.findall(r"\$\(out (\w+)\)", text))
    assert outputs
    assert outputs <= set(aws.pipeline["Outputs"])
    groups = set(re.findall(r"(?<=\s)(/aws/[\w/-]+)", text))
    assert groups
    assert groups <= {group["LogGroupName"] for group in aws.properties("AWS::Logs::LogGroup")}


def test_every_alarm_tells_somebody(aws: Assembly) -> None:
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
    for name in ("fetch-backlog", "analyze-backlog"):
        assert _alarms(aws)[name]["Threshold"] > 2 * longest


def test_an_alarm_of_a_scheduled_function_can_ring_at_all(aws: Assembly) -> None:
    # Two of three periods without a run in them would never be bad.
    periods = {name: alarm.get("Period") for name, alarm in _alarms(aws).items()}
    assert periods["dispatch-sources-errors"] == 60
    assert periods["heal-articles-errors"] == 15 * 60
    assert periods["sweep-spectra-errors"] == periods["spectra-overdue"] == 15 * 60


def test_there_is_a_dashboard(aws: Assembly) -> None:
    (dashboard,) = aws.properties("AWS::CloudWatch::Dashboard")
    assert dashboard["DashboardName"] == "SourcebookPipeline"
    shown = json.dumps(dashboard["DashboardBody"])
    for metric in ("Invocations", "ApproximateAgeOfOldestMessage", "queue_size", "articles_inserted_total"):
        assert metric in shown
