"""Every fifteen minutes: count dirty hours again and compute the sentiment of every active subject."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.counting import count
from sourcebook.sentiment.refresh import Refresher, read_refresh_request
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
table = Table.connect(required("TABLE_NAME"))


@collect_garbage_from_now
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Refresh all active subjects, or those named in ``{"tool_ids": [...]}``."""
    refresher = Refresher(table, seconds_left=lambda: context.get_remaining_time_in_millis() / 1000)
    report = refresher.run(read_refresh_request(event))
    for tool_id, reason in report.failed.items():
        logger.error("refresh_failed", extra={"tool_id": tool_id, "reason": reason})
    counts = {
        "refreshed": len(report.refreshed),
        "failed": len(report.failed),
        "left": report.left,
        "hours": report.hours,
        "duration_ms": report.duration_ms,
    }
    count(SubjectsRefreshed=counts["refreshed"], SubjectsNotRefreshed=counts["failed"] + counts["left"])
    logger.info("sentiment_refreshed", extra=counts)
    return counts
