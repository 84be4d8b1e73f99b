"""What the commands find: a stack of moto with one workflow, and a nova."""

from __future__ import annotations

import json
from collections.abc import Callable

import boto3
import boto3.session
import pytest

from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NovaStore
from sourcebook.table.client import Table
from sourcebook_cli.stack import Stack

BUCKET = "sourcebook-data"


@pytest.fixture
def stack_starting(table: Table, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Stack]:
    """Return what makes the stack that commands connect to, given the outputs that name its workflow."""

    def make(*names: str) -> Stack:
        boto3.client("s3").create_bucket(Bucket=BUCKET)
        machine = boto3.client("stepfunctions").create_state_machine(
            name="workflow",
            roleArn="arn:aws:iam::123456789012:role/workflow",
            definition=json.dumps({"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}),
        )
        outputs = {"TableName": table.name, "BucketName": BUCKET}
        outputs |= dict.fromkeys(names, machine["stateMachineArn"])
        found = Stack(boto3.session.Session(), outputs)
        monkeypatch.setattr(Stack, "connect", lambda **_: found)
        return found

    return make


@pytest.fixture
def nova_id(table: Table) -> str:
    made = NovaEstablisher(NovaStore(table)).establish(
        "V1324 Sco", Identity("simbad", "simbad:v1324 sco", "V1324 Sco", 267.7, -32.6, "No*")
    )
    assert made.nova_id is not None
    return made.nova_id
