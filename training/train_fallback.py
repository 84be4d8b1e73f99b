"""Train the fallback engine and write its weights: `python -m training.train_fallback`."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from sourcebook.sentiment.engines.fallback import UNIT, WEIGHTS, FallbackEngine, features
from training.calibrate import best_temperature, calibration_examples
from training.corpora import training
from training.measures import CLASSES

VERSION = "4"
SEEDS = (5, 6)
"""Epochs of training examples that are pooled."""

SEEN = 3
"""A feature is kept if this many different texts have it."""

KEPT = 16_000
"""Features that stay: those whose weights move a label most."""


def main() -> None:
    """Train on the same texts as the model, drop what hardly matters, and fit the temperature."""
    examples = {e.text: e for seed in SEEDS for e in training(seed)}
    rows = [sorted(features(text)) for text in examples]
    labels = [e.label for e in examples.values()]
    weights = _fit(rows, labels, [e.weight for e in examples.values()])
    _write(weights, WEIGHTS, temperature=1.0)
    held_out = calibration_examples()
    temperature = best_temperature(
        _logits(FallbackEngine(), [e.text for e in held_out]), [e.label for e in held_out]
    )
    _write(weights, WEIGHTS, temperature)
    print(
        f"{len(examples)} texts, {len(weights)} features, {WEIGHTS.stat().st_size} bytes, "
        f"temperature {temperature}"
    )


def _fit(
    rows: list[list[str]], labels: list[int], importance: list[float]
) -> dict[str, tuple[int, int, int]]:
    seen = Counter(feature for row in rows for feature in row)
    index = {feature: n for n, feature in enumerate(sorted(f for f, count in seen.items() if count >= SEEN))}
    cells = [(r, index[f]) for r, row in enumerate(rows) for f in row if f in index]
    matrix = csr_matrix(
        (np.ones(len(cells)), ([r for r, _ in cells], [c for _, c in cells])), shape=(len(rows), len(index))
    )
    regression = LogisticRegression(C=0.15, max_iter=400, class_weight="balanced", fit_intercept=False)
    regression.fit(matrix, labels, sample_weight=importance)
    counts = np.asarray(matrix.sum(0)).ravel()
    strength = np.abs(regression.coef_).max(0) * np.sqrt(counts)
    kept = set(np.argsort(-strength)[:KEPT].tolist())
    assert regression.classes_.tolist() == list(CLASSES)
    found = {}
    for feature, column in index.items():
        whole = [round(float(value) * UNIT) for value in regression.coef_[:, column]]
        if column in kept and any(whole):
            found[feature] = (whole[0], whole[1], whole[2])
    return found


def _write(weights: dict[str, tuple[int, int, int]], path: Path, temperature: float) -> None:
    lines = [json.dumps({"version": VERSION, "temperature": temperature})]
    lines += ["\t".join([feature, *map(str, values)]) for feature, values in sorted(weights.items())]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _logits(engine: FallbackEngine, texts: list[str]) -> list[list[float]]:
    return [
        [math.log(max(label.scores[name], 1e-4)) for name in ("negative", "neutral", "positive")]
        for label in engine.label(texts)
    ]


if __name__ == "__main__":
    main()
