"""What the operator is told of sources that errors have disabled."""

from __future__ import annotations

from typing import Any

import boto3
from botocore.stub import ANY, Stubber

from sourcebook.sources.poll import Poll, PollResult, PollVerdict, RoundReport
from sourcebook.sources.report import notify_of_disabled
from tests.polled import polled

TOPIC = "arn:aws:sns:us-east-1:000000000000:alarms"


def poll(source_id: str, message: str, *, disabled: bool = True) -> Poll:
    result = PollResult(PollVerdict.BROKEN, "not_found", message)
    return polled(source_id, result, disabled=disabled)


def client() -> Any:
    return boto3.client("sns", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")


def test_one_message_names_all_that_a_round_has_disabled_and_why() -> None:
    sns = client()
    published: dict[str, Any] = {}
    sns.meta.events.register(
        "provide-client-params.sns.Publish", lambda params, **_: published.update(params)
    )
    with Stubber(sns) as stub:
        stub.add_response("publish", {"MessageId": "1"}, {"TopicArn": TOPIC, "Subject": ANY, "Message": ANY})
        polls = [poll("a", "HTTP 404\nnot found"), poll("b", "x" * 900), poll("c", "fine", disabled=False)]
        notify_of_disabled(RoundReport(polls, [], [], []), sns, TOPIC)
        stub.assert_no_pending_responses()
    assert published["Subject"] == "Sourcebook: 2 sources disabled by errors"
    lines = published["Message"].splitlines()
    assert lines[0] == "a: HTTP 404\ufffdnot found"
    assert len(lines[1]) == len("b: ") + 200
    assert lines[2:] == ["", lines[3]]
    assert "docs/operations.md#disabled-sources" in lines[3]


def test_no_notice_is_sent_without_disabled_sources_or_without_a_topic() -> None:
    with Stubber(sns := client()):  # it refuses whatever is asked
        notify_of_disabled(RoundReport([poll("a", "x", disabled=False)], [], [], []), sns, TOPIC)
        notify_of_disabled(RoundReport([poll("a", "x")], [], [], []), sns, "")
