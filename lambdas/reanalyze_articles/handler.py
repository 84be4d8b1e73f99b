"""Analyze the articles of a subject anew, a day of them or as many as there is time for."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.articles.analysis import Analyzer
from sourcebook.articles.reanalysis import Reanalyzer
from sourcebook.articles.reanalysis_messages import DayOfArticles, Progress
from sourcebook.sentiment.engines.loading import load_engine

task = Task.connect()
loaded = load_engine()
analyzer = Analyzer.of(task.table, loaded.engine)


def reanalyze(part: DayOfArticles, context: LambdaContext) -> Progress:
    """Analyze a day of articles, or its beginning if the time does not suffice; return how far it came."""
    if loaded.fallback_reason:
        task.logger.error("sentiment_fallback", extra={"reason": loaded.fallback_reason})
    left = lambda: context.get_remaining_time_in_millis() / 1000  # noqa: E731 - a name for an argument
    progress = Reanalyzer(task.table, analyzer, left).run(part)
    task.logger.info(
        "articles_reanalyzed",
        extra={"tool_id": part.tool_id, "days_ago": part.days_ago, "analyzed": progress.analyzed},
    )
    return progress


handler = task.handler_of_all_callers(DayOfArticles, reanalyze)
