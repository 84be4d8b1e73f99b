"""What a round of polling leaves in the log and in the metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from aws_lambda_powertools.metrics import EphemeralMetrics

from sourcebook.errors import InvalidInput
from sourcebook.sources.poll import RoundReport

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger, Metrics
    from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import AmazonCloudWatchEMFProvider

_TOTALS: Final = (
    "SourcesPolled",
    "SourcesFailed",
    "EntriesSeen",
    "RowsDropped",
    "ScrapeAnomalies",
    "ArticlesFetched",
    "ArticlesMerged",
)


def log_round(report: RoundReport, logger: Logger) -> None:
    """Write one line for every source, and one for the round."""
    for poll in report.polls:
        result = poll.result
        fields = {
            "source_id": poll.source_id,
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
        if result.message:
            logger.warning("source_failed", extra={**fields, "reason": result.message})
        else:
            logger.info("source_fetched", extra=fields)
        if result.dropped:
            logger.info("rows_dropped", extra={"source_id": poll.source_id, **result.dropped})
        if result.anomaly:
            logger.warning("scrape_anomaly", extra={"source_id": poll.source_id, "reason": result.anomaly})
        for rejected in result.rejected[:10]:
            logger.warning("entry_rejected", extra={"source_id": poll.source_id, "reason": rejected.reason})
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


def measure_round(report: RoundReport, metrics: Metrics) -> None:
    """Count the round in the metrics of the function."""
    totals: Counter[str] = Counter()
    for poll in report.polls:
        result = poll.result
        totals["SourcesPolled"] += 1
        totals["SourcesFailed"] += bool(result.message)
        totals["EntriesSeen"] += result.entries
        totals["RowsDropped"] += sum(result.dropped.values())
        totals["ScrapeAnomalies"] += bool(result.anomaly)
        # Over all sources: the rate that an alarm watches. By source it is measured below.
        totals["ArticlesFetched"] += result.fresh
        totals["ArticlesMerged"] += result.merged
    for name in _TOTALS:
        metrics.add_metric(name, "Count", totals[name])
    _measure_sources(report, EphemeralMetrics())


def _measure_sources(report: RoundReport, metrics: AmazonCloudWatchEMFProvider) -> None:
    """Count what each news API brought, and all feeds together: a metric per feed would cost too much."""
    by_source: dict[str, Counter[str]] = {}
    for poll in report.polls:
        if not poll.result.fresh:
            continue
        totals = by_source.setdefault("feed" if poll.kind == "feed" else poll.source_id, Counter())
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


@contextmanager
def failed_records(message_id: str, failed: list[str], logger: Logger) -> Iterator[None]:
    """Report a message that cannot be read as failed, so that it ends in the dead-letter queue."""
    try:
        yield
    except InvalidInput as error:
        logger.warning("message_unreadable", extra={"message_id": message_id, "reason": str(error)})
        failed.append(message_id)
