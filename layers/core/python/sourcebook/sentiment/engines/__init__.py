"""Sentiment engines behind one protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

from sourcebook.errors import InvalidInput

Sentiment: TypeAlias = Literal["positive", "neutral", "negative"]

SENTIMENTS: Final[tuple[Sentiment, ...]] = ("negative", "neutral", "positive")
"""The classes, in the order in which our own engines compute them."""


@dataclass(frozen=True, slots=True)
class Label:
    """The label that an engine gives to one text.

    Attributes:
        sentiment: the class.
        confidence: how sure the engine is of it, 0 to 1.
        polarity: from -1 (as negative as can be) to 1.
        scores: the engine's own scores by their names, if it has any; for the model and the fallback
            they are the probabilities of the three classes.
    """

    sentiment: Sentiment
    confidence: float
    polarity: float
    scores: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Target:
    """A thing that a text names, to be judged by what the text says of it.

    Attributes:
        text: the whole text.
        start: where the target begins in it, in characters.
        end: the character after its last.
    """

    text: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end <= len(self.text):
            raise InvalidInput(
                "start, end", f"{self.start}, {self.end}", f"a place in a text of {len(self.text)} characters"
            )


class SentimentEngine(Protocol):
    """Labels texts, and targets in them. Deterministic: the same text always gets the same label."""

    @property
    def name(self) -> str:
        """Name and version, kept with every label as its origin."""

    def label(self, texts: Sequence[str]) -> list[Label]:
        """Label each text, in order. An empty text is neutral."""

    def label_targets(self, targets: Sequence[Target]) -> list[Label]:
        """Label each target, in order: what is felt about it, whatever is felt about others in its text."""


EMPTY: Final = Label("neutral", 1.0, 0.0, {"negative": 0.0, "neutral": 1.0, "positive": 0.0})
"""The label of a text that says nothing."""


def from_probabilities(probabilities: Sequence[float]) -> Label:
    """Return the label of calibrated probabilities, in the order of SENTIMENTS.

    The confidence is the probability of the class chosen; the polarity is how much more probable
    positive is than negative.
    """
    negative, _, positive = probabilities
    best = max(range(len(SENTIMENTS)), key=probabilities.__getitem__)
    return Label(
        SENTIMENTS[best],
        round(probabilities[best], 4),
        round(positive - negative, 4),
        {name: round(value, 4) for name, value in zip(SENTIMENTS, probabilities, strict=True)},
    )
