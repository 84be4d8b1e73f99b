"""The simulation of bench/ counts right, and what it says of the schedule holds for a few feeds too."""

from __future__ import annotations

import importlib.util
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import pytest

from sourcebook.feeds import schedule

BENCH = Path(__file__).parents[3] / "bench" / "simulate_polling.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("simulate_polling", BENCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_entries_found_missed_and_out_of_reach_are_counted_apart(bench: ModuleType) -> None:
    # Polled at 100, 200, 300 … seconds; the document holds two entries.
    slowly = [110.0, 120.0, 190.0]  # the first is pushed out by the third, after 80 seconds
    at_once = [410.0, 411.0, 412.0]  # the first is pushed out within two
    feed = bench.Feed([10.0, *slowly, *at_once], document=2, batches=False)
    outcome = bench.follow(feed, bench.fixed(100.0), 1, 100.0)
    assert (outcome.missed, outcome.out_of_reach, outcome.found) == (1, 1, 4)
    assert outcome.delays == {80: 1, 10: 1, 89: 1, 88: 1}
    assert outcome.polls == 24 * 36 - 1
    assert (outcome.delay(0.5), outcome.delay(1)) == (80, 89)
    batches = bench.Feed(feed.published, document=2, batches=True)
    outcome = bench.follow(batches, bench.fixed(100.0), 1, 100.0)
    assert (outcome.missed, outcome.missed_in_batches) == (0, 1)


def test_a_week_of_some_feeds_is_polled_without_a_miss_and_more_cheaply_than_by_a_fixed_interval(
    bench: ModuleType,
) -> None:
    """The full run is in docs/performance.md: 10,000 feeds take minutes."""
    seeds = range(30)
    adaptive = bench.simulate(seeds, 3, [900.0], adaptive=True)
    ours = adaptive[bench.OURS]
    median = ours.delay(0.5)
    fixed = bench.simulate(seeds, 3, [2.0 * median], adaptive=False)[bench.said(2.0 * median)]
    assert ours.found > 3_000
    assert ours.missed == 0
    assert ours.polls < 0.8 * fixed.polls
    assert fixed.delay(0.5) == pytest.approx(median, rel=0.1)
    every_15_minutes = adaptive[bench.said(900.0)]
    assert median < 0.7 * every_15_minutes.delay(0.5)
    assert ours.missed_in_batches <= every_15_minutes.missed_in_batches


def test_feeds_publish_as_the_real_ones_do(bench: ModuleType) -> None:
    patterns = bench.patterns()
    assert len(patterns) == 146
    assert sum(max(map(len, pattern.sittings)) >= 3 for pattern in patterns) == 23
    for seed in range(20):
        feed = bench.make_feed(seed, 2)
        assert feed.published == sorted(feed.published)
        per_hour = len(feed.published) / 60
        assert feed.document >= 3
        assert feed.document >= per_hour * 0.5, "hours, and not minutes"
    assert bench.make_feed(7, 2) == bench.make_feed(7, 2) != bench.make_hard_feed(7, 2)


def test_what_comes_together_is_why_nothing_is_missed(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A feed of the full run: 860 entries, which come by the handful, through a document of twelve."""
    seed = 1_001_500

    def missed() -> int:
        outcome = bench.follow(feed, bench.ours(15, seed), 7, 600.0)
        return int(outcome.missed + outcome.missed_in_batches)

    feed = bench.make_feed(seed, 7)
    assert (feed.document, feed.batches) == (12, True)
    assert missed() == 0
    monkeypatch.setattr(schedule, "_together", lambda *_, **__: 1.0)
    assert missed() > 0


def test_sittings_end_after_five_minutes_of_silence() -> None:
    spec = importlib.util.spec_from_file_location(
        "measure_publishing", BENCH.with_name("measure_publishing.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    noon = datetime(2026, 11, 27, 12, tzinfo=UTC)
    seconds = [0, 0, 300, 601, 5000, 5010]
    published = [noon + timedelta(seconds=second) for second in reversed(seconds)]
    assert module.sittings(published) == [[0, 0, 300], [0], [0, 10]]
