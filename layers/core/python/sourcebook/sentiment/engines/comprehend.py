"""The adapter for Amazon Comprehend: no model of ours, about 0.30 USD for 1,000 headlines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.errors import Retryable, Terminal
from sourcebook.sentiment.engines import EMPTY, Label, Sentiment

MAX_TEXTS: Final = 25
"""Texts in one request; Comprehend's own limit."""

MAX_BYTES: Final = 5000
"""Longest text in UTF-8; Comprehend's own limit."""

MIXED_BOUNDARY: Final = 0.25
"""A mixed text takes the sign of its polarity from here on, and is neutral below."""

_TRANSIENT: Final = frozenset(
    {
        "ThrottlingException",
        "TooManyRequestsException",
        "InternalServerException",
        "ServiceUnavailableException",
    }
)
_TRANSIENT_ITEM: Final = frozenset({"InternalServerError", "INTERNAL_SERVER_ERROR"})


class ComprehendUnavailable(Retryable):
    """Comprehend is overloaded or cannot be reached; the same texts may be labelled later."""


class ComprehendRefused(Terminal):
    """Comprehend will never label this: the request, the permission or the text is wrong."""


class ComprehendEngine:
    """Labels texts by Comprehend's BatchDetectSentiment, and keeps its four scores."""

    name = "comprehend"

    def __init__(self, client: Any, *, language: str = "en") -> None:  # noqa: ANN401 - boto3's clients are untyped here
        """Take a boto3 client of the service `comprehend` and the language of the texts."""
        self._client = client
        self._language = language

    def label(self, texts: Sequence[str]) -> list[Label]:
        """Label each text, in order. An empty text is neutral; a long one is judged by its first 5,000 bytes.

        Raises:
            ComprehendUnavailable: if any text could not be labelled now.
            ComprehendRefused: if any text cannot be labelled at all.
        """
        labels = [EMPTY] * len(texts)
        spoken = [index for index, text in enumerate(texts) if text.strip()]
        for start in range(0, len(spoken), MAX_TEXTS):
            part = spoken[start : start + MAX_TEXTS]
            for position, label in self._batch([_cut(texts[index]) for index in part]):
                labels[part[position]] = label
        return labels

    def _batch(self, texts: list[str]) -> Iterator[tuple[int, Label]]:
        try:
            answer = self._client.batch_detect_sentiment(TextList=texts, LanguageCode=self._language)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            kind = ComprehendUnavailable if code in _TRANSIENT else ComprehendRefused
            raise kind(
                f"Comprehend answered {code}: allow comprehend:BatchDetectSentiment, or choose another engine"
                if code == "AccessDeniedException"
                else f"Comprehend answered {code} for {len(texts)} texts"
            ) from error
        except BotoCoreError as error:
            raise ComprehendUnavailable(f"Comprehend cannot be reached: {error}") from error
        for failure in answer.get("ErrorList", ()):
            kind = ComprehendUnavailable if failure.get("ErrorCode") in _TRANSIENT_ITEM else ComprehendRefused
            raise kind(f"Comprehend: text {failure.get('Index')}: {failure.get('ErrorCode')}")
        for result in answer["ResultList"]:
            yield result["Index"], _label(result["Sentiment"], result["SentimentScore"])


def _label(verdict: str, scores: Mapping[str, float]) -> Label:
    polarity = scores["Positive"] - scores["Negative"]
    sentiment: Sentiment
    if verdict == "POSITIVE" or (verdict == "MIXED" and polarity >= MIXED_BOUNDARY):
        sentiment = "positive"
    elif verdict == "NEGATIVE" or (verdict == "MIXED" and polarity <= -MIXED_BOUNDARY):
        sentiment = "negative"
    else:
        sentiment = "neutral"
    raw = {name.lower(): round(float(score), 4) for name, score in scores.items()}
    confidence = raw["mixed"] if verdict == "MIXED" and sentiment == "neutral" else raw[sentiment]
    return Label(sentiment, confidence, round(polarity, 4), raw)


def _cut(text: str) -> str:
    """Return the text's beginning that fits into one request, no character cut in two."""
    return text.encode()[:MAX_BYTES].decode(errors="ignore")
