"""Analyze the articles of a subject anew, a day of them or as many as there is time for."""

from __future__ import annotations

from sourcebook.start import ready

from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.articles.analysis import Analyzer
from sourcebook.articles.reanalysis import DayOfArticles, Reanalyzer
from sourcebook.runs.tasks import TaskRecorder
from sourcebook.sentiment.engines.loading import load_engine
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
recorder = TaskRecorder(table, logger)
loaded = load_engine()
analyzer = Analyzer.of(table, loaded.engine)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer with how many were analyzed, and where to go on if the day is not done."""
    if loaded.fallback_reason:
        logger.error("sentiment_fallback", extra={"reason": loaded.fallback_reason})
    part = DayOfArticles.read(event)
    left = lambda: context.get_remaining_time_in_millis() / 1000  # noqa: E731 - a name for an argument
    progress = Reanalyzer(table, analyzer, left).run(part)
    logger.info(
        "articles_reanalyzed",
        extra={"tool_id": part.tool_id, "days_ago": part.days_ago, "analyzed": progress.analyzed},
    )
    return asdict(progress)
