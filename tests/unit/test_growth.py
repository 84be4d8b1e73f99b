"""The helper that grows inputs sees what it is there to see."""

from __future__ import annotations

import pytest

from sourcebook.errors import InvalidInput
from tests import growth
from tests.growth import Growth, TooCostly, check_growth, random_cases

SMALL = 400_000


def linear(body: bytes) -> None:
    for _ in range(10):
        body.decode().split("x")


def cubic(body: bytes) -> None:
    """Take eight times as long for twice the size: as plain on a busy machine as on a quiet one."""
    for _ in range((len(body) // 100) ** 2):
        body.count(b"x")


def greedy(body: bytes) -> None:
    b"x" * (len(body) * 1_000)


def refusing(body: bytes) -> None:
    raise InvalidInput("body", body[:10], "something else")


def broken(body: bytes) -> None:
    raise KeyError("a")


def test_what_is_linear_passes_and_shows_its_cost() -> None:
    (cost,) = check_growth(linear, Growth("x", unit="x"), largest=SMALL)

    assert cost.size == SMALL
    assert cost.outcome == "read"
    assert 0 < cost.seconds < 1
    assert 1_000_000 < cost.peak < 600_000_000


def test_what_grows_faster_than_its_input_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "_TELLING", 0.02)
    with pytest.raises(TooCostly, match=r"x: .* that is not linear"):
        check_growth(cubic, Growth("x", unit="x"), largest=SMALL // 20)


def test_memory_is_seen() -> None:
    with pytest.raises(TooCostly, match="MB"):
        check_growth(greedy, Growth("x", unit="x"), largest=SMALL // 2, memory=150_000_000)


def test_a_refusal_is_an_outcome_and_another_error_is_a_bug() -> None:
    (cost,) = check_growth(refusing, Growth("x", unit="x"), largest=SMALL)
    assert cost.outcome.startswith("InvalidInput")

    with pytest.raises(AssertionError, match="KeyError"):
        check_growth(broken, Growth("x", unit="x"), largest=SMALL)


def test_an_input_has_the_size_asked_for() -> None:
    case = Growth("rows", "<t>", "<r>{n}", "</t>", "</r>")

    body = case.of_size(1_000).decode()

    assert 800 <= len(body) <= 1_100
    assert body.startswith("<t><r>0<r>1<r>2")
    assert body.endswith("</r></r></t>")


def test_random_cases_are_the_same_for_the_same_seed() -> None:
    assert random_cases("ab<", 5, seed=1) == random_cases("ab<", 5, seed=1)
    assert random_cases("ab<", 5, seed=1) != random_cases("ab<", 5, seed=2)
