from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

import pytest

from sourcebook.observations.adapters.poll import anomaly
from sourcebook.observations.canonical import Candidate, candidates_of, decided_by, ranked
from sourcebook.records.observation import Figure

NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)


def candidate(source_id: str, priority: int, at: str, sequence: int = 1, *, stale: bool = False) -> Candidate:
    return Candidate(source_id, priority, stale, Figure.of_item({"last_seen_at": at, "sequence": sequence}))


A = candidate("a", 1, "2026-01-01T00:00:00.000Z")
B = candidate("b", 2, "2026-01-03T00:00:00.000Z", 2)
C = candidate("c", 2, "2026-01-02T00:00:00.000Z", 9)
D = candidate("d", 2, "2026-01-03T00:00:00.000Z", 3)
OLD = candidate("old", 0, "2025-01-01T00:00:00.000Z", stale=True)


@pytest.mark.parametrize("order", list(itertools.permutations([A, B, C, D, OLD])))
def test_priority_then_the_later_scrape_then_the_later_arrival_and_the_stale_behind_all(
    order: tuple[Candidate, ...],
) -> None:
    assert [c.source_id for c in ranked(order)] == ["a", "d", "b", "c", "old"]


@pytest.mark.parametrize(
    ("candidates", "reason"),
    [
        ([A], "only_source"),
        ([A, B], "priority"),
        ([B, C], "scraped_at"),
        ([B, D], "sequence"),
        ([A, OLD], "freshness"),
    ],
)
def test_the_reason_is_what_put_the_first_before_the_second(candidates: list[Candidate], reason: str) -> None:
    assert decided_by(ranked(candidates)) == reason


def slot(seen: str, **more: Any) -> dict[str, Any]:
    return {"priority": 1, "last_seen_at": seen, "sequence": 1, **more}


def test_a_figure_is_stale_by_its_sources_age_or_by_the_one_asked_for() -> None:
    item = {
        "sources": {
            "a": slot("2026-01-05T12:00:00.000Z", max_age_days=4),
            "b": slot("2026-01-05T12:00:00.000Z"),
        }
    }
    assert {c.source_id: c.stale for c in candidates_of(item, NOW)} == {"a": True, "b": False}
    assert {c.source_id: c.stale for c in candidates_of(item, NOW, 5)} == {"a": False, "b": False}
    assert {c.source_id: c.stale for c in candidates_of(item, NOW, 4)} == {"a": True, "b": True}


@pytest.mark.parametrize(
    ("before", "now", "odd"),
    [(0, 0, False), (10, 8, False), (10, 7, True), (10, 0, True), (10, 20, False), (0, 5, False)],
)
def test_thirty_percent_fewer_rows_are_an_anomaly(before: int, now: int, odd: bool) -> None:
    assert bool(anomaly(before, now)) is odd
