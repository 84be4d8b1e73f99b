"""Link the articles that wait for it into events."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

from typing import Any

import boto3
from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.articles.bus import EventBus
from sourcebook.articles.grouping.grouper import Grouper
from sourcebook.articles.grouping.log import GroupingLog
from sourcebook.articles.grouping.ungrouped import Line
from sourcebook.clients import on_demand
from sourcebook.events import GroupHeadlines, batch_response, read_records
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

logger = Logger()
metrics = Metrics()
table = Table.connect(required("TABLE_NAME"))
log = GroupingLog(table)
bus = EventBus(on_demand(lambda: boto3.client("events", config=aws_config())), required("EVENT_BUS_NAME"))


@collect_garbage_from_now
@metrics.log_metrics
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Run grouping once for all messages; return those that cannot be read."""
    failed: list[str] = []
    messages = [message for _, message in read_records(GroupHeadlines, event, failed, logger)]
    if messages:
        correlation_id = messages[0].correlation_id
        logger.append_keys(correlation_id=correlation_id)
        grouper = Grouper(table, log, bus, seconds_left=lambda: context.get_remaining_time_in_millis() / 1000)
        done = grouper.run(correlation_id, sorted({Line(one.line, one.lines) for one in messages}))
        metrics.add_metric("ArticlesGrouped", MetricUnit.Count, done.articles)
        metrics.add_metric("ArticlesLinked", MetricUnit.Count, done.linked)
        metrics.add_metric("EventsUpdated", MetricUnit.Count, len(done.events))
        metrics.add_metric("GroupingConflicts", MetricUnit.Count, done.conflicts)
        logger.info(
            "headlines_grouped",
            extra={
                "trigger_reason": messages[0].trigger_reason,
                "articles": done.articles,
                "linked": done.linked,
                "events": len(done.events),
                "conflicts": done.conflicts,
            },
        )
    return batch_response(failed)
