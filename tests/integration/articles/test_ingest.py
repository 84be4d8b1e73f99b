from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from sourcebook.articles.ingest import ArticleStore, MergeContended, Outcome, Result, Stored
from sourcebook.articles.model import IncomingArticle
from sourcebook.errors import InvalidInput
from sourcebook.records.article import Article, Status
from sourcebook.table import keys
from sourcebook.table.client import Change, Table, TableBusy, TableRefused
from sourcebook.table.codec import Item
from tests.incoming import NOON, incoming, stored_articles
from tests.moto_table import MotoTable


def outcome(result: Result) -> Outcome:
    assert isinstance(result, Stored), result
    return result.outcome


def test_a_new_story_becomes_a_pending_article_that_is_announced(table: Table) -> None:
    stored = ArticleStore(table).store(
        incoming("tiingo", headline="Apple Reports Q4 Earnings Beat - Reuters", publishers=("Reuters",))
    )
    assert stored.outcome is Outcome.CREATED
    assert stored.announce
    [item] = stored_articles(table)
    assert item["PK"] == f"dedup:{stored.dedup_key}" == item["source_id"]
    assert item["SK"] == "ARTICLE"
    assert item["headline"] == "Apple Reports Q4 Earnings Beat - Reuters"
    assert item["normalized_headline"] == "apple reports q4 earnings beat"
    assert item["sources"] == ["tiingo"]
    assert "status" not in item  # it is in no index
    assert Article.of_item(item).status is Status.PENDING
    assert item["timestamp"] == "2026-11-27T12:00:00Z"
    assert item["ttl_timestamp"] == int((NOON + timedelta(days=30)).timestamp())


def test_the_same_story_from_another_source_is_merged_and_not_announced_again(table: Table) -> None:
    store = ArticleStore(table)
    first = store.store(incoming("tiingo", headline="Apple Reports Q4 Earnings Beat - Reuters"))
    second = store.store(incoming("finnhub", crawled_minute=1))
    assert second.outcome is Outcome.MERGED
    assert not second.announce
    assert second.dedup_key == first.dedup_key
    [item] = stored_articles(table)
    assert item["sources"] == ["tiingo", "finnhub"]
    assert item["source_attribution"]["finnhub"]["original_headline"] == "Apple reports Q4 earnings beat"


def test_the_same_word_twice_changes_nothing(table: Table) -> None:
    store = ArticleStore(table)
    store.store(incoming("tiingo"))
    before = stored_articles(table)
    assert store.store(incoming("tiingo")).outcome is Outcome.UNCHANGED
    assert stored_articles(table) == before


def test_an_article_whose_maker_died_before_announcing_it_is_announced_by_the_next_run(table: Table) -> None:
    store = ArticleStore(table)
    store.store(incoming("tiingo"))  # and the run dies here
    assert store.store(incoming("tiingo")).announce


def test_a_run_that_died_between_alias_and_article_is_completed_by_the_next(table: Table) -> None:
    store = ArticleStore(table)
    stored = store.store(incoming("tiingo"))
    table.delete(keys.article(stored.dedup_key))
    again = store.store(incoming("tiingo"))
    assert again.outcome is Outcome.CREATED
    assert again.announce
    assert len(stored_articles(table)) == 1


def test_an_edited_headline_finds_its_article_through_the_alias(table: Table) -> None:
    store = ArticleStore(table)
    store.store(incoming("tiingo"))
    edited = store.store(incoming("tiingo", crawled_minute=5, headline="Apple reports record Q4 earnings"))
    assert edited.outcome is Outcome.UPDATED
    [item] = stored_articles(table)
    assert item["headline"] == "Apple reports record Q4 earnings"


def test_headlines_that_differ_in_a_number_stay_two_articles(table: Table) -> None:
    store = ArticleStore(table)
    up, down = (
        store.store(incoming("tiingo", headline="Shares move +3%")),
        store.store(incoming("finnhub", headline="Shares move -3%")),
    )
    assert up.dedup_key != down.dedup_key
    assert len(stored_articles(table)) == 2
    again = store.store(incoming("harbor", headline="Shares move -3%"))
    assert again.outcome is Outcome.MERGED
    assert again.dedup_key == down.dedup_key


def test_an_article_of_two_keys_keeps_its_alias_right(table: Table) -> None:
    store = ArticleStore(table)
    store.store(incoming("tiingo", headline="Shares move +3%"))
    down = store.store(incoming("finnhub", headline="Shares move -3%"))
    alias = table.get(keys.article_alias("finnhub", "1"))
    assert alias is not None
    assert alias["dedup_key"] == down.dedup_key
    assert store.store(incoming("finnhub", headline="Shares move -3%")).outcome is Outcome.UNCHANGED


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_story_reported_on_both_sides_of_midnight_is_one_article(
    table: Table, order: tuple[int, int]
) -> None:
    words = [
        incoming("tiingo", published_at=datetime(2026, 11, 27, 23, 50, tzinfo=UTC)),
        incoming("finnhub", published_at=datetime(2026, 11, 28, 0, 10, tzinfo=UTC)),
    ]
    store = ArticleStore(table)
    outcomes = [store.store(words[n]).outcome for n in order]
    assert outcomes == [Outcome.CREATED, Outcome.MERGED]
    [item] = stored_articles(table)
    assert set(item["sources"]) == {"tiingo", "finnhub"}


def test_the_same_headline_on_another_day_is_another_article(table: Table) -> None:
    store = ArticleStore(table)
    store.store(incoming("tiingo", "1"))
    store.store(incoming("tiingo", "2", published_at=NOON + timedelta(days=1), crawled_minute=1440))
    assert len(stored_articles(table)) == 2


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_any_order_of_three_sources_ends_in_the_same_article(table: Table, order: tuple[int, ...]) -> None:
    words = [
        incoming("tiingo", crawled_minute=2, tickers=("AAPL",), text="Revenue rose."),
        incoming("finnhub", crawled_minute=0, headline="UPDATE 1-Apple reports Q4 earnings beat"),
        incoming("harbor", crawled_minute=1, tags=("earnings",), text="Cupertino said."),
    ]
    store = ArticleStore(table)
    for n in order:
        store.store(words[n])
    [item] = stored_articles(table)
    assert item["sources"] == ["finnhub", "harbor", "tiingo"]
    assert item["headline"] == "UPDATE 1-Apple reports Q4 earnings beat"
    assert item["text_for_analysis"] == "Cupertino said."
    assert item["tags"] == ["AAPL", "earnings"]
    assert item["matched_tickers"] == ["AAPL"]
    assert item["created_at"] == "2026-11-27T12:00:00Z"
    assert item["updated_at"] == "2026-11-27T12:02:00Z"


class Interrupted(MotoTable):
    """Lets others act before the first changes are made, and refuses some of them."""

    def __init__(self, table: Table, before: Callable[[], object], refused: Collection[str] = ()) -> None:
        super().__init__(table.name, table.client, shards=table.shards)
        self._before = [before]
        self._refused = refused
        self.batches: list[int] = []

    def update_many(self, changes: Sequence[Change]) -> list[bool | TableBusy | TableRefused]:
        if changes:
            self.batches.append(len(changes))
        while self._before:
            self._before.pop()()
        return [
            TableBusy("staged") if change.key["PK"] in self._refused else self._change_one(change)
            for change in changes
        ]


STORIES = ("Marbleton is sued over fraud", "Vexor moves its office", "Grommet lands on the moon")


def told_by(source: str, **fields: Any) -> list[IncomingArticle]:
    return [incoming(source, str(n), headline=headline, **fields) for n, headline in enumerate(STORIES)]


def test_many_merges_go_together(table: Table) -> None:
    ArticleStore(table).store_many(told_by("tiingo"))
    watched = Interrupted(table, lambda: None)
    results = ArticleStore(watched).store_many(told_by("finnhub", crawled_minute=1))
    assert [outcome(result) for _, result in results] == [Outcome.MERGED] * 3
    assert watched.batches == [3]
    assert {tuple(item["sources"]) for item in stored_articles(table)} == {("tiingo", "finnhub")}


def test_merges_that_others_have_overtaken_are_made_again_upon_what_those_have_left(table: Table) -> None:
    ArticleStore(table).store_many(told_by("tiingo"))
    watched = Interrupted(
        table, lambda: ArticleStore(table).store_many(told_by("harbor", crawled_minute=2)[:2])
    )
    results = ArticleStore(watched).store_many(told_by("finnhub", crawled_minute=1))
    assert [outcome(result) for _, result in results] == [Outcome.MERGED] * 3
    assert watched.batches == [3, 2]
    sources = sorted(item["sources"] for item in stored_articles(table))
    assert sources == [["tiingo", "finnhub"], *[["tiingo", "finnhub", "harbor"]] * 2]


def test_a_merge_whose_answer_got_lost_is_found_made(table: Table) -> None:
    ArticleStore(table).store(incoming("tiingo"))
    mine = incoming("finnhub", crawled_minute=1)
    watched = Interrupted(table, lambda: ArticleStore(table).store(mine))
    assert ArticleStore(watched).store(mine).outcome is Outcome.UNCHANGED
    [item] = stored_articles(table)
    assert item["sources"] == ["tiingo", "finnhub"]


def test_an_article_that_expires_while_it_is_merged_is_made_anew(table: Table) -> None:
    key = ArticleStore(table).store(incoming("tiingo")).dedup_key
    watched = Interrupted(table, lambda: table.delete(keys.article(key)))
    stored = ArticleStore(watched).store(incoming("finnhub", crawled_minute=1))
    assert (stored.outcome, stored.dedup_key, stored.announce) == (Outcome.CREATED, key, True)
    [item] = stored_articles(table)
    assert item["sources"] == ["finnhub"]


def test_a_merge_that_fails_leaves_the_others(table: Table) -> None:
    first, *_ = ArticleStore(table).store_many(told_by("tiingo"))
    assert isinstance(first[1], Stored)
    watched = Interrupted(table, lambda: None, refused=[f"dedup:{first[1].dedup_key}"])
    results = ArticleStore(watched).store_many(told_by("finnhub", crawled_minute=1))
    assert isinstance(results[0][1], TableBusy)
    assert [outcome(result) for _, result in results[1:]] == [Outcome.MERGED] * 2


def test_a_merge_that_others_always_overtake_comes_again_later(table: Table) -> None:
    ArticleStore(table).store(incoming("tiingo"))

    class Overtaken(MotoTable):
        def update_many(self, changes: Sequence[Change]) -> list[bool | TableBusy | TableRefused]:
            return [False] * len(changes)

    with pytest.raises(MergeContended, match="25 merges"):
        ArticleStore(Overtaken(table.name, table.client)).store(incoming("finnhub", crawled_minute=1))


def test_words_of_one_document_on_one_story_are_all_taken_in(table: Table) -> None:
    same = [incoming("tiingo", str(n), crawled_minute=n, tags=(f"tag-{n}",)) for n in range(3)]
    results = ArticleStore(table).store_many([*same, incoming("tiingo", "9", headline="Vexor")])
    assert [outcome(result) for _, result in results] == [
        Outcome.CREATED,
        Outcome.UPDATED,
        Outcome.UPDATED,
        Outcome.CREATED,
    ]
    [item] = [item for item in stored_articles(table) if item["headline"] != "Vexor"]
    assert item["tags"] == ["tag-0", "tag-1", "tag-2"]


def test_an_article_of_the_older_key_format_is_left_as_it_is(table: Table) -> None:
    old = {**keys.article_alias("tiingo", "1"), "headline": "From before", "source_id": "tiingo:1"}
    table.put(old)
    assert ArticleStore(table).store(incoming("tiingo", "1")).outcome is Outcome.UNCHANGED
    assert table.get(keys.article_alias("tiingo", "1")) == old


def test_a_headline_of_which_nothing_remains_is_refused_and_the_others_are_stored(table: Table) -> None:
    results = ArticleStore(table).store_many(
        [incoming("tiingo", "1", headline="?!"), incoming("tiingo", "2")]
    )
    assert isinstance(results[0][1], InvalidInput)
    assert len(stored_articles(table)) == 1


@pytest.mark.parametrize(
    "headline", ["Apple reports Q4 earnings beat", "Apple reports {n} earnings beat", "Apple beats 3-{n}"]
)
def test_one_document_that_reports_a_story_very_often_takes_few_requests(table: Table, headline: str) -> None:
    counting = MotoTable(table.name, table.client, shards=table.shards)
    requests: list[int] = []
    create_many = counting.create_many

    def counted(items: Sequence[Mapping[str, object]]) -> list[Item | TableBusy | TableRefused | None]:
        requests.append(len(items))
        return create_many(items)

    counting.create_many = counted  # type: ignore[method-assign]
    words = [incoming("tiingo", article_id=f"id-{n}", headline=headline.format(n=n % 3)) for n in range(300)]

    results = [outcome(result) for _, result in ArticleStore(counting).store_many(words)]

    assert results.count(Outcome.CREATED) == len({w.headline for w in words})
    assert len(stored_articles(table)) == len({w.headline for w in words})
    assert len([n for n in requests if n]) < 12
    again = [outcome(result) for _, result in ArticleStore(counting).store_many(words)]
    assert set(again) == {Outcome.UNCHANGED}
