"""Close the record of an execution that has ended, and every quarter of an hour those that events missed."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

from dataclasses import asdict
from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.counting import count
from sourcebook.runs.closing import EndedExecution, RunCloser, RunSweeper
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
closer = RunCloser(table)
sweeper = RunSweeper(table, boto3.client("stepfunctions", config=aws_config()), closer)


@collect_garbage_from_now
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Close the run of an ended execution, or, called by the schedule, all whose events were missed."""
    if event.get("source") == "aws.states":
        ended = EndedExecution.of_event(event)
        closed = closer.close(ended)
        logger.info("run_ended", extra={"execution_arn": ended.arn, "how": ended.how, "job_run_id": closed})
        return {"closed": closed}
    swept = asdict(sweeper.sweep())
    # Each of them is an event that was lost.
    count(RunsSwept=swept["closed"])
    logger.info("runs_swept", extra=swept)
    return swept
