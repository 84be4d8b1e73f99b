"""When articles are new, and every minute: ask for grouping if enough wait, or one has waited long enough."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.articles.bus import EventBus
from sourcebook.articles.grouping.ungrouped import GroupingTrigger
from sourcebook.clients import on_demand
from sourcebook.counting import count
from sourcebook.events import batch_response
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

logger = Logger()
trigger = GroupingTrigger(
    Table.connect(required("TABLE_NAME")),
    EventBus(on_demand(lambda: boto3.client("events", config=aws_config())), required("EVENT_BUS_NAME")),
    lines=int(required("GROUPING_LINES")),
)


@collect_garbage_from_now
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Request grouping if it is due. The messages are not read: the table has the articles they announce."""
    triggered = trigger.check(context.aws_request_id)
    count(GroupingsTriggered=len(triggered))
    logger.info(
        "grouping_checked",
        extra={
            "trigger_reason": triggered[0].trigger_reason if triggered else None,
            "ungrouped_count": triggered[0].ungrouped_count if triggered else 0,
            "lines": [event.line for event in triggered],
        },
    )
    return batch_response([])
