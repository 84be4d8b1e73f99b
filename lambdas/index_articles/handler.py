"""Every three minutes: write the articles that were analyzed or changed into the search index."""

from __future__ import annotations

from sourcebook.start import ready

from typing import Any

import boto3
from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.catalog.replacing import Objects
from sourcebook.clients import on_demand
from sourcebook.search.days import Days
from sourcebook.search.index import Indexer
from sourcebook.search.stream import TableStream
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

logger = Logger()
metrics = Metrics()
LONGEST = 60.0
"""Seconds that reading the stream may take; writing has the rest of the function's time."""

table = Table.connect(required("TABLE_NAME"))
objects = Objects(on_demand(lambda: boto3.client("s3", config=aws_config())), required("BUCKET_NAME"))
indexer = Indexer(Days(objects), table)
streams = on_demand(lambda: boto3.client("dynamodbstreams", config=aws_config()))
stream = TableStream(streams, required("STREAM_ARN"), table)


@ready
@metrics.log_metrics
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:  # noqa: ARG001 - Lambda's own signature
    """Read the stream on from where the last run ended; nothing is noted before it is written."""
    changes = stream.read(LONGEST)
    run = indexer.take_keys(changes.articles)
    if changes.records or changes.forgotten:
        stream.note(changes)
    if changes.forgotten:
        logger.error("stream_forgotten", extra={"action": "sourcebook search rebuild"})
    for key, reason in run.left_out.items():
        logger.error("article_not_indexed", extra={"dedup_key": key, "reason": reason})
    counts = {"records": changes.records, "articles": run.articles, "changed": run.changed, "days": run.days}
    metrics.add_metric("ArticlesIndexed", MetricUnit.Count, run.changed)
    metrics.add_metric("ArticlesNotIndexed", MetricUnit.Count, len(run.left_out))
    logger.info("articles_indexed", extra=counts)
    return counts
