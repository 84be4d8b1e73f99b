"""What is concluded from an event."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sourcebook.articles.grouping.ideas import (
    EventFacts,
    WeighingEngine,
    event_facts,
    publishers_of,
)
from sourcebook.records.article import Article, Sentiment
from sourcebook.records.event import Direction
from tests.unit.articles.grouping.articles import article

EVENT = "e" * 32


def attributed(*names: str) -> dict[str, Any]:
    return {f"source-{n}": {"source_name": name} for n, name in enumerate(names)}


def facts(*articles: Article) -> EventFacts:
    return event_facts(EVENT, articles)


def positive(key: int, minutes: float = 0, **fields: Any) -> Article:
    return article(
        key, "Orbita wins contract", minutes, sentiment="positive", polarity=0.8, score=0.9, **fields
    )


def negative(key: int, minutes: float = 0, **fields: Any) -> Article:
    return article(
        key, "Orbita wins contract", minutes, sentiment="negative", polarity=-0.8, score=0.9, **fields
    )


def test_an_idea_says_who_which_way_how_many_how_fast_and_why() -> None:
    idea = WeighingEngine().conclude(
        facts(
            positive(1, matched_tickers=["ORBQ"], source_attribution=attributed("Wire", "Ledger")),
            positive(2, 60, matched_tickers=["ORBQ", "AST"], source_attribution=attributed("Wire")),
            article(3, "Orbita wins contract", 120, matched_tickers=["ORBQ"]),
        )
    )
    assert idea is not None
    assert idea.subjects == ("ORBQ", "AST")
    assert idea.direction is Direction.UP
    assert idea.score == pytest.approx((0.9 * 2 * 0.8 + 0.9 * 0.8) / (0.9 * 2 + 0.9 + 0.5), abs=1e-4)
    assert (idea.independent_sources, idea.articles, idea.velocity) == (2, 3, 1.5)
    assert idea.why == (
        "3 headlines from 2 independent sources tell of ORBQ, AST, 1.5 an hour; "
        "weighted sentiment +0.68 (2 positive, 1 neutral) points up."
    )


def test_what_more_publishers_carry_weighs_more() -> None:
    both = [
        positive(1, source_attribution=attributed("Wire", "Ledger", "Review")),
        negative(2, source_attribution=attributed("Blog")),
    ]
    idea = WeighingEngine().conclude(facts(*both))
    assert idea is not None
    assert idea.direction is Direction.UP
    even = WeighingEngine().conclude(facts(positive(1), negative(2)))
    assert even is not None
    assert (even.direction, even.score) == (Direction.UNCLEAR, 0.0)
    bad = WeighingEngine().conclude(facts(negative(1), negative(2)))
    assert bad is not None
    assert bad.direction is Direction.DOWN


def test_one_publisher_counts_once_whichever_way_it_reached_us() -> None:
    def publishers(attribution: dict[str, Any]) -> tuple[str, ...]:
        return publishers_of(article(1, "Any", source_attribution=attribution).source_attribution)

    assert publishers(attributed("Harbor Ledger", "harborledger.example", "www.harborledger.example")) == (
        "harborledger",
    )
    assert publishers({"harbor-ledger": {}, "tiingo": {"source_name": "Quayside"}}) == (
        "harborledger",
        "quayside",
    )
    assert publishers(attributed("新华社", "***")) == ("***", "新华社")


def test_without_tickers_the_names_of_the_headlines_are_the_subjects() -> None:
    idea = WeighingEngine().conclude(
        facts(article(1, "Shares of Halcyon Robotics rise in Oslo after report"))
    )
    assert idea is not None
    assert idea.subjects == ("Halcyon", "Oslo", "Robotics")


def test_articles_that_are_not_analyzed_are_named_but_not_weighed() -> None:
    pending = article(2, "Orbita wins contract", status="pending")
    idea = WeighingEngine().conclude(facts(negative(1), pending))
    assert idea is not None
    assert idea.direction is Direction.DOWN
    assert idea.why.endswith("1 are not analyzed yet.")
    assert WeighingEngine().conclude(facts(pending)) is None
    assert WeighingEngine().conclude(facts()) is None


def test_the_digest_is_that_of_the_facts_and_not_of_their_order() -> None:
    one, two = positive(1), negative(2)
    assert facts(one, two).digest == facts(two, one).digest
    assert facts(one, two).digest != facts(one).digest
    assert facts(one).digest != facts(replace(one, sentiment=Sentiment.NEUTRAL)).digest
