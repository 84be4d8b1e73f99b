from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any, cast

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from botocore.stub import ANY, Stubber

from sourcebook.sentiment.engines import Label
from sourcebook.sentiment.engines.comprehend import ComprehendEngine, ComprehendRefused, ComprehendUnavailable

OPERATION = "batch_detect_sentiment"


@pytest.fixture
def comprehend() -> Iterator[tuple[ComprehendEngine, Stubber]]:
    client = boto3.client(
        "comprehend", region_name="eu-central-1", aws_access_key_id="none", aws_secret_access_key="none"
    )
    with Stubber(client) as stubber:
        yield ComprehendEngine(client, sleep=lambda _: None), stubber
        stubber.assert_no_pending_responses()


def result(index: int, verdict: str, *raw: float) -> Any:
    scores = dict(zip(("Positive", "Negative", "Neutral", "Mixed"), raw, strict=True))
    return {"Index": index, "Sentiment": verdict, "SentimentScore": scores}


def answer(*results: Any, errors: tuple[Any, ...] = ()) -> dict[str, Any]:
    return {"ResultList": list(results), "ErrorList": list(errors)}


def test_labels_keep_the_four_scores(comprehend: tuple[ComprehendEngine, Stubber]) -> None:
    engine, stubber = comprehend
    stubber.add_response(
        OPERATION,
        answer(result(0, "POSITIVE", 0.9, 0.05, 0.04, 0.01)),
        {"TextList": ["Up"], "LanguageCode": "en"},
    )
    [label] = engine.label(["Up"])
    assert (label.sentiment, label.confidence, label.polarity) == ("positive", 0.9, 0.85)
    assert label.scores == {"positive": 0.9, "negative": 0.05, "neutral": 0.04, "mixed": 0.01}


@pytest.mark.parametrize(
    ("positive", "negative", "sentiment", "confidence"),
    [
        (0.5, 0.25, "positive", 0.5),
        (0.25, 0.5, "negative", 0.5),
        (0.45, 0.25, "neutral", 0.3),
        (0.25, 0.45, "neutral", 0.3),
    ],
)
def test_mixed_takes_the_sign_of_a_clear_score_and_is_neutral_otherwise(
    comprehend: tuple[ComprehendEngine, Stubber],
    positive: float,
    negative: float,
    sentiment: str,
    confidence: float,
) -> None:
    engine, stubber = comprehend
    stubber.add_response(OPERATION, answer(result(0, "MIXED", positive, negative, 0.0, 0.3)))
    [label] = engine.label(["Good and bad"])
    assert (label.sentiment, label.confidence) == (sentiment, confidence)


def test_texts_go_out_25_at_a_time_and_come_back_in_order(
    comprehend: tuple[ComprehendEngine, Stubber],
) -> None:
    engine, stubber = comprehend
    texts = [f"text {n}" for n in range(52)]
    for start in (0, 25, 50):
        part = texts[start : start + 25]
        results = [
            result(i, "NEGATIVE" if (start + i) % 2 else "NEUTRAL", 0.1, 0.4, 0.5, 0.0)
            for i in range(len(part))
        ]
        stubber.add_response(OPERATION, answer(*results[::-1]), {"TextList": part, "LanguageCode": "en"})
    labels = engine.label(texts)
    assert [label.sentiment for label in labels] == ["neutral", "negative"] * 26


def test_a_long_text_is_cut_between_characters(comprehend: tuple[ComprehendEngine, Stubber]) -> None:
    engine, stubber = comprehend
    stubber.add_response(
        OPERATION,
        answer(result(0, "NEUTRAL", 0.1, 0.1, 0.8, 0.0)),
        {"TextList": ["é" * 2499 + "x"], "LanguageCode": "en"},
    )
    assert len(engine.label(["é" * 2499 + "xé"])) == 1


def test_empty_texts_are_neutral_and_not_sent(comprehend: tuple[ComprehendEngine, Stubber]) -> None:
    engine, _ = comprehend
    assert [label.sentiment for label in engine.label(["", "  "])] == ["neutral", "neutral"]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("ThrottlingException", ComprehendUnavailable),
        ("InternalServerException", ComprehendUnavailable),
        ("AccessDeniedException", ComprehendRefused),
        ("UnsupportedLanguageException", ComprehendRefused),
    ],
)
def test_an_error_tells_whether_to_try_again(
    comprehend: tuple[ComprehendEngine, Stubber], code: str, error: type[Exception]
) -> None:
    engine, stubber = comprehend
    stubber.add_client_error(OPERATION, code, expected_params={"TextList": ANY, "LanguageCode": "en"})
    with pytest.raises(error, match=code):
        engine.label(["Up"])


def failure(index: int, code: str) -> Any:
    return {"Index": index, "ErrorCode": code, "ErrorMessage": "as Comprehend says it"}


def test_a_text_that_will_never_be_labelled_fails_the_call(
    comprehend: tuple[ComprehendEngine, Stubber],
) -> None:
    engine, stubber = comprehend
    good = result(0, "POSITIVE", 0.9, 0.05, 0.04, 0.01)
    stubber.add_response(OPERATION, answer(good, errors=(failure(1, "TEXT_SIZE_LIMIT_EXCEEDED"),)))
    with pytest.raises(ComprehendRefused, match="text 1: TEXT_SIZE_LIMIT_EXCEEDED"):
        engine.label(["Up", "Down"])


def test_only_texts_that_failed_for_a_passing_reason_are_sent_again(
    comprehend: tuple[ComprehendEngine, Stubber],
) -> None:
    engine, stubber = comprehend
    stubber.add_response(
        OPERATION,
        answer(
            result(1, "NEGATIVE", 0.1, 0.8, 0.1, 0.0),
            errors=(failure(0, "INTERNAL_SERVER_ERROR"), failure(2, "INTERNAL_SERVER_ERROR")),
        ),
        {"TextList": ["Up", "Down", "Flat"], "LanguageCode": "en"},
    )
    stubber.add_response(
        OPERATION,
        answer(
            result(0, "POSITIVE", 0.8, 0.1, 0.1, 0.0),
            result(1, "NEUTRAL", 0.1, 0.1, 0.8, 0.0),
        ),
        {"TextList": ["Up", "Flat"], "LanguageCode": "en"},
    )
    labels = engine.label(["Up", "Down", "", "Flat"])
    assert [label.sentiment for label in labels] == ["positive", "negative", "neutral", "neutral"]


def test_a_text_that_keeps_failing_is_left_for_later(comprehend: tuple[ComprehendEngine, Stubber]) -> None:
    engine, stubber = comprehend
    for _ in range(3):
        stubber.add_response(OPERATION, answer(errors=(failure(0, "INTERNAL_SERVER_ERROR"),)))
    with pytest.raises(ComprehendUnavailable, match="left 1 texts unlabelled 3 times"):
        engine.label(["Up"])


class Wire:
    """Answers what a client is about to send, so that its own encoding, retries and decoding run."""

    def __init__(self, client: Any, *replies: tuple[int, dict[str, Any]]) -> None:
        self.replies = list(replies)
        self.requests: list[Any] = []
        client.meta.events.register("before-send.comprehend", self)

    def __call__(self, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        status, content = self.replies.pop(0)
        self.requests.append(json.loads(cast("bytes", request.body)))
        headers: Any = {"Content-Type": "application/x-amz-json-1.1"}
        return AWSResponse(request.url, status, headers, Body(json.dumps(content).encode()))


class Body(BytesIO):
    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


def client_of_comprehend() -> Any:
    return boto3.client(
        "comprehend",
        region_name="eu-central-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(retries={"mode": "standard", "total_max_attempts": 3}),
    )


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client pauses up to a second and more before it asks again."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)


@pytest.mark.usefixtures("no_pauses")
def test_a_throttled_request_is_sent_again_by_the_client() -> None:
    client = client_of_comprehend()
    throttled = (400, {"__type": "ThrottlingException", "message": "Rate exceeded"})
    wire = Wire(client, throttled, (200, answer(result(0, "NEGATIVE", 0.05, 0.9, 0.05, 0.0))))
    assert ComprehendEngine(client).label(["Shares plunge"]) == [
        Label("negative", 0.9, -0.85, {"positive": 0.05, "negative": 0.9, "neutral": 0.05, "mixed": 0.0})
    ]
    assert wire.requests == [{"TextList": ["Shares plunge"], "LanguageCode": "en"}] * 2


@pytest.mark.usefixtures("no_pauses")
def test_throttling_without_end_leaves_the_texts_for_later() -> None:
    client = client_of_comprehend()
    wire = Wire(client, *[(400, {"__type": "ThrottlingException", "message": "Rate exceeded"})] * 3)
    with pytest.raises(ComprehendUnavailable, match="ThrottlingException"):
        ComprehendEngine(client).label(["Shares plunge"])
    assert wire.replies == []


@pytest.mark.parametrize("code", ["BatchSizeLimitExceededException", "TextSizeLimitExceededException"])
def test_a_request_beyond_a_limit_is_refused(code: str) -> None:
    client = client_of_comprehend()
    Wire(client, (400, {"__type": code, "Message": "too much"}))
    with pytest.raises(ComprehendRefused, match=code):
        ComprehendEngine(client).label(["Shares plunge"])


def test_comprehend_out_of_reach_leaves_the_texts_for_later() -> None:
    client = boto3.client(
        "comprehend",
        region_name="eu-central-1",
        endpoint_url="http://127.0.0.1:9",  # nothing listens there
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(retries={"total_max_attempts": 1}),
    )
    with pytest.raises(ComprehendUnavailable, match="cannot be reached"):
        ComprehendEngine(client).label(["Shares plunge"])
