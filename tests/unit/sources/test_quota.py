from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from sourcebook.sources.quota import CircuitBreaker

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)


def after_failures(*seconds: int) -> CircuitBreaker:
    breaker = CircuitBreaker()
    for second in seconds:
        breaker = breaker.failed(NOON + timedelta(seconds=second))
    return breaker


def test_a_circuit_is_closed_at_first_and_after_a_few_failures() -> None:
    assert CircuitBreaker().allows(NOON)
    assert after_failures(0, 1, 2, 3).allows(NOON + timedelta(seconds=4))


def test_five_failures_within_300_seconds_open_it() -> None:
    breaker = after_failures(0, 60, 120, 180, 240)
    assert not breaker.allows(NOON + timedelta(seconds=241))
    assert breaker.closes_at == NOON + timedelta(seconds=540)


def test_five_failures_spread_over_longer_do_not() -> None:
    assert after_failures(0, 100, 200, 300, 400).allows(NOON + timedelta(seconds=401))


def test_an_open_circuit_lets_one_call_probe_after_a_while() -> None:
    breaker = after_failures(0, 1, 2, 3, 4)
    later = NOON + timedelta(seconds=304)
    assert breaker.is_probing(later)
    assert breaker.succeeded() == CircuitBreaker()
    reopened = breaker.failed(later)
    assert not reopened.allows(later + timedelta(seconds=1))


def test_a_success_forgets_the_failures() -> None:
    assert after_failures(0, 1, 2, 3).succeeded().failed(NOON + timedelta(seconds=5)).allows(NOON)


@given(st.lists(st.integers(0, 2_000), max_size=12).map(sorted))
def test_its_state_survives_being_kept(seconds: list[int]) -> None:
    breaker = after_failures(*seconds)
    assert CircuitBreaker.of_json(breaker.to_state() or {}) == breaker
