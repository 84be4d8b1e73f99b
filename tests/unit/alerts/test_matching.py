"""Rules are found by their words, and none is missed or added by that."""

from __future__ import annotations

import random

import pytest

from sourcebook.alerts.matching import ArticleRules
from sourcebook.clock import utc_now
from sourcebook.records.article import Article
from sourcebook.search.day import ArticleWords, IndexedArticle
from sourcebook.search.query import SearchTerm, parse
from tests.unit.api.stored import article_item

WORDS = "ferry harbor strike bank rate nova apple record orders 東 京 株".split()


def entry(draw: random.Random) -> IndexedArticle:
    item = article_item(
        "0" * 32, utc_now(), status="analyzed", sentiment=draw.choice(["positive", "neutral", "negative"])
    )
    item["headline"] = " ".join(draw.choices(WORDS, k=draw.randint(1, 6)))
    item["text_for_analysis"] = " ".join(draw.choices(WORDS, k=draw.randint(0, 12)))
    item["sources"] = draw.sample(["wire", "harbor-ledger", "circuit"], k=draw.randint(1, 2))
    item["tags"] = draw.sample(["AAPL", "rates", "Ferries"], k=draw.randint(0, 2))
    item["metadata"] = {"language": draw.choice(["en", "en-GB", "zh-tw", ""])}
    return IndexedArticle.of(Article.of_item(item))


def query(draw: random.Random) -> str:
    pieces = []
    for _ in range(draw.randint(1, 4)):
        piece = draw.choice(
            [
                draw.choice(WORDS),
                f'"{draw.choice(WORDS)} {draw.choice(WORDS)}"',
                f"source:{draw.choice(['wire', 'circuit'])}",
                "tag:AAPL",
                "sentiment:positive,neutral",
                f"lang:{draw.choice(['en', 'en-gb', 'zh'])}",
            ]
        )
        pieces.append(("-" if draw.random() < 0.2 else "") + piece)
        if draw.random() < 0.3:
            pieces.append(f"OR {draw.choice(WORDS)}")
    return " ".join(pieces)


def groups(text: str) -> list[list[SearchTerm]]:
    folded = {"tag": str.casefold, "source": str.casefold}
    return [
        [
            SearchTerm(t.field, tuple(folded.get(t.field, str)(value) for value in t.values), t.negated)
            for t in group
        ]
        for group in parse(text, utc_now()).groups
    ]


@pytest.mark.parametrize("seed", range(20))
def test_the_index_finds_what_going_through_all_rules_finds(seed: int) -> None:
    draw = random.Random(seed)
    asked = {f"rule-{number}": groups(query(draw)) for number in range(150)}
    rules = ArticleRules()
    for alert_id, wanted in asked.items():
        rules.add(alert_id, wanted)
    found = 0
    for _ in range(30):
        article = entry(draw)
        matching = rules.matching(article)
        assert sorted(matching) == sorted(
            one for one, wanted in asked.items() if ArticleWords(article).match(wanted)
        )
        assert len(set(matching)) == len(matching)
        found += len(matching)
    assert found > 50


def test_a_frequent_word_collects_no_crowd() -> None:
    rules = ArticleRules()
    for number in range(2_000):
        rules.add(f"{number}", groups(f'ferry "harbor word{number}" OR other{number}'))
    # Under `ferry` stand as many as under any other word: what an article about ferries is held against.
    assert max(len(alerts) for place, alerts in rules._places.items() if place[1] != "ferry") <= 2_000
    assert len(rules._places["", "ferry"]) < 20
