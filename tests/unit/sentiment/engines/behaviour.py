"""The behaviour list: headlines written for this project with the label that a reader would give each."""

from __future__ import annotations

import csv
from pathlib import Path

from sourcebook.sentiment.engines import SentimentEngine

_FILE = Path(__file__).with_name("behaviour.tsv")


def behaviour() -> list[dict[str, str]]:
    with _FILE.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def mistakes(engine: SentimentEngine) -> list[str]:
    rows = behaviour()
    labels = engine.label([row["text"] for row in rows])
    return [
        f"{row['text']}: {label.sentiment} {label.confidence}, should be {row['label']}"
        for row, label in zip(rows, labels, strict=True)
        if label.sentiment != row["label"]
    ]
