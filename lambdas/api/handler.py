"""Answer the HTTP API."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from botocore.config import Config

from sourcebook.api.access import AccessControl
from sourcebook.api.idempotency import IdempotentRequests
from sourcebook.api.parts import Services
from sourcebook.api.routes import Api, failure
from sourcebook.api.tokens import TokenStore
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config
from sourcebook.table.keys import Shards

if TYPE_CHECKING:
    from sourcebook.bucket.objects import Objects
    from sourcebook.novae.review import WorkflowStarter

logger = Logger()
# API Gateway gives up after 30 seconds, so a table that does not answer must be given up sooner.
config = aws_config(connect_timeout=1, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 3})


@cache
def starter() -> WorkflowStarter:
    """Return what starts workflows; its client is made for the first one, since most requests start none."""
    from sourcebook.novae.review import WorkflowStarter

    return WorkflowStarter(boto3.client("stepfunctions", config=config), required("WORKFLOW_ARN_PREFIX"))


def start(workflow: str, payload: Mapping[str, Any], name: str) -> str:
    """Start a workflow and return its execution's ARN."""
    return starter()(workflow, payload, name)


@cache
def objects() -> Objects:
    """Return the bucket, for the first spectrum or light curve."""
    from sourcebook.bucket.objects import Objects

    # Links are signed with version 4, which alone reads objects that are encrypted with a key of KMS. In the
    # style that boto3 chooses by itself they lead to us-east-1, which refuses what is of a newer region.
    signing = config.merge(Config(signature_version="s3v4", s3={"addressing_style": "virtual"}))
    return Objects(boto3.client("s3", config=signing), required("BUCKET_NAME"))


@cache
def api() -> Api:
    """Return what answers; it is made when the function starts."""
    client = boto3.client("dynamodb", config=config)
    table = Table(required("TABLE_NAME"), client, shards=Shards.from_environment())
    services = Services(
        table=table,
        start=start,
        workflows=tuple(required("WORKFLOWS").split(",")),
        objects=objects,
        environ=os.environ,
    )
    return Api(
        access=AccessControl(TokenStore(table), public_read=required("PUBLIC_READ") == "true"),
        idempotent_requests=IdempotentRequests(table),
        services=services,
        addresses=os.environ.get("API_ADDRESSES", "https://{domain}"),
    )


# What fails here fails again with the first request, which can be answered with a correlation id.
with suppress(Exception):
    api()


@collect_garbage_from_now
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001
    """Answer one request."""
    try:
        answering = api()
    except Exception as error:  # noqa: BLE001 - the gateway's own answer would name no correlation id
        return failure(error, event, logger)
    return answering.answer(event, logger)
