"""The fallback engine: logistic regression over words, pairs of words and a lexicon, in pure Python.

It needs nothing but this package, so it labels when the model cannot be loaded. Its weights are in
``fallback.tsv``: a line of settings as JSON, then one feature a line with its three weights, each in 64ths.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from sourcebook.sentiment.engines import EMPTY, SENTIMENTS, Label, Target, from_probabilities
from sourcebook.sentiment.engines.clauses import clause_of
from sourcebook.sentiment.engines.valence import (
    BAD,
    DOWN,
    GOOD,
    NEGATORS,
    UP,
    WELCOME_WHEN_HIGH,
    WELCOME_WHEN_LOW,
)

WEIGHTS: Final = Path(__file__).with_name("fallback.tsv")
UNIT: Final = 64
"""A weight of one, as the file writes it."""

_LONGEST: Final = 400
_ASKING: Final = frozenset("how what why when where who is are will can should does do".split())
_TOKEN: Final = re.compile(r"[a-z]+(?:['’-][a-z]+)*|\d[\d,.]*|[?%$!:]")
_VERSUS: Final = re.compile(
    r"(?P<now>\d[\d,]{0,20}(?:\.\d{1,20})?)"
    r"[^\d?]{0,40}?\b(?:from|compared (?:to|with)|against|versus|vs)\b[^\d?]{0,40}?"
    r"(?P<before>\d[\d,]{0,20}(?:\.\d{1,20})?)"
)


class FallbackEngine:
    """Labels headlines in English by what their words usually mean."""

    def __init__(self, weights: Path = WEIGHTS) -> None:
        """Read the weights; they come with this package, so that there is nothing to fall back from."""
        with weights.open(encoding="utf-8") as lines:
            settings = json.loads(next(lines))
            self._weights: dict[str, tuple[int, int, int]] = {}
            for line in lines:
                feature, negative, neutral, positive = line.rstrip("\n").split("\t")
                self._weights[feature] = (int(negative), int(neutral), int(positive))
        self.name: str = f"ngrams-{settings['version']}"
        self._temperature = float(settings["temperature"]) * UNIT

    def label(self, texts: Sequence[str]) -> list[Label]:
        """Label each text, in order. An empty text is neutral."""
        return [self._one(text) if text.strip() else EMPTY for text in texts]

    def label_targets(self, targets: Sequence[Target]) -> list[Label]:
        """Label each target, in order, by the clause that it stands in."""
        return self.label([clause_of(target) for target in targets])

    def _one(self, text: str) -> Label:
        return from_probabilities([math.exp(logarithm) for logarithm in self.log_probabilities(text)])

    def log_probabilities(self, text: str) -> list[float]:
        """Return the logarithms of the three classes' probabilities, in the order of SENTIMENTS."""
        totals = [0] * len(SENTIMENTS)
        for feature in features(text):
            weights = self._weights.get(feature)
            if weights:
                for index, weight in enumerate(weights):
                    totals[index] += weight
        scaled = [total / self._temperature for total in totals]
        top = max(scaled)
        whole = top + math.log(sum(math.exp(value - top) for value in scaled))
        return [value - whole for value in scaled]


def features(text: str) -> set[str]:
    """Return the features of a text, each present or not.

    ``w`` a word, ``s`` the beginning of a long one, ``b`` two words; ``l`` how the lexicon
    counts, ``m`` which way what moves, ``c`` what a comparison of two amounts says, ``bias`` always.
    """
    lowered = text[:_LONGEST].lower().replace("’", "'")
    words = ["#" if token[0].isdigit() else token for token in _TOKEN.findall(lowered)]
    found = {"bias", f"l first {_kind(words[0])}" if words else "bias"}
    found.update(f"w {word}" for word in words)
    found.update(f"s {word[:5]}" for word in words if len(word) > 5)
    found.update(f"b {first} {second}" for first, second in pairwise(words))
    found.update(_lexicon(words))
    found.update(_movements(words))
    found.update(_comparison(lowered, words))
    return found


def _lexicon(words: list[str]) -> Iterator[str]:
    good = bad = 0
    for index, word in enumerate(words):
        kind = word in GOOD, word in BAD
        if not any(kind):
            continue
        negated = any(before in NEGATORS for before in words[max(0, index - 3) : index])
        if negated:
            yield f"l not {'good' if kind[0] else 'bad'}"
        else:
            good += kind[0]
            bad += kind[1]
    yield f"l good {min(good, 3)}"
    yield f"l bad {min(bad, 3)}"
    yield f"l sum {max(-2, min(2, good - bad))}"
    if "?" in words:
        yield f"l asks {max(-1, min(1, good - bad))}"


def _movements(words: list[str]) -> Iterator[str]:
    """Yield what moves which way: the nearest measure within four words of a word of direction."""
    for index, word in enumerate(words):
        direction = "up" if word in UP else "down" if word in DOWN else ""
        if not direction:
            continue
        near = sorted(
            range(max(0, index - 4), min(len(words), index + 5)), key=lambda other: abs(other - index)
        )
        measure = next((kind for other in near if (kind := _measure(words[other]))), "")
        yield f"m {measure} {direction}"


def _measure(word: str) -> str:
    if word in WELCOME_WHEN_LOW:
        return "low"
    return "high" if word in WELCOME_WHEN_HIGH else ""


def _comparison(lowered: str, words: list[str]) -> Iterator[str]:
    match = _VERSUS.search(lowered)
    if match is None:
        return
    now, before = (float(match[side].replace(",", "") or 0) for side in ("now", "before"))
    if now != before:
        measure = next((kind for word in words if (kind := _measure(word))), "")
        yield f"c {measure} {'up' if now > before else 'down'}"


def _kind(word: str) -> str:
    if word in _ASKING:
        return "asks"
    return "#" if word == "#" else "other"
