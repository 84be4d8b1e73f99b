"""What the jobs are billed for must not grow unnoticed: units and requests of bench/'s fixed workloads."""

from __future__ import annotations

import pytest

from bench.capacity import Cost, workloads
from tests.e2e.conftest import VENV

ARTICLES = 200

MOST = {
    # For one: write units, read units, requests.
    "new article: fetched and stored": (2.6, 2.4, 0.7),
    "new article: analysed, one mention": (4.1, 1.2, 1.3),
    "new article: looked at for grouping": (1.2, 1.2, 1.3),
    "unchanged poll (304)": (2.1, 0.6, 0.4),
    "re-seen entry of a changed document": (0.2, 0.15, 0.15),
    "same article from another source": (3.6, 1.3, 0.5),
    "cached sentiment read": (0.0, 0.5, 1.0),
    "list of 20 articles by sentiment": (0.0, 10.5, 2.0),
}


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Cost]:
    with workloads(tmp_path_factory.mktemp("capacity"), ARTICLES, venv=VENV) as fixed:
        return {cost.name: cost for cost in fixed.run()}


@pytest.mark.parametrize("name", MOST)
def test_a_workload_is_billed_for_no_more_than_it_was(costs: dict[str, Cost], name: str) -> None:
    cost = costs[name]
    writes, reads, requests = MOST[name]
    assert cost.writes <= writes, cost
    assert cost.reads <= reads, cost
    assert cost.calls <= requests, cost


def test_every_workload_is_measured(costs: dict[str, Cost]) -> None:
    assert costs.keys() == MOST.keys()
    assert costs["new article: fetched and stored"].writes > 2, "a measurement of nothing proves nothing"


def test_a_new_article_stays_within_the_goal_of_the_table(costs: dict[str, Cost]) -> None:
    """Docs/table.md: at most 6.5 write units from fetch to analysed, with one mention; 6.1 of many."""
    parts = ("new article: fetched and stored", "new article: analysed, one mention")
    assert sum(costs[name].writes for name in parts) <= 6.5


def test_a_merge_writes_no_index(costs: dict[str, Cost]) -> None:
    """Docs/table.md: at most 4 write units; docs/decisions/0131: by_sentiment has nothing that it changes."""
    assert costs["same article from another source"].writes <= 4
