"""Answer the HTTP API."""

from __future__ import annotations

from sourcebook.start import ready

import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.api.access import Doorkeeper
from sourcebook.api.idempotency import OnceOnly
from sourcebook.api.parts import Means, Parts
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

if TYPE_CHECKING:
    from sourcebook.catalog.replacing import Objects
    from sourcebook.catalog.review import WorkflowStarter

logger = Logger()
# API Gateway gives up after 30 seconds, so a table that does not answer must be given up sooner.
config = aws_config(connect_timeout=1, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 3})
table = Table(required("TABLE_NAME"), boto3.client("dynamodb", config=config))
workflow_prefix = required("WORKFLOW_ARN_PREFIX")
workflow_names = tuple(required("WORKFLOWS").split(","))
bucket = required("BUCKET_NAME")


@cache
def starter() -> WorkflowStarter:
    """Return what starts workflows; its client is made for the first one, since most requests start none."""
    from sourcebook.catalog.review import WorkflowStarter

    return WorkflowStarter(boto3.client("stepfunctions", config=config), workflow_prefix)


def start(workflow: str, payload: Mapping[str, Any], name: str) -> str:
    """Start a workflow and return its execution's ARN."""
    return starter()(workflow, payload, name)


def objects() -> Objects:
    """Return the bucket, for the first spectrum or light curve."""
    from sourcebook.catalog.replacing import Objects

    return Objects(boto3.client("s3", config=config), bucket)


api = Api(
    access=Doorkeeper(TokenStore(table), public_read=required("PUBLIC_READ") == "true"),
    once=OnceOnly(table),
    parts=Parts(
        Means(table=table, start=start, workflows=workflow_names, objects=objects, environ=os.environ)
    ),
)


@ready
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001
    """Answer one request."""
    return api.answer(event, logger)
