from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.sentiment.cache import (
    TTL,
    InvalidCacheEntry,
    broken_rule,
    entry,
    is_stale,
    percentages,
)
from sourcebook.sentiment.rollups import Counts
from sourcebook.sentiment.windows import PERIODS

NOW = datetime(2026, 11, 27, 12, 34, 56, tzinfo=UTC)

numbers = st.integers(0, 10**7)


@given(numbers, numbers, numbers)
def test_percentages_sum_to_100_and_none_is_off_by_a_tenth(
    positive: int, negative: int, neutral: int
) -> None:
    counts = Counts(positive, neutral, negative)
    shares = percentages(counts)
    if not counts.total:
        assert shares == (0.0, 0.0, 0.0)
        return
    assert sum(Decimal(str(share)) for share in shares) == 100
    assert math.isclose(sum(shares), 100.0, abs_tol=1e-9)
    for share, number in zip(shares, (positive, negative, neutral), strict=True):
        assert abs(share - 100 * number / counts.total) < 0.1


@pytest.mark.parametrize(
    ("positive", "negative", "neutral", "wanted"),
    [
        (1, 1, 1, (33.4, 33.3, 33.3)),
        (892, 534, 363, (49.9, 29.8, 20.3)),
        (0, 0, 5, (0.0, 0.0, 100.0)),
        (2, 1, 0, (66.7, 33.3, 0.0)),
        (1, 6, 0, (14.3, 85.7, 0.0)),
    ],
)
def test_the_tenth_that_is_left_goes_to_whoever_lost_most(
    positive: int, negative: int, neutral: int, wanted: tuple[float, float, float]
) -> None:
    assert percentages(Counts(positive, neutral, negative)) == wanted


@given(st.sampled_from(sorted(PERIODS)), numbers, numbers, numbers, st.floats(-1, 1))
def test_every_entry_keeps_the_rules_of_the_data_model(
    period: str, positive: int, negative: int, neutral: int, mean: float
) -> None:
    total = positive + negative + neutral
    made = entry("a", period, Counts(positive, neutral, negative, round(mean * 1_000_000) * total), NOW)
    assert made.id == f"a:{period}"
    assert made.period_end_ts - made.period_start_ts == PERIODS[period] * 3600
    assert math.isclose(made.average_sentiment, mean if total else 0.0, abs_tol=1e-6)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"total_mentions": 7}, "sum of the counts"),
        ({"positive_count": -1, "total_mentions": 1}, "negative"),
        ({"positive_percentage": 50.3}, "sum to 100"),
        ({"positive_percentage": 150.0, "negative_percentage": -50.0}, "within 0 and 100"),
        ({"average_sentiment": 1.1}, "average_sentiment"),
        ({"period_start_ts": 10**11}, "ends before"),
        ({"last_updated_ts": 10**11}, "future"),
        ({"period": "HOUR_2"}, "unknown"),
    ],
)
def test_an_entry_that_breaks_a_rule_is_found_out(change: dict[str, Any], rule: str) -> None:
    made = entry("a", "HOUR_24", Counts(1, 0, 1), NOW)
    assert broken_rule(made, NOW) is None
    assert rule in (broken_rule(replace(made, **change), NOW) or "")


def test_an_entry_that_breaks_a_rule_is_not_made() -> None:
    with pytest.raises(InvalidCacheEntry, match="average_sentiment"):
        entry("a", "HOUR_1", Counts(1, 0, 0, 2_000_000), NOW)


def test_an_entry_is_stale_after_thirty_minutes() -> None:
    made = entry("a", "HOUR_1", Counts(), NOW)
    assert not is_stale(made, NOW + TTL)
    assert is_stale(made, NOW + TTL + timedelta(seconds=1))
