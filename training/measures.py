"""Scores of labels and of confidences, in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

CLASSES: Final = (-1, 0, 1)


def confusion(truth: Sequence[int], found: Sequence[int]) -> list[list[int]]:
    """Return counts: a row for each true class, a column for each label given, in the order of CLASSES."""
    table = [[0] * len(CLASSES) for _ in CLASSES]
    for true, label in zip(truth, found, strict=True):
        table[true + 1][label + 1] += 1
    return table


def accuracy(truth: Sequence[int], found: Sequence[int]) -> float:
    """Return the share of labels that are right."""
    return sum(a == b for a, b in zip(truth, found, strict=True)) / len(truth)


def macro_f1(truth: Sequence[int], found: Sequence[int]) -> float:
    """Return the mean of the classes' F1; a class neither true nor given anywhere is left out."""
    table = confusion(truth, found)
    scores = []
    for index in range(len(CLASSES)):
        actual, given = sum(table[index]), sum(row[index] for row in table)
        if actual or given:
            scores.append(2 * table[index][index] / (actual + given))
    return sum(scores) / len(scores)


def reliability(
    right: Sequence[bool], confidence: Sequence[float], bins: int = 10
) -> list[tuple[int, float, float]]:
    """Return for each bin of confidence that holds any: count, mean confidence, share right."""
    held: list[list[tuple[bool, float]]] = [[] for _ in range(bins)]
    for correct, sure in zip(right, confidence, strict=True):
        held[min(bins - 1, int(sure * bins))].append((correct, sure))
    return [
        (
            len(items),
            sum(sure for _, sure in items) / len(items),
            sum(correct for correct, _ in items) / len(items),
        )
        for items in held
        if items
    ]


def calibration_error(right: Sequence[bool], confidence: Sequence[float], bins: int = 10) -> float:
    """Return the expected calibration error (Guo et al., 2017): the mean gap of confidence to share right."""
    return sum(n * abs(sure - share) for n, sure, share in reliability(right, confidence, bins)) / len(right)
