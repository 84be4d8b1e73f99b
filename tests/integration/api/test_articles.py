"""Lists of articles against a plain list in memory, and single articles by every kind of key."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from sourcebook.articles.read import ArticleFilter, ArticleReader
from sourcebook.errors import InvalidInput
from sourcebook.table import keys, pages
from sourcebook.table.client import Table
from tests.unit.api.stored import article_item, key, put_article
from tests.unit.api.test_lists import read_all

pytestmark = pytest.mark.integration

START = datetime(2026, 11, 27, 21, 0, tzinfo=UTC)


@pytest.mark.parametrize("limit", [1, 4, 100])
@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        (ArticleFilter(), range(12)),
        (ArticleFilter(status="pending"), range(0, 12, 3)),
        (ArticleFilter(status="analyzed", since=START + timedelta(seconds=1)), [4, 5, 7, 8, 10, 11]),
        (ArticleFilter(sentiment="positive", until=START + timedelta(seconds=2)), [1, 4, 7]),
        (ArticleFilter(tag="AAPL", sentiment="neutral"), range(2, 12, 3)),
    ],
)
def test_a_list_is_paged_through_the_indexes_of_the_deployed_table(
    table: Table, wanted: ArticleFilter, numbers: list[int], limit: int
) -> None:
    for number in range(12):
        sentiment = [None, "positive", "neutral"][number % 3]
        put_article(
            table,
            article_item(
                key(number),
                START + timedelta(seconds=number // 4),
                status="analyzed" if sentiment else "pending",
                sentiment=sentiment,
                tags=("AAPL",),
            ),
        )

    found = read_all(ArticleReader(table), wanted, limit)

    assert sorted(article["dedup_key"] for article in found) == sorted(key(number) for number in numbers)
    times = [article["timestamp"] for article in found]
    assert times == sorted(times, reverse=True)


def test_an_expired_article_is_left_out_and_the_page_is_filled_with_others(table: Table) -> None:
    for number in range(6):
        put_article(
            table,
            article_item(
                key(number),
                START + timedelta(seconds=number),
                status="analyzed",
                sentiment="neutral",
                tags=("AAPL",),
            ),
        )
    table.delete(keys.article(key(5)))  # its mention is still there

    page = ArticleReader(table).page(ArticleFilter(tag="AAPL"), limit=3)

    assert [article.shown()["dedup_key"] for article in page.items] == [key(4), key(3), key(2)]


def test_other_items_in_an_index_partition_do_not_count(table: Table) -> None:
    put_article(table, article_item(key(1), START, status="error"))
    run = {
        "PK": "WORKFLOW#x",
        "SK": f"{keys.JOB_RUN_PREFIX}x",
        "status": "error",
        "timestamp": "2026-11-27T21:00:01Z",
    }
    table.put(run)

    reader = ArticleReader(table)

    for wanted in (ArticleFilter(status="error"), ArticleFilter()):
        assert [one.shown()["dedup_key"] for one in reader.page(wanted, limit=10).items] == [key(1)]


def test_an_article_of_the_older_format_stands_in_lists(table: Table) -> None:
    older = {
        **keys.article_alias("tiingo", "91144751"),
        "source_id": "tiingo:91144751",
        "timestamp": "2026-11-27T21:00:00Z",
        "status": "analyzed",
        "sentiment": "positive",
        "source_type": "tiingo",
    }
    table.put(older)

    reader = ArticleReader(table)

    served = {name: value for name, value in older.items() if name not in {"PK", "SK"}}
    for wanted in (ArticleFilter(), ArticleFilter(status="analyzed"), ArticleFilter(sentiment="positive")):
        assert [one.shown() for one in reader.page(wanted, limit=10).items] == [served]


def test_a_rare_combination_ends_a_page_early_with_a_cursor_and_loses_nothing(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "READ_AT_MOST", 5)
    for number in range(23):
        sentiment = "negative" if number in {2, 11} else "positive"
        put_article(
            table,
            article_item(
                key(number),
                START + timedelta(seconds=number),
                status="analyzed",
                sentiment=sentiment,
                tags=("AAPL",),
            ),
        )
    reader = ArticleReader(table)
    wanted = ArticleFilter(tag="AAPL", sentiment="negative")

    first = reader.page(wanted, limit=10)
    assert first.items == []
    assert first.next_cursor is not None
    assert [article["dedup_key"] for article in read_all(reader, wanted, 10)] == [key(11), key(2)]


@pytest.mark.parametrize(
    ("made_for", "used_with"),
    [
        (ArticleFilter(), ArticleFilter(status="pending")),
        (ArticleFilter(status="pending"), ArticleFilter()),
        (ArticleFilter(tag="AAPL"), ArticleFilter(tag="rates, bonds")),
        (ArticleFilter(until=START + timedelta(hours=1)), ArticleFilter(until=START + timedelta(hours=2))),
    ],
)
def test_a_cursor_is_refused_with_other_filters(
    table: Table, made_for: ArticleFilter, used_with: ArticleFilter
) -> None:
    for number in range(3):
        put_article(table, article_item(key(number), START))
    for number in range(3, 6):
        put_article(
            table, article_item(key(number), START, status="analyzed", sentiment="neutral", tags=("AAPL",))
        )
    reader = ArticleReader(table)
    cursor = reader.page(made_for, limit=1).next_cursor
    assert cursor is not None

    with pytest.raises(InvalidInput) as refused:
        reader.page(used_with, limit=1, cursor=cursor)
    assert refused.value.field == "cursor"
    assert len(reader.page(made_for, limit=2, cursor=cursor).items) == 2, "the limit may change"


def test_the_same_bounds_in_other_words_continue_the_same_list(table: Table) -> None:
    for number in range(3):
        put_article(table, article_item(key(number), START))
    reader = ArticleReader(table)
    midnight = datetime(2026, 11, 27, tzinfo=UTC)
    cursor = reader.page(ArticleFilter(since=midnight), limit=1).next_cursor
    same = ArticleFilter(since=midnight.astimezone(tz=None))
    assert len(reader.page(same, limit=5, cursor=cursor).items) == 2


def test_bounds_between_two_seconds_hold_nothing(table: Table) -> None:
    put_article(table, article_item(key(1), START))
    between = ArticleFilter(
        since=START + timedelta(milliseconds=200), until=START + timedelta(milliseconds=300)
    )
    assert ArticleReader(table).page(between, limit=5).items == []


def test_until_must_be_later_than_since() -> None:
    with pytest.raises(InvalidInput) as refused:
        ArticleFilter(since=START, until=START)
    assert refused.value.field == "until"


class Requests:
    """Counts what a table is asked."""

    def __init__(self, table: Table) -> None:
        self.asked: list[str] = []
        table.client.meta.events.register("before-send.dynamodb", self._count)

    def _count(self, event_name: str, **_: Any) -> None:
        self.asked.append(event_name.rpartition(".")[2])


def test_an_article_that_is_analyzed_anew_is_listed_once_and_as_pending(table: Table) -> None:
    for number, (status, sentiment) in enumerate(
        [("analyzed", "positive"), ("pending", "positive"), ("pending", None), ("error", "neutral")]
    ):
        put_article(table, article_item(key(number), START, status=status, sentiment=sentiment))
    new = article_item(key(4), START, sentiment="negative")
    table.put({name: value for name, value in new.items() if name != "status"})
    numbers = {key(number): number for number in range(5)}

    def listed(wanted: ArticleFilter) -> list[tuple[int, str]]:
        shown = read_all(ArticleReader(table), wanted, 2)
        return sorted((numbers[one["dedup_key"]], one["status"]) for one in shown)

    analyzed, waiting = [(0, "analyzed"), (4, "analyzed")], [(1, "pending"), (2, "pending")]
    assert listed(ArticleFilter()) == sorted([*analyzed, *waiting, (3, "error")])
    assert listed(ArticleFilter(status="analyzed")) == analyzed
    assert listed(ArticleFilter(status="pending")) == waiting
    assert listed(ArticleFilter(status="error")) == [(3, "error")]
    assert listed(ArticleFilter(sentiment="positive")) == [(0, "analyzed"), (1, "pending")]


@pytest.mark.parametrize(
    ("wanted", "values"),
    [
        (ArticleFilter(status="analyzed"), 3),
        (ArticleFilter(tag="AAPL"), 1),
        (ArticleFilter(sentiment="neutral"), 1),
        (ArticleFilter(), 5),
    ],
)
def test_a_page_costs_a_query_for_each_partition_and_one_batch_get(
    table: Table, wanted: ArticleFilter, values: int
) -> None:
    for number in range(40):
        published = START + timedelta(minutes=number)
        put_article(
            table,
            article_item(key(number), published, status="analyzed", sentiment="neutral", tags=("AAPL",)),
        )
    requests = Requests(table)

    page = ArticleReader(table).page(wanted, limit=20)

    assert len(page.items) == 20
    assert page.next_cursor is not None
    partitions = values if wanted.tag else values * table.shards.count
    assert requests.asked == [*["Query"] * partitions, "BatchGetItem"]


DEDUP = "a948904f2f0f479b8f8197694b30184b"


@pytest.fixture
def reader(table: Table) -> ArticleReader:
    put_article(table, article_item(DEDUP, START))
    for article_id in (
        "91144751",
        "https://ledger.example/a?b=c&d=%20e",
        "tag:ledger.example,2026:1",
        "50%25",
        "a b",
    ):
        table.put(
            keys.article_alias("harbor-ledger", article_id)
            | {"entity_type": "ArticleAlias", "schema_version": "1", "dedup_key": DEDUP}
        )
    return ArticleReader(table)


@pytest.mark.parametrize(
    "text",
    [
        DEDUP,
        DEDUP.upper(),
        f"dedup:{DEDUP}",
        f"dedup%3A{DEDUP}",
        "harbor-ledger:91144751",
        "harbor-ledger%3A91144751",
        "harbor-ledger:https://ledger.example/a?b=c&d=%20e",
        quote("harbor-ledger:https://ledger.example/a?b=c&d=%20e", safe=""),
        quote(quote("harbor-ledger:https://ledger.example/a?b=c&d=%20e", safe=""), safe=""),
        "harbor-ledger:tag:ledger.example,2026:1",
        "harbor-ledger:50%25",
        "harbor-ledger:50%2525",
        "harbor-ledger:a%20b",
    ],
)
def test_an_article_is_found_by_every_spelling_of_its_keys(reader: ArticleReader, text: str) -> None:
    article = reader.get(text)
    assert article is not None
    assert article.shown()["dedup_key"] == DEDUP


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "dedup:",
        "nothing",
        "0" * 32,
        f"dedup:{DEDUP[:-1]}",
        f"dedup:{DEDUP}0",
        "harbor-ledger:",
        ":91144751",
        "harbor-ledger:9",
        "harbor-ledger:" + "x" * 3000,
        "harbor-ledger:" + "東" * 1000,
        "harbor-ledger:\ud800",
        "%",
        "%25%25%25",
    ],
)
def test_other_keys_find_nothing(reader: ArticleReader, text: str) -> None:
    assert reader.get(text) is None


def test_an_alias_whose_article_has_expired_finds_nothing(table: Table, reader: ArticleReader) -> None:
    table.delete(keys.article(DEDUP))
    assert reader.get("harbor-ledger:91144751") is None


def test_an_article_is_served_with_all_its_fields_and_nothing_internal(reader: ArticleReader) -> None:
    found = reader.get(DEDUP)
    assert found is not None
    article = found.shown()
    assert article["sentiment"] is None
    assert article["metadata"] is None
    assert article["source_id"] == f"dedup:{DEDUP}"
    assert not set(article) & {
        "PK",
        "SK",
        "entity_type",
        "schema_version",
        "revision",
        "text_source",
        "polarity",
    }


def test_an_article_of_the_older_format_is_returned_as_it_is_stored(
    table: Table, reader: ArticleReader
) -> None:
    older = {
        **keys.article_alias("tiingo", "7/8:9"),
        "source_id": "tiingo:7/8:9",
        "timestamp": "2025-12-01T00:00:00Z",
        "status": "analyzed",
        "score": 0.25,
        "matched_tags": {"AAPL"},
    }
    table.put(older)
    found = reader.get("tiingo:7%2F8:9")
    assert found is not None
    assert found.shown() == {name: value for name, value in older.items() if name not in {"PK", "SK"}}
