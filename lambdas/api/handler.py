"""Answer the HTTP API."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.api.access import Doorkeeper
from sourcebook.api.feeds import FeedsApi
from sourcebook.api.health import HealthCheck
from sourcebook.api.idempotency import OnceOnly
from sourcebook.api.novae import CatalogApi
from sourcebook.api.products import ProductsApi
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from sourcebook.api.workflows import WorkflowsApi
from sourcebook.articles.grouping.read import EventReader
from sourcebook.articles.read import ArticleReader
from sourcebook.catalog.product_read import ProductReader
from sourcebook.catalog.read import NovaReader
from sourcebook.catalog.replacing import Objects
from sourcebook.catalog.review import ReviewDesk, WorkflowStarter
from sourcebook.feeds.manage import FeedManager
from sourcebook.feeds.settings import FeedSettings
from sourcebook.observations.read import ObservationReader
from sourcebook.runs.read import RunReader
from sourcebook.runs.started import StartedRuns
from sourcebook.sentiment.read import SentimentReader
from sourcebook.settings import required
from sourcebook.sources.read import FeedReader
from sourcebook.table.client import Table, aws_config

logger = Logger()
# API Gateway gives up after 30 seconds, so a table that does not answer must be given up sooner.
config = aws_config(connect_timeout=1, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 3})
table = Table(required("TABLE_NAME"), boto3.client("dynamodb", config=config))
workflow_prefix = required("WORKFLOW_ARN_PREFIX")


@cache
def starter() -> WorkflowStarter:
    """Return what starts workflows; its client is made for the first one, since most requests start none."""
    return WorkflowStarter(boto3.client("stepfunctions", config=config), workflow_prefix)


def start(workflow: str, payload: Mapping[str, Any], name: str) -> str:
    """Start a workflow and return its execution's ARN."""
    return starter()(workflow, payload, name)


workflows = WorkflowsApi(start, StartedRuns(table), tuple(required("WORKFLOWS").split(",")))
api = Api(
    access=Doorkeeper(TokenStore(table), public_read=required("PUBLIC_READ") == "true"),
    once=OnceOnly(table),
    articles=ArticleReader(table),
    feeds=FeedReader(table),
    health=HealthCheck(table),
    events=EventReader(table),
    observations=ObservationReader(table),
    sentiment=SentimentReader.of(table),
    managed=FeedsApi(
        FeedManager(table, settings=FeedSettings.from_environment()),
        contact=os.environ.get("HTTP_CONTACT", ""),
        allowed_networks=os.environ.get("HTTP_ALLOWED_NETWORKS", ""),
    ),
    workflows=workflows,
    products=ProductsApi(
        NovaReader(table),
        ProductReader(table, lambda: Objects(boto3.client("s3", config=config), required("BUCKET_NAME"))),
    ),
    catalog=CatalogApi(NovaReader(table), RunReader(table), ReviewDesk(table, start), workflows),
)


@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001
    """Answer one request."""
    return api.answer(event, logger)
