from __future__ import annotations

import random

import pytest

from training.measures import accuracy, calibration_error, confusion, macro_f1
from training.statements import statements


def test_scores_of_a_known_table() -> None:
    truth = [-1, -1, 0, 0, 1, 1]
    found = [-1, 0, 0, 0, 1, -1]
    assert confusion(truth, found) == [[1, 1, 0], [0, 2, 0], [1, 0, 1]]
    assert accuracy(truth, found) == pytest.approx(4 / 6)
    assert macro_f1(truth, found) == pytest.approx((1 / 2 + 4 / 5 + 2 / 3) / 3)


def test_a_confidence_that_is_met_has_no_calibration_error() -> None:
    assert calibration_error([True, True, True, False], [0.75] * 4) == pytest.approx(0)
    assert calibration_error([True, False], [0.95, 0.95]) == pytest.approx(0.45)


def test_generated_statements_hold_every_class_and_repeat_for_a_seed() -> None:
    first = statements(random.Random(3), 300)
    assert {label for _, label in first} == {-1, 0, 1}
    assert first == statements(random.Random(3), 300)


def test_generated_comparisons_know_that_a_smaller_loss_is_good() -> None:
    for text, label in statements(random.Random(4), 2000):
        if "net loss fell" in text.lower():
            assert label == 1
        if "net sales fell" in text.lower():
            assert label == -1
