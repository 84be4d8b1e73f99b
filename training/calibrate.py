"""Fit the temperature that makes confidences say how often a label is right (Guo et al., 2017).

`python -m training.calibrate` fits it anew for the packaged model, after the fallback has changed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from sourcebook.sentiment.engines import SENTIMENTS, Label
from sourcebook.sentiment.engines.model import ModelEngine, Pin
from training.corpora import ROOT, UNSEEN_FINANCE, Example, development
from training.targets import development_targets

LEFT_OUT: Final = frozenset({"NewsMTSC held out", UNSEEN_FINANCE})
"""Sets of no use here: whole sentences, each labelled for one of the persons in it; and what stays unseen."""


PIN: Final = ROOT / "layers" / "core" / "python" / "sourcebook" / "sentiment" / "engines" / "model.json"
PACKAGE: Final = ROOT / "layers" / "sentiment" / "python" / "sourcebook_model"


def main() -> None:
    """Fit the temperatures of the packaged model and write them into its pin."""
    pin = json.loads(PIN.read_text("utf-8"))
    pin["temperature"] = fit_temperature(PACKAGE, pin)
    pin["target_temperature"] = fit_target_temperature(PACKAGE, pin)
    PIN.write_text(json.dumps(pin, indent=2) + "\n", "utf-8")
    print(json.dumps(pin, indent=2))


def fit_temperature(folder: Path, pin: dict[str, Any]) -> float:
    """Return the best temperature of a packaged model for texts, on the development sets."""
    examples = calibration_examples()
    labels = _uncalibrated(folder, pin).label([e.text for e in examples])
    return best_temperature(_logits(labels), [e.label for e in examples])


def fit_target_temperature(folder: Path, pin: dict[str, Any]) -> float:
    """Return the best temperature of a packaged model for targets, on the development sets of finance."""
    examples = development_targets()["SEntFiN targets dev"]
    labels = _uncalibrated(folder, pin).label_targets([e.target for e in examples])
    return best_temperature(_logits(labels), [e.label for e in examples])


def _uncalibrated(folder: Path, pin: dict[str, Any]) -> ModelEngine:
    return ModelEngine(
        folder, Pin("uncalibrated", pin["files"], 1.0, pin["companion"], 1.0, pin["target_companion"])
    )


def _logits(labels: Sequence[Label]) -> list[list[float]]:
    return [[math.log(max(label.scores[name], 1e-4)) for name in SENTIMENTS] for label in labels]


def calibration_examples() -> list[Example]:
    """Return the development sets that a temperature is fitted on, pooled."""
    return [e for name, chosen in development().items() if name not in LEFT_OUT for e in chosen]


def best_temperature(logits: Sequence[Sequence[float]], labels: Sequence[int]) -> float:
    """Return the temperature of the least log loss, to a hundredth."""
    return min((step / 100 for step in range(50, 301)), key=lambda t: _log_loss(logits, labels, t))


def _log_loss(logits: Sequence[Sequence[float]], labels: Sequence[int], temperature: float) -> float:
    total = 0.0
    for row, label in zip(logits, labels, strict=True):
        scaled = [value / temperature for value in row]
        top = max(scaled)
        total += top + math.log(sum(math.exp(value - top) for value in scaled)) - scaled[label + 1]
    return total / len(labels)


if __name__ == "__main__":
    main()
