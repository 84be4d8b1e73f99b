"""Every fifteen minutes: start the workflow that acquires the spectra that are due."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

from dataclasses import asdict
from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.counting import count
from sourcebook.novae.review import WorkflowStarter
from sourcebook.settings import required
from sourcebook.spectra.sweep import sweep_spectra
from sourcebook.table.client import Table, aws_config

logger = Logger()
starter = WorkflowStarter(boto3.client("stepfunctions", config=aws_config()), required("WORKFLOW_ARN_PREFIX"))
table = Table.connect(required("TABLE_NAME"))


@collect_garbage_from_now
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Start the acquisition of what is due; return the counts and the execution, if one was started."""
    sweep = asdict(sweep_spectra(table, starter))
    count(SpectraDue=sweep["due"], SpectraOverdueMinutes=sweep["overdue_minutes"])
    logger.info("spectra_swept", extra=sweep)
    return sweep
