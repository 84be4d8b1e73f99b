"""Every minute: send the sources that are due to the fetch queue."""

from __future__ import annotations

from sourcebook.start import ready

from dataclasses import asdict
from typing import Any

import boto3
from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.runs.tasks import TaskRecorder
from sourcebook.settings import DispatchSettings
from sourcebook.sources.dispatch import Dispatcher, read_dispatch_request
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table.client import Table, aws_config

logger = Logger()
metrics = Metrics()
settings = DispatchSettings.from_environment()
table = Table.connect(settings.table_name)
recorder = TaskRecorder(table, logger)
dispatcher = Dispatcher(
    SourceRegistry(table),
    boto3.client("sqs", config=aws_config()),
    settings.fetch_queue_url,
)


@ready
@metrics.log_metrics
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Send due sources, or those named in ``{"source_ids": [...]}``."""
    source_ids = read_dispatch_request(event)
    run = context.aws_request_id
    counts = dispatcher.send_due(run) if source_ids is None else dispatcher.send(source_ids, run)
    metrics.add_metric("SourcesDue", MetricUnit.Count, counts.due)
    metrics.add_metric("MessagesRefused", MetricUnit.Count, counts.refused)
    if source_ids is None:
        metrics.add_metric("queue_size", MetricUnit.Count, counts.due)
    logger.info("sources_dispatched", extra=asdict(counts))
    return asdict(counts)
