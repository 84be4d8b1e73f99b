from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.sentiment.rollups import Counts, HourCounts
from sourcebook.sentiment.windows import DAY, HOUR, MINUTE, hour_name, hour_start, pieces

EPOCH = datetime(2026, 11, 1, tzinfo=UTC)

moments = st.integers(0, 40 * 86_400).map(lambda seconds: EPOCH + timedelta(seconds=seconds))
counts = st.builds(Counts, *[st.integers(0, 1000)] * 3, st.integers(-(10**9), 10**9))


@given(moments, st.integers(1, 30 * 86_400), st.sampled_from([MINUTE, HOUR, DAY]))
def test_pieces_cover_a_window_without_gap_or_overlap(
    start: datetime, seconds: int, length: timedelta
) -> None:
    end = start + timedelta(seconds=seconds)
    if seconds > 5 * 86_400 and length == MINUTE:
        end = start + timedelta(seconds=seconds % 86_400 + 1)
    found = list(pieces(start, end, length))
    assert found[0][0] == start
    assert found[-1][1] == end
    assert all(stop == first for (_, stop), (first, _) in pairwise(found))
    assert all(stop - first == length for first, stop in found[1:-1])


@given(st.dictionaries(st.integers(0, 59), counts))
def test_an_hour_is_the_same_after_it_was_written(minutes: dict[int, Counts]) -> None:
    hour = HourCounts(minutes)
    again = HourCounts.read(hour.write())
    assert again == hour
    assert again.total == sum(minutes.values(), Counts())


def test_the_busiest_hour_is_small() -> None:
    hour = HourCounts({minute: Counts(10**6, 10**6, 10**6, -(10**12)) for minute in range(60)})
    assert len(hour.write()) < 3_000


def test_an_hours_name_leads_back_to_it() -> None:
    assert hour_name(hour_start("2026-11-27T21")) == "2026-11-27T21"


@pytest.mark.parametrize("polarity", [1, 0, -1, 0.3333333, -0.0000004])
def test_polarities_are_summed_without_error(polarity: float) -> None:
    mention = {"label": "neutral", "polarity": polarity, "timestamp": "2026-11-27T21:05:00Z"}
    counted = Counts.of([mention] * 1000)
    assert counted.average == pytest.approx(polarity, abs=1e-6)
    assert HourCounts.of([mention] * 3).minutes.keys() == {5}
