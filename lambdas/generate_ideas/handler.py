"""Draw conclusions from the events that have changed."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.articles.grouping.ideas import IdeaWriter, WeighingEngine
from sourcebook.errors import SourcebookError
from sourcebook.events import GenerateIdeas, batch_response, read_records
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
metrics = Metrics()
writer = IdeaWriter(Table.connect(required("TABLE_NAME")), WeighingEngine())


@collect_garbage_from_now
@metrics.log_metrics
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Write the ideas of the events that each message names; return the messages that must come back."""
    failed: list[str] = []
    written = 0
    for record, message in read_records(GenerateIdeas, event, failed, logger):
        logger.append_keys(correlation_id=message.correlation_id)
        try:
            for event_id in message.event_ids:
                idea = writer.write(event_id)
                if idea is not None:
                    written += 1
                    logger.info(
                        "idea_generated",
                        extra={
                            "event_id": event_id,
                            "direction": idea.direction.value,
                            "score": idea.score,
                            "independent_sources": idea.independent_sources,
                        },
                    )
        except SourcebookError as error:
            logger.warning(
                "ideas_failed",
                extra={"message_id": record["messageId"], "reason": f"{type(error).__name__}: {error}"},
            )
            failed.append(record["messageId"])
    metrics.add_metric("IdeasGenerated", MetricUnit.Count, written)
    return batch_response(failed)
