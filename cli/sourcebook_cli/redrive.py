"""`redrive`: what failed and was mended goes back to work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sourcebook.articles.heal import return_to_pending
from sourcebook.errors import InvalidInput
from sourcebook.events import ArticleCreated, read_message
from sourcebook.table.client import aws_config
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_QUEUES = {
    "fetch": ("FetchDeadLetterQueueUrl", "FetchQueueUrl"),
    "analyze": ("AnalyzeDeadLetterQueueUrl", "AnalyzeQueueUrl"),
}


@click.command()
@click.argument("queue", type=click.Choice([*_QUEUES, "all"]), default="all")
@click.option("--limit", default=1000, show_default=True, help="Messages to send back at most, per queue.")
@on_aws
def redrive(queue: str, limit: int, aws: bool) -> None:
    """Send the messages of a dead-letter QUEUE back to work, once their cause is mended.

    Articles in error become pending again first, so that their analysis may write.
    """
    stack = Stack.connect(aws=aws)
    for name in _QUEUES if queue == "all" else [queue]:
        click.echo(f"{name}: {send_back(stack, name, limit)} messages sent back to work")


def send_back(stack: Stack, queue: str, limit: int) -> int:
    """Send up to `limit` messages of one dead-letter queue back to work and return how many there were."""
    sqs = stack.session.client("sqs", config=aws_config())
    dead, work = (stack.outputs[output] for output in _QUEUES[queue])
    return _move(sqs, dead, work, limit, stack if queue == "analyze" else None)


def _move(sqs: SQSClient, dead: str, work: str, limit: int, articles: Stack | None) -> int:
    """Send messages back one by one: sent first, deleted after, so that none is lost in between."""
    moved = 0
    while moved < limit:
        received: Any = sqs.receive_message(
            QueueUrl=dead, MaxNumberOfMessages=min(10, limit - moved), WaitTimeSeconds=1
        )
        messages = received.get("Messages", ())
        if not messages:
            break
        for message in messages:
            if articles is not None:
                _make_pending(articles, message["Body"])
            sqs.send_message(QueueUrl=work, MessageBody=message["Body"])
            sqs.delete_message(QueueUrl=dead, ReceiptHandle=message["ReceiptHandle"])
            moved += 1
    return moved


def _make_pending(stack: Stack, body: str) -> None:
    try:
        message = read_message(ArticleCreated, body)
    except InvalidInput as error:
        click.secho(f"  a message that cannot be read goes back as it is: {error}", fg="yellow", err=True)
        return
    return_to_pending(stack.table, message.dedup_key)
