"""New articles are in no index; those that wait are listed by whoever reads the table's stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from sourcebook.articles.analysis import Analysis, Analyzer
from sourcebook.articles.heal import retry_failed
from sourcebook.articles.ingest import ArticleStore, Outcome
from sourcebook.articles.read import ArticleFilter, ArticleReader
from sourcebook.articles.waiting import list_as_pending
from sourcebook.records.article import Article, Status
from sourcebook.sentiment.engines.lexicon import LexiconEngine
from sourcebook.table import keys
from sourcebook.table.client import Change, Table, TableBusy, TableForbidden, TableRefused
from tests.incoming import incoming, list_new_articles, stored_articles
from tests.moto_table import MotoTable


def listed(table: Table, status: str = "pending") -> list[str]:
    page = ArticleReader(table).page(ArticleFilter(status=status), limit=10)
    return [article.dedup_key for article in page.items if isinstance(article, Article)]


def analyze(table: Table, key: str) -> Analysis | object:
    return Analyzer(table, LexiconEngine(), workers=1).analyze([key])[key]


def test_an_article_that_waits_is_listed_as_pending_and_leaves_the_list_with_its_analysis(
    table: Table,
) -> None:
    key = ArticleStore(table).store(incoming("tiingo")).dedup_key
    assert listed(table) == []
    list_new_articles(table)
    list_new_articles(table)
    assert listed(table) == [key]
    assert analyze(table, key) is Analysis.ANALYZED
    assert (listed(table), listed(table, "analyzed")) == ([], [key])


def test_neither_an_analyzed_article_is_listed_nor_one_in_error_nor_one_that_is_gone(table: Table) -> None:
    store = ArticleStore(table)
    done, failed, gone = (
        store.store(incoming("tiingo", str(n), headline=f"The {n}th")).dedup_key for n in range(3)
    )
    analyze(table, done)
    table.update(keys.article(failed), assign={"status": "error", "error_reason": "broken"})
    table.delete(keys.article(gone))
    assert list_as_pending(table, [f"dedup:{key}" for key in (done, failed, gone)]) == {}
    assert listed(table) == []
    assert table.get(keys.article(gone)) is None
    assert retry_failed(table, failed)
    assert listed(table) == [failed]


@pytest.mark.parametrize("is_listed", [False, True])
def test_another_source_joins_an_article_that_waits(table: Table, is_listed: bool) -> None:
    store = ArticleStore(table)
    key = store.store(incoming("tiingo")).dedup_key
    if is_listed:
        list_new_articles(table)
    assert store.store(incoming("finnhub", crawled_minute=1)).outcome is Outcome.MERGED
    assert (len(listed(table)), analyze(table, key)) == (int(is_listed), Analysis.ANALYZED)
    [item] = stored_articles(table)
    assert (item["sources"], "status" in item) == (["tiingo", "finnhub"], False)


def test_a_report_that_met_a_new_article_is_merged_again_when_that_is_analyzed_meanwhile(
    table: Table,
) -> None:
    """Its text came with the report, and what is analyzed rests on the text."""

    class Overtaken(MotoTable):
        def update_many(self, changes: list[Change]) -> list[bool | TableBusy | TableRefused]:  # type: ignore[override]
            analyze(table, key)
            return super().update_many(changes)

    key = ArticleStore(table).store(incoming("tiingo")).dedup_key
    slow = Overtaken(table.name, table.client)
    stored = ArticleStore(slow).store(incoming("finnhub", crawled_minute=1, text="The earnings were bad."))
    assert (stored.outcome, stored.announce) == (Outcome.MERGED, True)
    [item] = stored_articles(table)
    assert (item["status"], item["sentiment"]) == ("pending", "neutral")


def test_what_the_table_does_not_take_now_is_raised_and_what_it_never_takes_is_returned(table: Table) -> None:
    class Refusing(MotoTable):
        answers: list[bool | TableBusy | TableRefused]

        def update_many(self, changes: object) -> list[bool | TableBusy | TableRefused]:
            return self.answers

    refusing = Refusing(table.name, table.client)
    refusing.answers = [True, TableRefused("too large"), False]
    assert list_as_pending(refusing, ["a", "b", "c"]) == {"b": "too large"}
    for error in (TableBusy("later"), TableForbidden("no permission")):
        refusing.answers = [True, error, False]
        with pytest.raises(type(error)):
            list_as_pending(refusing, ["a", "b", "c"])


def test_many_articles_are_entered_side_by_side_each_with_its_own_answer(table: Table) -> None:
    class Refusing(MotoTable):
        def update_many(self, changes: Sequence[Change]) -> list[bool | TableBusy | TableRefused]:
            asked.append(len(changes))
            return [TableRefused(one.key["PK"]) if one.key["PK"].endswith("7") else True for one in changes]

    asked: list[int] = []
    partitions = [f"dedup:{n}" for n in range(1_234)]
    refused = list_as_pending(Refusing(table.name, table.client), partitions)
    assert refused == {one: one for one in partitions if one.endswith("7")}
    assert (sum(asked), len(asked) > 1) == (len(partitions), True)


def test_the_status_of_an_item_without_one_is_told_by_its_sentiment(table: Table) -> None:
    key = ArticleStore(table).store(incoming("tiingo")).dedup_key
    [item] = stored_articles(table)
    new = Article.of_item(item)
    assert (new.status, new.shown()["status"]) == (Status.PENDING, "pending")
    analyze(table, key)
    [item] = stored_articles(table)
    assert Article.of_item(item).status is Status.ANALYZED
    waits = replace(Article.of_item(item), status=Status.PENDING)
    assert waits.to_item(keys.article(key))["status"] == "pending"
