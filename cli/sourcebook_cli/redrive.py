"""`redrive`: sends dead letters back to their queues."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from sourcebook.articles.heal import retry_failed
from sourcebook.errors import InvalidInput
from sourcebook.events import ArticleCreated, read_message
from sourcebook.table.client import aws_config
from sourcebook_cli.output import Styled, say
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

ALL: Final = "all"
_DEAD, _WORK = "DeadLetterQueueUrl", "QueueUrl"


@click.command()
@click.argument("queue", default=ALL)
@click.option("--limit", default=1000, show_default=True, help="Messages to send back at most, per queue.")
@on_aws
def redrive(queue: str, limit: int, aws: bool) -> None:
    """Send the messages of a dead-letter QUEUE back to work, once their cause is mended.

    QUEUE is the name of a job, such as fetch, analyze, new-articles, group or ideas: whatever the alarm
    before `-dead-letters` is called. Without it, all queues of the stack are emptied. Articles in error
    become pending again first, so that their analysis may write.
    """
    stack = Stack.connect(aws=aws)
    known = dead_letter_queues(stack.outputs)
    if queue not in {ALL, *known}:
        raise InvalidInput("QUEUE", queue, f"one of {', '.join([*known, ALL])}")
    for name in known if queue == ALL else [queue]:
        say(f"{name}: {send_back(stack, name, limit)} messages sent back to work")


def dead_letter_queues(outputs: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the dead-letter queue and the queue of work of each job, as the outputs of a stack have them.

    A queue that is added to the stack later needs nothing here: a test of the stack sees to its outputs.
    """
    jobs = [name.removesuffix(_DEAD) for name in sorted(outputs) if name.endswith(_DEAD)]
    return {
        re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", job).lower(): (outputs[job + _DEAD], outputs[job + _WORK])
        for job in jobs
    }


def send_back(stack: Stack, queue: str, limit: int) -> int:
    """Send up to `limit` messages of one dead-letter queue back to work and return how many there were."""
    sqs = stack.session.client("sqs", config=aws_config())
    dead, work = dead_letter_queues(stack.outputs)[queue]
    return _move(sqs, dead, work, limit, stack if queue == "analyze" else None)


def _move(sqs: SQSClient, dead: str, work: str, limit: int, articles: Stack | None) -> int:
    """Send messages back one by one: each is sent before it is deleted, so that none is lost."""
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
        say(Styled(f"  a message that cannot be read goes back as it is: {error}", "yellow"), err=True)
        return
    retry_failed(stack.table, message.dedup_key)
