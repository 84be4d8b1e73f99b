"""Sentiment engines behind one protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

Sentiment: TypeAlias = Literal["positive", "neutral", "negative"]


@dataclass(frozen=True, slots=True)
class Label:
    """What an engine says of one text.

    Attributes:
        sentiment: the class.
        confidence: how sure the engine is of it, 0 to 1.
        polarity: from -1 (as negative as can be) to 1.
    """

    sentiment: Sentiment
    confidence: float
    polarity: float


class SentimentEngine(Protocol):
    """Labels texts. Deterministic: the same text always gets the same label."""

    @property
    def name(self) -> str:
        """Name and version, kept with every label so that it can be told who gave it."""
        ...

    def label(self, texts: Sequence[str]) -> list[Label]:
        """Label each text, in order. An empty text is neutral."""
        ...
