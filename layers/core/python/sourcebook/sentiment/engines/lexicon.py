"""The lexicon engine: VADER (Hutto and Gilbert, 2014), from the package vaderSentiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from sourcebook.sentiment.engines import Label, Target
from sourcebook.sentiment.engines.clauses import clause_of

CLASS_BOUNDARY: Final = 0.05
"""A compound score above it is positive, below its negative is negative; the authors' own boundary."""


class LexiconEngine:
    """Labels short texts by a lexicon of valences and a few rules of grammar. English only."""

    name = "vader-3.3.2"

    def __init__(self) -> None:
        self._analyzer = SentimentIntensityAnalyzer()

    def label(self, texts: Sequence[str]) -> list[Label]:
        """Label each text, in order."""
        return [self._one(text) for text in texts]

    def label_targets(self, targets: Sequence[Target]) -> list[Label]:
        """Label each target, in order, by the clause that it stands in."""
        return self.label([clause_of(target) for target in targets])

    def _one(self, text: str) -> Label:
        scores: dict[str, float] = self._analyzer.polarity_scores(text)
        compound = float(scores["compound"])
        if compound >= CLASS_BOUNDARY:
            return Label("positive", round(0.5 + compound / 2, 4), compound, scores)
        if compound <= -CLASS_BOUNDARY:
            return Label("negative", round(0.5 - compound / 2, 4), compound, scores)
        return Label("neutral", round(1 - abs(compound), 4), compound, scores)
