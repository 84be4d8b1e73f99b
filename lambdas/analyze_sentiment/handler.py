"""Analyze the sentiment of waiting articles."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

from collections import Counter
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.articles.analysis import Analysis, Analyzer
from sourcebook.errors import SourcebookError
from sourcebook.events import ArticleCreated, batch_response, read_records
from sourcebook.sentiment.engines.loading import load_engine
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
metrics = Metrics()
loaded = load_engine()
if loaded.fallback_reason:
    logger.error("sentiment_fallback", extra={"engine": loaded.engine.name, "reason": loaded.fallback_reason})
analyzer = Analyzer.of(Table.connect(required("TABLE_NAME")), loaded.engine)


@collect_garbage_from_now
@metrics.log_metrics
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Analyze the articles of all messages together; return the messages that must come back."""
    failed: list[str] = []
    messages = {
        record["messageId"]: message.dedup_key
        for record, message in read_records(ArticleCreated, event, failed, logger)
    }
    outcomes = analyzer.analyze(messages.values())
    for message_id, dedup_key in messages.items():
        outcome = outcomes[dedup_key]
        if isinstance(outcome, SourcebookError):
            logger.error("analysis_failed", extra={"dedup_key": dedup_key, "reason": str(outcome)})
            failed.append(message_id)
    counts = Counter(outcome for outcome in outcomes.values() if isinstance(outcome, Analysis))
    metrics.add_metric("ArticlesAnalyzed", MetricUnit.Count, counts[Analysis.ANALYZED])
    metrics.add_metric("AnalysesFailed", MetricUnit.Count, len(failed))
    metrics.add_metric("SentimentFallback", MetricUnit.Count, int(loaded.fallback_reason is not None))
    logger.info(
        "articles_analyzed",
        extra={
            **{outcome.value: n for outcome, n in counts.items()},
            "failed": len(failed),
            "engine": analyzer.engine.name,
        },
    )
    return batch_response(failed)
