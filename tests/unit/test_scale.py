"""The arithmetic of the simulation in bench/scale.py, on cases that a person can compute."""

from __future__ import annotations

import pytest

from bench.scale import (
    FULL_CPU_MB,
    GB_SECOND,
    INVOCATION,
    Feeds,
    Function,
    Limit,
    Stage,
    simulate,
)

TWO = Function("two", FULL_CPU_MB, 2)


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
    samples = list(simulate([stage], lambda second: 6.0 if second < 10 else 0.0, seconds=16, every=5))
    assert [(sample.second, sample.waiting) for sample in samples] == [(5, [10.0]), (10, [20.0]), (15, [0.0])]
    assert stage.done == 60
    assert stage.most_waiting == 20


def test_the_tightest_limit_is_the_one_that_counts() -> None:
    stage = Stage(TWO, 0.5, [Limit("wide", 9, ""), Limit("narrow", 3, "")])
    assert [limit.name for limit in stage.all_limits] == ["narrow", "2 × two", "wide"]
    list(simulate([stage], lambda _: 6.0, seconds=10, every=10))
    assert stage.waiting == 30


def test_what_one_stage_has_done_arrives_at_the_next() -> None:
    first, second = Stage(TWO, 0.5), Stage(TWO, 2.0)  # four a second, then one
    list(simulate([first, second], lambda _: 5.0, seconds=10, every=10))
    assert (first.waiting, second.waiting, second.done) == (10, 30, 10)


def test_a_stage_that_works_once_a_minute_does_the_work_of_a_minute_then() -> None:
    stage = Stage(TWO, 0.5, period=60)
    done = [stage.work(second, 1.0) for second in range(61)]
    assert (done[0], sum(done[1:60]), done[60]) == (1, 0, 60)


def test_feeds_that_are_polled_late_are_due_later_again() -> None:
    # A hundred feeds wanting a poll each ten seconds, and five polls a second: fifty wait, fifty rest.
    stage = Stage(TWO, 0.4)
    feeds = Feeds(100, stage, interval=10)
    list(simulate([stage], lambda _: feeds.due([stage]), seconds=200, every=200))
    assert stage.waiting == pytest.approx(50, abs=0.1)
