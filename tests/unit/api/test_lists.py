"""Lists of articles against a plain list in memory."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from boto3.dynamodb.conditions import ConditionBase
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.articles.read import ArticleFilter, ArticleReader
from sourcebook.errors import InvalidInput
from sourcebook.table.client import QueryPage
from sourcebook.table.pages import Listing
from tests.unit.api.memory import MemoryTable
from tests.unit.api.stored import analyze, article_item, key, put_article

START = datetime(2026, 11, 27, 21, 0, tzinfo=UTC)
TAGS = ("AAPL", "rates, bonds", "東京")


KINDS = [
    *(("pending", None), ("error", None), ("pending", None)),
    *(("analyzed", "positive"), ("analyzed", "neutral"), ("analyzed", "negative")),
]


def stored_article(number: int, choice: int) -> dict[str, Any]:
    """Return an article whose kind, time and tags follow from one number; many share a time."""
    choice, kind = divmod(choice, len(KINDS))
    tag_set, seconds = divmod(choice, 5)
    status, sentiment = KINDS[kind]
    tags = tuple(tag for bit, tag in enumerate(TAGS) if tag_set >> bit & 1)
    published = START + timedelta(seconds=seconds)
    return article_item(key(number), published, status=status, sentiment=sentiment, tags=tags)


stored_articles = st.lists(st.integers(0, len(KINDS) * 5 * 2 ** len(TAGS) - 1), max_size=24).map(
    lambda choices: [stored_article(number, choice) for number, choice in enumerate(choices)]
)
moments = st.none() | st.integers(-1, 11).map(lambda halves: START + timedelta(seconds=halves / 2))


@st.composite
def filters(draw: st.DrawFn) -> ArticleFilter:
    since, until = draw(moments), draw(moments)
    if since and until and since >= until:
        since, until = until, since + timedelta(milliseconds=1)
    return ArticleFilter(
        status=draw(st.none() | st.sampled_from(["pending", "analyzed", "error"])),
        sentiment=draw(st.none() | st.sampled_from(["positive", "neutral", "negative"])),
        tag=draw(st.none() | st.sampled_from(TAGS)),
        since=since,
        until=until,
    )


def brute_force(articles: list[dict[str, Any]], wanted: ArticleFilter) -> list[dict[str, Any]]:
    def holds(article: dict[str, Any]) -> bool:
        published = datetime.fromisoformat(article["timestamp"])
        return (
            wanted.status in {None, article["status"]}
            and wanted.sentiment in {None, article["sentiment"]}
            # A tag is found through its mentions, which analysis writes.
            and (wanted.tag is None or (article["status"] == "analyzed" and wanted.tag in article["tags"]))
            and (wanted.since is None or published >= wanted.since)
            and (wanted.until is None or published < wanted.until)
        )

    return sorted(filter(holds, articles), key=lambda article: article["timestamp"], reverse=True)


def read_all(
    reader: ArticleReader,
    wanted: ArticleFilter,
    limit: int,
    between: Callable[[list[str]], None] = lambda _seen: None,
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    for _ in range(200):
        page = reader.page(wanted, limit=limit, cursor=cursor)
        assert len(page.items) <= limit
        found += [article.shown() for article in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return found
        between([article.shown()["dedup_key"] for article in page.items])
    raise AssertionError("the list has no end")


many_examples = settings(max_examples=100, deadline=None)


@many_examples
@given(articles=stored_articles, wanted=filters(), limit=st.integers(1, 12))
def test_paging_gives_exactly_the_articles_that_hold(
    articles: list[dict[str, Any]], wanted: ArticleFilter, limit: int
) -> None:
    table = MemoryTable()
    for article in articles:
        put_article(table, article)

    found = read_all(ArticleReader(table), wanted, limit)

    expected = brute_force(articles, wanted)
    assert [article["timestamp"] for article in found] == [article["timestamp"] for article in expected]
    assert sorted(article["dedup_key"] for article in found) == sorted(
        article["dedup_key"] for article in expected
    )


@many_examples
@given(articles=stored_articles, limit=st.integers(1, 6), data=st.data())
def test_articles_that_are_analyzed_between_pages_are_given_once(
    articles: list[dict[str, Any]], limit: int, data: st.DataObject
) -> None:
    table = MemoryTable()
    for article in articles:
        put_article(table, article)
    by_key = {article["dedup_key"]: article for article in articles}
    pending = {dedup for dedup, article in by_key.items() if article["status"] == "pending"}

    def analyze_some(just_given: list[str]) -> None:
        # Those on the page just given, the boundary among them, and any others.
        chosen = set(data.draw(st.lists(st.sampled_from(sorted(pending))))) if pending else set()
        for dedup in sorted((chosen | set(just_given)) & pending):
            analyze(table, by_key[dedup])
            pending.discard(dedup)

    found = read_all(ArticleReader(table), ArticleFilter(), limit, analyze_some)

    assert sorted(article["dedup_key"] for article in found) == sorted(by_key)


@many_examples
@given(articles=stored_articles, limit=st.integers(1, 6), data=st.data())
def test_pending_articles_that_stay_pending_are_given_once_while_others_leave(
    articles: list[dict[str, Any]], limit: int, data: st.DataObject
) -> None:
    table = MemoryTable()
    for article in articles:
        put_article(table, article)
    by_key = {article["dedup_key"]: article for article in articles if article["status"] == "pending"}
    leaving = set(data.draw(st.lists(st.sampled_from(sorted(by_key))))) if by_key else set()

    def analyze_those_given(just_given: list[str]) -> None:
        for dedup in leaving & set(just_given):
            analyze(table, by_key[dedup])

    found = read_all(ArticleReader(table), ArticleFilter(status="pending"), limit, analyze_those_given)

    assert sorted(article["dedup_key"] for article in found) == sorted(by_key)


def test_a_thousand_articles_of_one_second_are_paged_with_few_queries() -> None:
    table = MemoryTable()
    for number in range(1_000):
        put_article(table, article_item(key(number), START))
    reader = ArticleReader(table)
    first = reader.page(ArticleFilter(), limit=20)
    table.queries = 0

    second = reader.page(ArticleFilter(), limit=20, cursor=first.next_cursor)

    assert len({article.shown()["dedup_key"] for article in (*first.items, *second.items)}) == 40
    assert table.queries <= 8


class CountingTable(MemoryTable):
    """Counts the keys that queries have read."""

    keys_read = 0

    def query(self, condition: ConditionBase, **options: Any) -> QueryPage:
        page = super().query(condition, **options)
        self.keys_read += len(page.items)
        return page


def many_of_one_second(count: int) -> tuple[CountingTable, list[str]]:
    """Return a table with articles of every status at one second, and a few before and after it."""
    table = CountingTable()
    statuses = (("pending", None), ("error", None), ("analyzed", "neutral"), ("analyzed", "positive"))
    for number in range(count):
        status, sentiment = statuses[number % 4]
        second = {0: 1, 1: -1}.get(number, 0)
        published = START + timedelta(seconds=second)
        table.put(article_item(key(number), published, status=status, sentiment=sentiment))
    return table, [key(number) for number in range(count)]


@pytest.mark.parametrize("wanted", [ArticleFilter(), ArticleFilter(until=START + timedelta(seconds=1))])
def test_each_page_of_thousands_of_one_second_reads_few_keys(wanted: ArticleFilter) -> None:
    table, expected = many_of_one_second(1_500)
    reader = ArticleReader(table)
    found: list[str] = []
    cursor, most_keys, most_queries = None, 0, 0
    while True:
        table.keys_read = table.queries = 0
        page = reader.page(wanted, limit=100, cursor=cursor)
        most_keys, most_queries = max(most_keys, table.keys_read), max(most_queries, table.queries)
        found += [article.shown()["dedup_key"] for article in page.items]
        if (cursor := page.next_cursor) is None:
            break

    assert len(found) == len(set(found)), "none is given twice"
    assert set(expected) - set(found) == ({key(0)} if wanted.until else set()), "none is lost"
    assert most_keys <= 2_000
    assert most_queries <= 12


def test_a_cursor_from_before_the_many_came_continues_where_it_stood() -> None:
    table, expected = many_of_one_second(1_200)
    few = sorted(expected[1:])[::10]
    before = MemoryTable()
    before.items = {place: item for place, item in table.items.items() if item["dedup_key"] in few}
    first = ArticleReader(before).page(ArticleFilter(until=START + timedelta(seconds=1)), limit=30)
    assert first.next_cursor is not None
    given = [article.shown()["dedup_key"] for article in first.items]

    found: list[str] = []
    cursor: str | None = first.next_cursor
    while cursor is not None:
        page = ArticleReader(table).page(
            ArticleFilter(until=START + timedelta(seconds=1)), limit=100, cursor=cursor
        )
        found += [article.shown()["dedup_key"] for article in page.items]
        cursor = page.next_cursor

    assert len(found) == len(set(found))
    assert not set(given) & set(found)
    assert set(few) - set(given) <= set(found)


def test_none_of_very_many_is_lost_while_they_are_analyzed() -> None:
    table = MemoryTable()
    articles = [article_item(key(number), START) for number in range(1_200)]
    for article in articles:
        table.put(article)
    by_key = {article["dedup_key"]: article for article in articles}
    left = sorted(by_key)

    def analyze_some(just_given: list[str]) -> None:
        for dedup in {*just_given[::3], *(left.pop() for _ in range(min(40, len(left))))}:
            table.put(by_key[dedup] | {"status": "analyzed", "sentiment": "neutral"})

    found = read_all(ArticleReader(table), ArticleFilter(), 100, analyze_some)

    assert {article["dedup_key"] for article in found} == set(by_key)


@pytest.mark.parametrize("part", ["nothing", "analyzed "])
def test_a_cursor_in_a_status_that_there_is_not_is_refused(part: str) -> None:
    listing = Listing.of("articles", {})
    cursor = listing.cursor(("2026-11-27T21:00:00Z", "NEWS#1", part))
    with pytest.raises(InvalidInput, match="next_cursor"):
        ArticleReader(MemoryTable()).page(ArticleFilter(), limit=5, cursor=cursor)


@pytest.mark.parametrize("timestamp", ["yesterday", "2026-11-27T21:00:00", "0001-01-01T00:00:00+05:00"])
def test_a_cursor_at_no_time_is_refused(timestamp: str) -> None:
    cursor = Listing.of("articles", {}).cursor((timestamp, "NEWS#1"))
    with pytest.raises(InvalidInput, match="next_cursor"):
        ArticleReader(MemoryTable()).page(ArticleFilter(), limit=5, cursor=cursor)
