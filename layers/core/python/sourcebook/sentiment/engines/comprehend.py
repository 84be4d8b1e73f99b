"""The adapter for Amazon Comprehend: no model of ours, about 0.30 USD for 1,000 headlines."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.errors import Retryable, Terminal
from sourcebook.sentiment.engines import EMPTY, Label, Sentiment, Target
from sourcebook.sentiment.engines.clauses import clause_of

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

_ATTEMPTS: Final = 3
"""How often a text that failed alone, in a request that succeeded, is sent."""


class ComprehendUnavailable(Retryable):
    """Comprehend is overloaded or cannot be reached; the same texts may be labelled later."""


class ComprehendRefused(Terminal):
    """Comprehend will never label this: the request, the permission or the text is wrong."""


class ComprehendEngine:
    """Labels texts in English by Comprehend's BatchDetectSentiment, and keeps its four scores."""

    name = "comprehend"

    def __init__(
        self,
        client: Any,  # noqa: ANN401 - boto3's clients are untyped here
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take a boto3 client of the service `comprehend`, and how to pause."""
        self._client = client
        self._sleep = sleep

    def label(self, texts: Sequence[str]) -> list[Label]:
        """Label each text, in order. An empty text is neutral; a long one is judged by its first 5,000 bytes.

        Raises:
            ComprehendUnavailable: if any text could not be labelled now.
            ComprehendRefused: if any text cannot be labelled at all.
        """
        labels = [EMPTY] * len(texts)
        spoken = [index for index, text in enumerate(texts) if text.strip()]
        for start in range(0, len(spoken), MAX_TEXTS):
            part = {index: _cut(texts[index]) for index in spoken[start : start + MAX_TEXTS]}
            for index, label in self._batch(part).items():
                labels[index] = label
        return labels

    def label_targets(self, targets: Sequence[Target]) -> list[Label]:
        """Label each target, in order, by the clause that it stands in."""
        return self.label([clause_of(target) for target in targets])

    def _batch(self, texts: dict[int, str]) -> dict[int, Label]:
        """Label texts by their number; those that failed for a passing reason are sent again, alone."""
        labels: dict[int, Label] = {}
        waiting = list(texts)
        for attempt in range(_ATTEMPTS):
            if attempt:
                self._sleep(0.2 * 2**attempt)
            answer = self._request([texts[index] for index in waiting])
            for result in answer["ResultList"]:
                labels[waiting[result["Index"]]] = _label(result["Sentiment"], result["SentimentScore"])
            for failure in answer["ErrorList"]:
                if failure["ErrorCode"] not in _TRANSIENT_ITEM:
                    raise ComprehendRefused(
                        f"Comprehend: text {waiting[failure['Index']]}: {failure['ErrorCode']}"
                    )
            waiting = [index for index in waiting if index not in labels]
            if not waiting:
                return labels
        raise ComprehendUnavailable(f"Comprehend left {len(waiting)} texts unlabelled {_ATTEMPTS} times")

    def _request(self, texts: list[str]) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = self._client.batch_detect_sentiment(TextList=texts, LanguageCode="en")
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
        return answer


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
