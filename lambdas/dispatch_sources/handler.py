"""Every minute: send the sources that are due to the fetch queue."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from dataclasses import asdict

import boto3
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.counting import count
from sourcebook.settings import required
from sourcebook.sources.dispatch import DispatchCounts, Dispatcher, DispatchSources
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table.client import aws_config

task = Task.connect()
dispatcher = Dispatcher(
    SourceRegistry(task.table), boto3.client("sqs", config=aws_config()), required("FETCH_QUEUE_URL")
)


def dispatch(request: DispatchSources, context: LambdaContext) -> DispatchCounts:
    """Send the requested sources to the queue, and count them in the metrics."""
    counts = dispatcher.dispatch(request, context.aws_request_id)
    waiting = counts.due if request.source_ids is None else 0
    count(SourcesDue=counts.due, MessagesRefused=counts.refused, queue_size=waiting)
    task.logger.info("sources_dispatched", extra=asdict(counts))
    return counts


handler = task.handler_of_all_callers(DispatchSources, dispatch)
