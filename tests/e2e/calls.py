"""What the functions asked of AWS while the tests ran: written beside names, for tests/permissions."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sourcebook_local.project import HOME

if TYPE_CHECKING:
    from tests.e2e.stack import Stack

FOLDER: Final = HOME / "calls"
_ACCOUNT: Final = "us-east-1:000000000000"
_ARNS: Final = {
    "AWS::DynamoDB::Table": "arn:aws:dynamodb:" + _ACCOUNT + ":table/{}",
    "AWS::Events::EventBus": "arn:aws:events:" + _ACCOUNT + ":event-bus/{}",
    "AWS::S3::Bucket": "arn:aws:s3:::{}",
}
"""How the ARN of a resource follows from its physical id, where that is only a name."""


def file_of(cloud: str) -> Path:
    """Return the file for the calls in a cloud of this process."""
    return FOLDER / f"{cloud}-{os.getpid()}.calls"


def write_names(stack: Stack) -> None:
    """Write which resource of the templates each ARN, and each role, of a stack is."""
    client = stack.session.client("cloudformation")
    names: dict[str, str] = {}
    for name in ("SourcebookData", "SourcebookPipeline"):
        for page in client.get_paginator("list_stack_resources").paginate(StackName=name):
            for resource in page["StackResourceSummaries"]:
                physical = resource.get("PhysicalResourceId", "")
                if resource["ResourceType"] == "AWS::SQS::Queue":
                    physical = f"arn:aws:sqs:{_ACCOUNT}:{physical.rpartition('/')[2]}"
                names[_ARNS.get(resource["ResourceType"], "{}").format(physical)] = resource[
                    "LogicalResourceId"
                ]
    FOLDER.mkdir(parents=True, exist_ok=True)
    file_of(stack.cloud.home.name).with_suffix(".names").write_text(json.dumps(names))
