"""What `sourcebook redrive` does with the queues of a stack."""

from __future__ import annotations

from typing import Any

import boto3
import boto3.session
import pytest
from click.testing import CliRunner

from sourcebook.articles.ingest import ArticleStore
from sourcebook.errors import InvalidInput
from sourcebook.events import ArticleCreated
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook_cli.redrive import redrive, send_back
from sourcebook_cli.stack import Stack
from tests.incoming import incoming

JOBS = ("Fetch", "Analyze", "NewArticles", "Group", "Ideas")
QUEUES = [f"{job}{kind}" for job in JOBS for kind in ("Queue", "DeadLetterQueue")]


@pytest.fixture
def stack(table: Table) -> Stack:
    sqs = boto3.client("sqs")
    urls = {f"{name}Url": sqs.create_queue(QueueName=name)["QueueUrl"] for name in QUEUES}
    return Stack(boto3.session.Session(), {**urls, "TableName": table.name})


def send(url: str, *bodies: str) -> None:
    for body in bodies:
        boto3.client("sqs").send_message(QueueUrl=url, MessageBody=body)


def waiting(url: str) -> list[str]:
    found: Any = boto3.client("sqs").receive_message(QueueUrl=url, MaxNumberOfMessages=10)
    return [message["Body"] for message in found.get("Messages", ())]


def test_an_article_in_error_is_pending_again_and_its_message_goes_back_to_work(
    table: Table, stack: Stack
) -> None:
    key = ArticleStore(table).store(incoming("tiingo")).dedup_key
    table.update(keys.article(key), assign={"status": "error", "error_reason": "the engine was broken"})
    body = ArticleCreated(correlation_id="run-1", dedup_key=key).model_dump_json()
    send(stack.outputs["AnalyzeDeadLetterQueueUrl"], body)
    assert send_back(stack, "analyze", 100) == 1
    assert waiting(stack.outputs["AnalyzeQueueUrl"]) == [body]
    assert waiting(stack.outputs["AnalyzeDeadLetterQueueUrl"]) == []
    item = table.get(keys.article(key))
    assert item is not None
    assert item["status"] == "pending"


def test_all_queues_are_emptied_and_a_message_that_cannot_be_read_goes_back_with_a_word(
    stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    send(stack.outputs["FetchDeadLetterQueueUrl"], *(f"message {n}" for n in range(3)))
    send(stack.outputs["AnalyzeDeadLetterQueueUrl"], "not a message")
    assert [send_back(stack, name, 100) for name in ("fetch", "analyze")] == [3, 1]
    assert "a message that cannot be read goes back as it is" in capsys.readouterr().err
    assert sorted(waiting(stack.outputs["FetchQueueUrl"])) == ["message 0", "message 1", "message 2"]
    assert waiting(stack.outputs["AnalyzeQueueUrl"]) == ["not a message"]


def test_every_queue_of_the_stack_is_emptied_by_default(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stack, "connect", lambda **_: stack)
    for job in JOBS:
        send(stack.outputs[f"{job}DeadLetterQueueUrl"], f"for {job}")
    result = CliRunner().invoke(redrive, [])
    assert result.exit_code == 0, result.output
    for job, name in zip(JOBS, ("fetch", "analyze", "new-articles", "group", "ideas"), strict=True):
        assert f"{name}: 1 messages" in result.stdout
        assert waiting(stack.outputs[f"{job}QueueUrl"]) == [f"for {job}"]
        assert waiting(stack.outputs[f"{job}DeadLetterQueueUrl"]) == []


def test_one_queue_can_be_chosen_and_an_unknown_one_is_refused_with_the_names(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stack, "connect", lambda **_: stack)
    for job in JOBS:
        send(stack.outputs[f"{job}DeadLetterQueueUrl"], f"for {job}")
    assert CliRunner().invoke(redrive, ["new-articles"]).exit_code == 0
    assert waiting(stack.outputs["NewArticlesQueueUrl"]) == ["for NewArticles"]
    assert waiting(stack.outputs["IdeasQueueUrl"]) == []
    with pytest.raises(InvalidInput, match="expected one of analyze, fetch, group, ideas, new-articles, all"):
        CliRunner().invoke(redrive, ["grouping"], catch_exceptions=False)


def test_no_more_messages_are_sent_back_than_asked_for(stack: Stack) -> None:
    send(stack.outputs["FetchDeadLetterQueueUrl"], *(f"message {n}" for n in range(5)))
    assert send_back(stack, "fetch", 2) == 2
    assert len(waiting(stack.outputs["FetchDeadLetterQueueUrl"])) == 3
