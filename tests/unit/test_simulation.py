"""The arithmetic of bench/simulation.py, on cases that a person can compute."""

from __future__ import annotations

import pytest

from bench.simulation import (
    FULL_CPU_MB,
    GB_SECOND,
    HALF_AN_HOUR,
    INVOCATION,
    Capacity,
    Draw,
    Feeds,
    Function,
    Limit,
    Line,
    Stage,
    simulate,
)

TWO = Function("two", FULL_CPU_MB, 2)
MANY = Function("many", FULL_CPU_MB, 100_000)


def run(*lines: Line, seconds: int) -> None:
    """Let so many seconds pass."""
    list(simulate(lines, seconds, every=seconds))


def test_a_function_with_half_a_cpu_takes_twice_as_long_for_its_own_part_only() -> None:
    half = Function("half", FULL_CPU_MB // 2, 1)
    assert half.seconds(100, waiting=0.4) == pytest.approx(0.6, abs=0.001)


def test_memory_beyond_a_whole_cpu_makes_nothing_faster() -> None:
    assert Function("double", 2 * FULL_CPU_MB, 1).seconds(100, waiting=0.4) == pytest.approx(0.5)


def test_a_call_is_paid_once_for_its_batch_and_its_seconds_by_memory() -> None:
    function = Function("half", 512, 1, batch=10)
    assert function.dollars(1_000, 2.0) == pytest.approx(1_000 * GB_SECOND + 100 * INVOCATION)


def test_what_arrives_faster_than_it_is_done_waits_and_is_done_later() -> None:
    stage = Stage(TWO, 0.5)  # four a second
    line = Line([stage], lambda second: 6.0 if second < 10 else 0.0)
    waiting = [(second, stage.waiting) for second in simulate([line], seconds=16, every=5)]
    assert waiting == [(5, 10.0), (10, 20.0), (15, 0.0)]
    assert (stage.done, stage.most_waiting) == (60, 20)


def test_the_tightest_limit_is_the_one_that_counts() -> None:
    stage = Stage(TWO, 0.5, [Limit("wide", 9, ""), Limit("narrow", 3, "")])
    line = Line([stage], lambda _: 6.0)
    assert [limit.name for limit in line.limits] == ["narrow", "2 × two", "wide"]
    run(line, seconds=10)
    assert stage.waiting == 30


def test_what_one_stage_has_done_arrives_at_the_next_a_second_later() -> None:
    first, second = Stage(TWO, 0.5), Stage(TWO, 2.0)  # four a second, then one
    run(Line([first, second], lambda _: 5.0), seconds=10)
    assert (first.waiting, second.waiting, second.done) == (10, 31, 9)


def test_a_stage_that_works_once_a_minute_does_the_work_of_a_minute_then() -> None:
    stage = Stage(TWO, 0.5, period=60)
    line = Line([stage], lambda _: 1.0)
    done = [stage.done for _ in simulate([line], seconds=61, every=1)]
    assert (done[0], done[59], done[60]) == (1, 1, 61)


def test_feeds_that_are_polled_late_are_due_later_again() -> None:
    # A hundred feeds wanting a poll each ten seconds, and five polls a second: fifty wait, fifty rest.
    stage = Stage(TWO, 0.4)
    run(Line([stage], Feeds(100, [stage], interval=10).due), seconds=200)
    assert stage.waiting == pytest.approx(50, abs=0.1)


def test_a_partition_takes_no_more_after_a_quiet_time() -> None:
    partition = Capacity("hot", 100, "shards")
    stage = Stage(MANY, 0.1, draws=[Draw(partition, 2)])
    run(Line([stage], lambda second: 0.0 if second < 600 else 80.0), seconds=610)
    assert stage.done == 500
    assert partition.throttled == pytest.approx(2 * (80 + 9 * 30) - 100)


def test_stages_that_share_a_partition_share_it_by_what_they_want() -> None:
    partition = Capacity("hot", 100, "shards")
    one, other = (Stage(MANY, 0.1, draws=[Draw(partition, 1)], refuses=True) for _ in range(2))
    run(Line([one], lambda _: 150.0), Line([other], lambda _: 50.0), seconds=10)
    assert [one.done, one.refused] == pytest.approx([750, 750])
    assert [other.done, other.refused] == pytest.approx([250, 250])


def test_a_limit_by_a_shared_partition_counts_what_all_stages_of_a_line_take() -> None:
    partition = Capacity("hot", 100, "shards")
    line = Line([Stage(MANY, 0.1, draws=[Draw(partition, 1)]) for _ in range(2)], lambda _: 0.0)
    assert line.limits[0] == Limit("hot", 50, "shards")


def test_a_table_on_demand_takes_twice_what_it_took_half_an_hour_ago() -> None:
    table = Capacity("table", 100, "warm throughput", most=1_000)
    stage = Stage(MANY, 0.1, draws=[Draw(table, 1)], refuses=True)
    line = Line([stage], lambda _: 500.0)
    done = [stage.done for _ in simulate([line], seconds=HALF_AN_HOUR + 2, every=1)]
    assert done[HALF_AN_HOUR] == 100 * (HALF_AN_HOUR + 1)
    assert done[-1] - done[-2] == 200


def test_a_table_on_demand_grows_no_further_than_its_quota() -> None:
    table = Capacity("table", 100, "warm throughput", most=150)
    stage = Stage(MANY, 0.1, draws=[Draw(table, 1)], refuses=True)
    run(Line([stage], lambda _: 500.0), seconds=2 * HALF_AN_HOUR)
    assert table.available == 150
