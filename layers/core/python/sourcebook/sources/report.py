"""What a round of polling leaves in the log and in the metrics, and what its operator is told."""

from __future__ import annotations

import resource
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from aws_lambda_powertools.metrics import EphemeralMetrics

from sourcebook.errors import printable
from sourcebook.records.source import SLOW_FETCH
from sourcebook.sources.poll import Poll, PollVerdict, RoundReport

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger, Metrics
    from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import AmazonCloudWatchEMFProvider
    from mypy_boto3_sns import SNSClient

_FAILURES: Final = frozenset({PollVerdict.FAILED, PollVerdict.BROKEN, PollVerdict.GONE})
_RUNBOOK: Final = "docs/operations.md#disabled-sources"


def log_round(report: RoundReport, logger: Logger) -> None:
    """Write one line for every source, and one for the round."""
    for poll in report.polls:
        source_id, result = poll.source_id, poll.result
        fields: dict[str, str | float | None] = {
            "source_id": source_id,
            "verdict": result.verdict.value,
            "cause": result.cause,
            "http_status": result.http_status,
            "entries": result.entries,
            "articles_created": result.created,
            "articles_merged": result.merged,
            "articles_updated": result.updated,
            "entries_rejected": len(result.rejected),
            "duration_ms": poll.duration_ms,
            "committed": poll.committed,
        }
        if poll.source.kind == "feed":
            # By feed in the log only: a metric for each would cost more than the feeds.
            fields |= {
                "velocity_articles_per_hour": result.state.get("rate"),
                "avg_articles_per_fetch": poll.articles_per_fetch,
                "refresh_interval_seconds": round(poll.interval.total_seconds()) if poll.interval else None,
            }
        if poll.crash is not None:
            logger.error("poll_crashed", extra={**fields, "reason": result.message}, exc_info=poll.crash)
        elif result.message:
            logger.warning("source_failed", extra={**fields, "reason": result.message})
        else:
            logger.info("source_fetched", extra=fields)
        if result.fetch_seconds is not None and result.fetch_seconds > SLOW_FETCH:
            logger.warning(
                "slow_fetch_detected",
                extra={
                    "source_id": source_id,
                    "duration_ms": round(result.fetch_seconds * 1000),
                    "threshold_ms": round(SLOW_FETCH * 1000),
                },
            )
        if result.dropped:
            logger.info("rows_dropped", extra={"source_id": source_id, **result.dropped})
        if result.anomaly:
            logger.warning("scrape_anomaly", extra={"source_id": source_id, "reason": result.anomaly})
        if result.warnings:
            doubt = {"source_id": source_id, "reasons": result.warnings[:10]}
            logger.info("document_in_doubt", extra=doubt)
        for rejected in result.rejected[:10]:
            logger.warning("entry_rejected", extra={"source_id": source_id, "reason": rejected.reason})
    for source_id, error in report.failures:
        logger.error(
            "poll_failed",
            extra={"source_id": source_id, "reason": f"{type(error).__name__}: {error}"},
            exc_info=error,
        )
    logger.info(
        "round_finished",
        extra={
            "polled": len(report.polls),
            "moved_on": len(report.moved_on),
            "postponed": len(report.postponed),
            "failed": len(report.failures),
        },
    )


def notify_of_disabled(report: RoundReport, topic: SNSClient, topic_arn: str) -> None:
    """Publish one message of the sources that a round has disabled, if it has and if there is a topic.

    Raises:
        botocore.exceptions.ClientError: if the topic does not take it.
    """
    disabled = [poll for poll in report.polls if poll.disabled]
    if not disabled or not topic_arn:
        return
    lines = [
        f"{poll.source_id}: {printable(poll.result.message or poll.result.cause)[:200]}" for poll in disabled
    ]
    advice = f"Each is probed every week and comes back by itself. Runbook: {_RUNBOOK}"
    topic.publish(
        TopicArn=topic_arn,
        Subject=f"Sourcebook: {len(disabled)} source{'s' * (len(disabled) > 1)} disabled by errors",
        Message="\n".join([*lines, "", advice]),
    )


def measure_round(report: RoundReport, metrics: Metrics) -> None:
    """Count the round in the metrics of the function."""
    results = [poll.result for poll in report.polls]
    for name, count in (
        ("SourcesPolled", len(results)),
        ("SourcesFailed", sum(bool(r.message) for r in results)),
        ("EntriesSeen", sum(r.entries for r in results)),
        ("RowsDropped", sum(sum(r.dropped.values()) for r in results)),
        ("ScrapeAnomalies", sum(bool(r.anomaly) for r in results)),
        ("PollsCrashed", sum(poll.crash is not None for poll in report.polls)),
        # Over all sources: the rate that an alarm watches. By source it is measured below.
        ("ArticlesFetched", sum(r.fresh for r in results)),
        ("ArticlesMerged", sum(r.merged for r in results)),
    ):
        metrics.add_metric(name, "Count", count)
    _measure_feeds([poll for poll in report.polls if poll.source.kind == "feed"], metrics)
    _measure_sources(report, EphemeralMetrics())


def _measure_feeds(polls: Sequence[Poll], metrics: Metrics) -> None:
    """Measure the feeds of a round under the names of the design that they come from (docs/feeds.md).

    What it has as a gauge for each feed is one metric here with a value of each feed, so that CloudWatch
    gives average, extremes and percentiles; the value of one feed is in its line of the log.
    """
    if not polls:
        return
    results = [poll.result for poll in polls]
    for name, count in (
        ("articles_parsed_total", sum(r.entries for r in results)),
        ("articles_deduplicated_total", sum(r.entries - r.fresh + r.merged for r in results)),
        ("articles_inserted_total", sum(r.created for r in results)),
        ("articles_rejected_total", sum(len(r.rejected) + sum(r.dropped.values()) for r in results)),
        ("feed_fetch_errors_total", sum(r.verdict in _FAILURES for r in results)),
    ):
        metrics.add_metric(name, "Count", count)
    for poll in polls:
        result = poll.result
        if result.verdict is not PollVerdict.DEFERRED:
            seconds = poll.duration_ms / 1000 if result.fetch_seconds is None else result.fetch_seconds
            metrics.add_metric("feed_fetch_duration_seconds", "Seconds", seconds)
        if "rate" in result.state:
            metrics.add_metric("feed_velocity_articles_per_hour", "Count", result.state["rate"])
        if poll.interval is not None:
            seconds = poll.interval.total_seconds()
            metrics.add_metric("average_refresh_interval_seconds", "Seconds", seconds)


def measure_process(metrics: Metrics, connections: int) -> None:
    """Measure what the process needs.

    Args:
        metrics: of the function.
        connections: that it may hold open to the table at the same time.
    """
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    metrics.add_metric("memory_usage_bytes", "Bytes", peak if sys.platform == "darwin" else peak * 1024)
    metrics.add_metric("database_connection_pool_size", "Count", connections)


def _measure_sources(report: RoundReport, metrics: AmazonCloudWatchEMFProvider) -> None:
    """Count what each news API brought, and all feeds together: a metric per feed would cost too much."""
    by_source: dict[str, Counter[str]] = {}
    for poll in report.polls:
        if not poll.result.fresh:
            continue
        source = "feed" if poll.source.kind == "feed" else poll.source_id
        totals = by_source.setdefault(source, Counter())
        totals["ArticlesFetched"] += poll.result.fresh
        totals["ArticlesStored"] += poll.result.created
        totals["ArticlesMerged"] += poll.result.merged
        totals["ArticlesUpdated"] += poll.result.updated
        totals["ArticlesRejected"] += len(poll.result.rejected)
    for source, totals in by_source.items():
        metrics.add_dimension("source", source)
        for name, count in totals.items():
            metrics.add_metric(name, "Count", count)
        metrics.add_metric(
            "CollisionRate", "Percent", 100 * totals["ArticlesMerged"] / totals["ArticlesFetched"]
        )
        metrics.flush_metrics()
