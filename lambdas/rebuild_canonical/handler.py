"""Make the next piece of the canonical layer anew; the state machine calls until all is done."""

from __future__ import annotations

from sourcebook.start import ready

from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.observations.rebuild import Rebuilder
from sourcebook.runs.tasks import TaskRecorder
from sourcebook.settings import required
from sourcebook.table.client import Table

logger = Logger()
table = Table.connect(required("TABLE_NAME"))
recorder = TaskRecorder(table, logger)
rebuilder = Rebuilder(table)


@ready
@logger.inject_lambda_context(clear_state=True)
@recorder.recorded
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001
    """Answer with the counts so far and the place where the next call goes on."""
    counts = asdict(rebuilder.run(event))
    logger.info("canonical_rebuilt", extra=counts)
    return counts
