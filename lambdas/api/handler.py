"""Answer the HTTP API."""

from __future__ import annotations

from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.api.health import HealthCheck
from sourcebook.api.routes import Api
from sourcebook.articles.read import ArticleReader
from sourcebook.settings import required
from sourcebook.sources.read import FeedReader
from sourcebook.table.client import Table, aws_config

logger = Logger()
# API Gateway gives up after 30 seconds, so a table that does not answer must be given up sooner.
config = aws_config(connect_timeout=1, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 3})
table = Table(required("TABLE_NAME"), boto3.client("dynamodb", config=config))
api = Api(ArticleReader(table), FeedReader(table), HealthCheck(table))


@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001
    """Answer one request."""
    return api.answer(event, logger)
