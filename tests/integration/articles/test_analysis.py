from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.articles.analysis import Analysis, AnalysisFailed, Analyzer
from sourcebook.articles.ingest import ArticleStore
from sourcebook.sentiment.engines import Label
from sourcebook.sentiment.engines.lexicon import LexiconEngine
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.pages import walk_shards
from tests.incoming import NOON, incoming

GOOD_NEWS = "Markets celebrate a great success"


def analyzer(table: Table, engine: Any = None) -> Analyzer:
    return Analyzer(table, engine or LexiconEngine(), clock=lambda: NOON, workers=1)


def mentions(table: Table, tag: str) -> list[dict[str, Any]]:
    return list(table.query_all(Key("tag").eq(tag), index=keys.TAG_INDEX))


def test_a_pending_article_gets_its_sentiment_and_each_of_its_tags_a_mention(table: Table) -> None:
    key = (
        ArticleStore(table)
        .store(incoming("tiingo", headline=GOOD_NEWS, tickers=("AAPL",), tags=("markets",)))
        .dedup_key
    )
    assert analyzer(table).analyze([key]) == {key: Analysis.ANALYZED}
    item = table.get(keys.article(key))
    assert item is not None
    assert (item.get("status"), item["sentiment"]) == (None, "positive")
    assert list(table.query_all(Key("PK").eq(item["PK"]) & Key("SK").eq("ARTICLE"))) == [item]
    for status in ("pending", "analyzed"):
        assert not list(walk_shards(table, "status", status, index=keys.STATUS_INDEX, page_size=100))
    assert 0.5 < item["score"] <= 1
    for tag in ("AAPL", "markets"):
        [mention] = mentions(table, tag)
        assert (mention["label"], mention["timestamp"]) == ("positive", "2026-11-27T12:00:00Z")
    [indexed] = walk_shards(table, "sentiment", "positive", index=keys.SENTIMENT_INDEX, page_size=100)
    assert indexed["SK"] == "ARTICLE"


def test_analyzing_twice_changes_nothing(table: Table) -> None:
    key = ArticleStore(table).store(incoming("tiingo", headline=GOOD_NEWS, tickers=("AAPL",))).dedup_key
    analyzer(table).analyze([key])
    before = table.get(keys.article(key)), mentions(table, "AAPL")
    later = Analyzer(table, LexiconEngine(), clock=lambda: NOON + timedelta(hours=1), workers=1)
    assert later.analyze([key, key]) == {key: Analysis.ALREADY}
    assert (table.get(keys.article(key)), mentions(table, "AAPL")) == before


def test_an_article_that_has_expired_is_no_failure(table: Table) -> None:
    assert analyzer(table).analyze(["0" * 32]) == {"0" * 32: Analysis.EXPIRED}


def test_a_ticker_that_a_source_adds_after_the_analysis_gets_its_mention_too(table: Table) -> None:
    store = ArticleStore(table)
    key = store.store(incoming("tiingo", headline=GOOD_NEWS)).dedup_key
    analyzer(table).analyze([key])
    added = store.store(incoming("finnhub", headline=GOOD_NEWS, tickers=("AAPL",), crawled_minute=1))
    assert added.announce
    assert analyzer(table).analyze([key]) == {key: Analysis.ANALYZED}
    assert [mention["label"] for mention in mentions(table, "AAPL")] == ["positive"]


class MergingEngine(LexiconEngine):
    """While it thinks, another source adds a ticker."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self._table = table
        self.thought = 0

    def label(self, texts: Sequence[str]) -> list[Label]:
        self.thought += 1
        if self.thought == 1:
            added = incoming("finnhub", headline=GOOD_NEWS, tickers=("AAPL",), crawled_minute=1)
            ArticleStore(self._table).store(added)
        return super().label(texts)


def test_a_ticker_that_a_source_adds_during_the_analysis_gets_its_mention(table: Table) -> None:
    key = ArticleStore(table).store(incoming("tiingo", headline=GOOD_NEWS)).dedup_key
    assert analyzer(table, MergingEngine(table)).analyze([key]) == {key: Analysis.ANALYZED}
    assert [mention["label"] for mention in mentions(table, "AAPL")] == ["positive"]


class PickyEngine(LexiconEngine):
    def label(self, texts: Sequence[str]) -> list[Label]:
        if any("broken" in text for text in texts):
            raise ValueError("cannot be read")
        return super().label(texts)


def test_an_article_that_the_engine_cannot_label_is_in_error_and_harms_no_other(table: Table) -> None:
    store = ArticleStore(table)
    good = store.store(incoming("tiingo", "1", headline=GOOD_NEWS)).dedup_key
    bad = store.store(incoming("tiingo", "2", headline="A broken headline")).dedup_key
    outcomes = analyzer(table, PickyEngine()).analyze([good, bad])
    assert outcomes[good] is Analysis.ANALYZED
    assert isinstance(outcomes[bad], AnalysisFailed)
    item = table.get(keys.article(bad))
    assert item is not None
    assert item["status"] == "error"
    assert "ValueError: cannot be read" in item["error_reason"]


@pytest.mark.parametrize(
    ("text", "sentiment"),
    [
        ("Profits soar as customers love the new phone", "positive"),
        ("Hackers steal passwords in a terrible breach", "negative"),
        ("The committee meets on Tuesday", "neutral"),
        ("", "neutral"),
    ],
)
def test_the_lexicon_engine_tells_good_from_bad(text: str, sentiment: str) -> None:
    [label] = LexiconEngine().label([text])
    assert label.sentiment == sentiment
    assert 0 <= label.confidence <= 1
    assert -1 <= label.polarity <= 1
