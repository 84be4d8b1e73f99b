from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import ANY, Stubber

from sourcebook.sentiment.engines.comprehend import ComprehendEngine, ComprehendRefused, ComprehendUnavailable

OPERATION = "batch_detect_sentiment"


@pytest.fixture
def comprehend() -> Iterator[tuple[ComprehendEngine, Stubber]]:
    client = boto3.client(
        "comprehend", region_name="eu-central-1", aws_access_key_id="none", aws_secret_access_key="none"
    )
    with Stubber(client) as stubber:
        yield ComprehendEngine(client), stubber
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


def test_one_failed_text_fails_the_call(comprehend: tuple[ComprehendEngine, Stubber]) -> None:
    engine, stubber = comprehend
    failure = {"Index": 0, "ErrorCode": "TEXT_SIZE_LIMIT_EXCEEDED", "ErrorMessage": "too long"}
    stubber.add_response(OPERATION, answer(errors=(failure,)))
    with pytest.raises(ComprehendRefused, match="TEXT_SIZE_LIMIT_EXCEEDED"):
        engine.label(["Up"])
