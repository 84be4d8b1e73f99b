"""What `sourcebook pause` waits for. What it switches off is seen on the embedded cloud (tests/e2e)."""

from __future__ import annotations

import json

import boto3
import boto3.session
import pytest

from sourcebook.table.client import Table
from sourcebook_cli.pause import Moving, StillAtWork, wait_for_rest
from sourcebook_cli.stack import Stack


@pytest.fixture
def stack(table: Table) -> Stack:
    sqs = boto3.client("sqs")
    names = ("FetchQueue", "FetchDeadLetterQueue")
    urls = {f"{name}Url": sqs.create_queue(QueueName=name)["QueueUrl"] for name in names}
    return Stack(boto3.session.Session(), {**urls, "TableName": table.name})


def test_a_message_under_way_is_waited_for(stack: Stack) -> None:
    sqs, queue = boto3.client("sqs"), stack.outputs["FetchQueueUrl"]
    sqs.send_message(QueueUrl=queue, MessageBody="a message that waits is at rest")
    wait_for_rest(stack, Moving(stack.session), timeout=0)
    (message,) = sqs.receive_message(QueueUrl=queue)["Messages"]
    with pytest.raises(StillAtWork, match="1 messages of fetch; wait and pause again, or resume"):
        wait_for_rest(stack, Moving(stack.session), timeout=0)

    def done(_: float) -> None:
        sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])

    wait_for_rest(stack, Moving(stack.session, sleep=done), timeout=60)


def test_a_workflow_that_runs_is_waited_for(stack: Stack) -> None:
    client = boto3.client("stepfunctions")
    machine = client.create_state_machine(
        name="workflow",
        roleArn="arn:aws:iam::123456789012:role/workflow",
        definition=json.dumps({"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}),
    )["stateMachineArn"]
    run = client.start_execution(stateMachineArn=machine, name="run-1")["executionArn"]
    moving = Moving(stack.session, machines=(machine,))
    with pytest.raises(StillAtWork, match="execution run-1"):
        wait_for_rest(stack, moving, timeout=0)
    client.stop_execution(executionArn=run)
    wait_for_rest(stack, moving, timeout=0)
