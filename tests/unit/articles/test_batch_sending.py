"""Announcer and EventBus against stubbed clients, which check every request and answer by its model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import EndpointConnectionError
from botocore.stub import ANY, Stubber

from sourcebook.articles._batch_sending import ATTEMPTS
from sourcebook.articles.announce import AnnouncementRefused, Announcer
from sourcebook.articles.bus import EventBus, EventRefused
from sourcebook.events import ArticlesNew

TOPIC = "arn:aws:sns:eu-central-1:123456789012:articles"


@dataclass
class Naps:
    """Remembers how long it was asked to sleep."""

    taken: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


@pytest.fixture
def naps() -> Naps:
    return Naps()


@pytest.fixture
def client() -> Iterator[Callable[[Literal["sns", "events"]], tuple[Any, Stubber]]]:
    stubs: list[Stubber] = []

    def of(service: Literal["sns", "events"]) -> tuple[Any, Stubber]:
        made: Any = boto3.client(
            service, region_name="eu-central-1", aws_access_key_id="none", aws_secret_access_key="none"
        )
        stubs.append(Stubber(made))
        stubs[-1].activate()
        return made, stubs[-1]

    yield of
    for stub in stubs:
        stub.assert_no_pending_responses()


def sns_request(*keys: str) -> dict[str, Any]:
    entries = [
        {
            "Id": str(n),
            "Message": f'{{"schema_version":"1","correlation_id":"run-1","dedup_key":"{dedup_key}"}}',
        }
        for n, dedup_key in enumerate(keys)
    ]
    return {"TopicArn": TOPIC, "PublishBatchRequestEntries": entries}


def sns_answer(*failed: int) -> dict[str, Any]:
    return {
        "Successful": [{"Id": "9", "MessageId": "m"}],
        "Failed": [{"Id": str(n), "Code": "InternalError", "SenderFault": False} for n in failed],
    }


def key(n: int) -> str:
    return f"{n:032x}"


def test_announcements_go_out_ten_at_a_time_each_key_once(client: Any, naps: Naps) -> None:
    sns, stub = client("sns")
    keys = [key(n) for n in range(12)]
    stub.add_response("publish_batch", sns_answer(), sns_request(*keys[:10]))
    stub.add_response("publish_batch", sns_answer(), sns_request(*keys[10:]))
    assert Announcer(sns, TOPIC, naps).announce([*keys, *keys[:3]], "run-1") == 12
    assert naps.taken == []


def test_only_the_refused_announcements_are_sent_again(client: Any, naps: Naps) -> None:
    sns, stub = client("sns")
    keys = [key(n) for n in range(4)]
    stub.add_response("publish_batch", sns_answer(1, 3), sns_request(*keys))
    stub.add_response("publish_batch", sns_answer(1), sns_request(keys[1], keys[3]))
    stub.add_response("publish_batch", sns_answer(), sns_request(keys[3]))
    assert Announcer(sns, TOPIC, naps).announce(keys, "run-1") == 4
    assert naps.taken == [0.1, 0.2]


def test_an_announcement_refused_to_the_end_is_an_error_to_be_retried(client: Any, naps: Naps) -> None:
    sns, stub = client("sns")
    for _ in range(ATTEMPTS):
        stub.add_response("publish_batch", sns_answer(0), sns_request(key(1)))
    with pytest.raises(AnnouncementRefused, match=r"refused 1 of 1 entries 5 times: InternalError"):
        Announcer(sns, TOPIC, naps).announce([key(1)], "run-1")
    assert naps.taken == [0.1, 0.2, 0.4, 0.8]


def test_a_topic_that_throttles_is_an_error_to_be_retried(client: Any, naps: Naps) -> None:
    sns, stub = client("sns")
    stub.add_client_error("publish_batch", "Throttled", "slow down", 429)
    with pytest.raises(AnnouncementRefused, match=r"^SNS: .*Throttled"):
        Announcer(sns, TOPIC, naps).announce([key(1)], "run-1")


def events(count: int) -> list[ArticlesNew]:
    return [
        ArticlesNew(correlation_id=f"run-{n}", source_id="wire", article_ids=(key(n),), count=1)
        for n in range(count)
    ]


def bus_answer(*codes: str) -> dict[str, Any]:
    entries = [{"ErrorCode": code, "ErrorMessage": "no"} if code else {"EventId": "e"} for code in codes]
    return {"FailedEntryCount": sum(map(bool, codes)), "Entries": entries}


def bus_request(new: list[ArticlesNew]) -> dict[str, Any]:
    return {
        "Entries": [
            {
                "EventBusName": "bus",
                "Source": "sourcebook",
                "DetailType": "articles.new",
                "Detail": event.model_dump_json(),
            }
            for event in new
        ]
    }


def test_only_the_refused_events_are_sent_again(client: Any, naps: Naps) -> None:
    eventbridge, stub = client("events")
    new = events(11)
    stub.add_response(
        "put_events",
        bus_answer("", "ThrottlingException", *[""] * 7, "InternalFailure"),
        bus_request(new[:10]),
    )
    stub.add_response("put_events", bus_answer("", ""), bus_request([new[1], new[9]]))
    stub.add_response("put_events", bus_answer(""), bus_request(new[10:]))
    assert EventBus(eventbridge, "bus", naps).put(new) == 11
    assert naps.taken == [0.1]


def test_an_event_refused_to_the_end_is_an_error_to_be_retried(client: Any, naps: Naps) -> None:
    eventbridge, stub = client("events")
    stub.add_response("put_events", bus_answer("", "ThrottlingException"), {"Entries": ANY})
    for _ in range(ATTEMPTS - 1):
        stub.add_response("put_events", bus_answer("ThrottlingException"), {"Entries": ANY})
    with pytest.raises(
        EventRefused, match=r"EventBridge refused 1 of 2 entries 5 times: ThrottlingException"
    ):
        EventBus(eventbridge, "bus", naps).put(events(2))


def test_a_bus_that_cannot_be_reached_is_an_error_to_be_retried(naps: Naps) -> None:
    bus = boto3.client(
        "events",
        region_name="eu-central-1",
        endpoint_url="http://127.0.0.1:9",  # nothing listens there
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(retries={"max_attempts": 0}),
    )
    with pytest.raises(EventRefused) as raised:
        EventBus(bus, "bus", naps).put(events(1))
    assert isinstance(raised.value.__cause__, EndpointConnectionError)
