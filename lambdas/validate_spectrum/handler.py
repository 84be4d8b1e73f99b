"""Workflow task: examine the file of a spectrum. The one function of the workflow with the science layer."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from typing import Any

import boto3

from sourcebook.catalog.files import Files
from sourcebook.catalog.validate_spectrum import SpectrumValidator, failure_in
from sourcebook.runs.tasks import TaskRun
from sourcebook.settings import required
from sourcebook.spectra.artifacts import artifacts
from sourcebook.spectra.check import check
from sourcebook.table.client import aws_config

task = Task.connect()
files = Files(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
validator = SpectrumValidator(task.table, files, check, artifacts)


@task.failing_by(failure_in)
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, Any]:
    """Answer ``{"nova_id": …, "data_product_id": …, "provider": …, "acquisition": …}``."""
    answer = validator.validate(
        event["nova_id"],
        event["data_product_id"],
        event["provider"],
        event["acquisition"],
        run,
    )
    verdict = answer["verdict"]
    task.logger.info("spectrum_examined", extra={name: verdict[name] for name in ("outcome", "reason")})
    return answer
