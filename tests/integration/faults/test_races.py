"""Two functions at one article, the one between the read and the write of the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sourcebook.articles.analysis import Analyzer
from sourcebook.articles.ingest import ArticleStore
from sourcebook.records.article import status_of
from sourcebook.sentiment.engines.lexicon import LexiconEngine
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.incoming import incoming
from tests.moto_table import MotoTable


class Meanwhile:
    """A client that has something happen just before the first change of an item that is there."""

    def __init__(self, client: Any, happen: Callable[[], object]) -> None:
        self._client = client
        self._happen: Callable[[], object] | None = happen

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._client, name)

        def call(**request: Any) -> Any:
            if self._happen and (name == "update_item" or "UPDATE" in str(request.get("Statements", ""))):
                happen, self._happen = self._happen, None
                happen()
            return operation(**request)

        return call if callable(operation) else operation


def test_a_text_that_comes_while_the_analysis_is_concluded_is_analyzed(table: Table) -> None:
    first = incoming("two", crawled_minute=5, text="It is wonderful, and everyone is delighted.")
    key = ArticleStore(table).store(first).dedup_key
    engine = LexiconEngine()

    def conclude() -> None:
        Analyzer(table, engine, workers=1).analyze([key])
        article = table.get(keys.article(key), consistent=True)
        assert article is not None
        assert (status_of(article), article["sentiment"]) == ("analyzed", "positive")

    client: Any = Meanwhile(table.client, conclude)
    earlier = incoming(
        "one", crawled_minute=1, text="It is a terrible disaster, and everyone is sued over fraud."
    )
    stored = ArticleStore(MotoTable(table.name, client, shards=table.shards)).store(earlier)
    assert (stored.dedup_key, stored.announce) == (key, True)
    article = table.get(keys.article(key), consistent=True)
    assert article is not None
    assert (article["status"], article["text_source"]) == ("pending", "one")
    Analyzer(table, engine, workers=1).analyze([key])
    article = table.get(keys.article(key), consistent=True)
    assert article is not None
    assert article["sentiment"] == "negative"
