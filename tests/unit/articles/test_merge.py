from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.articles.merge import merged, new_article
from sourcebook.articles.model import IncomingArticle, parse_incoming
from sourcebook.articles.normalize import identify
from sourcebook.errors import InvalidInput
from sourcebook.records.article import Article
from sourcebook.records.base import changes
from sourcebook.table import keys

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)


def incoming(source: str, crawled_minute: int = 0, **fields: Any) -> IncomingArticle:
    return parse_incoming(
        {
            "source": source,
            "article_id": f"{source}-1",
            "url": f"https://{source}.example/1",
            "headline": "Harbour reopens after the storm",
            "published_at": NOON,
            "crawled_at": NOON + timedelta(minutes=crawled_minute),
            **fields,
        }
    )


def article_of(words: list[IncomingArticle]) -> Article:
    first, *others = words
    identity = identify(first.headline, first.published_at)
    article = new_article(first, identity, identity.dedup_key)
    for other in others:
        article = written(article, merged(article, other))
    return article


def written(before: Article, after: Article) -> Article:
    """Return what an article's item is read as, after the changes that were to be made of it."""
    item: dict[str, Any] = before.to_item(keys.article(before.dedup_key))
    for path, value in changes(before, after).items():
        if isinstance(path, tuple):
            item[path[0]] = {**item[path[0]], path[1]: value}
        elif value is None:
            item.pop(path, None)
        else:
            item[path] = value
    assert Article.of_item(item) == after
    return after


def deliver(words: list[IncomingArticle]) -> dict[str, Any]:
    article = article_of(words)
    return article.to_item(keys.article(article.dedup_key))


def canonical(item: dict[str, Any]) -> str:
    return json.dumps(item, sort_keys=True)


words = st.lists(
    st.builds(
        incoming,
        st.sampled_from(["tiingo", "finnhub", "harbor-ledger"]),
        st.integers(0, 3),
        text=st.sampled_from(["", "The port authority said so.", "Ships wait."]),
        tickers=st.sets(st.sampled_from(["AAPL", "MSFT", "SHIP"])).map(tuple),
        tags=st.sets(st.sampled_from(["shipping", "weather"])).map(tuple),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda article: article.source,
)


@given(words)
def test_any_order_of_deliveries_ends_in_the_same_article(words: list[IncomingArticle]) -> None:
    assert len({canonical(deliver(list(order))) for order in permutations(words)}) == 1


@given(words, st.randoms())
def test_repeated_deliveries_change_nothing(words: list[IncomingArticle], random: Any) -> None:
    article = article_of(words)
    again = words * 3
    random.shuffle(again)
    assert all(merged(article, word) is article for word in again)


@pytest.mark.parametrize("ids", [("1", "2"), ("2", "1")])
def test_two_articles_of_a_source_under_one_headline_change_nothing_when_reported_again(
    ids: tuple[str, str],
) -> None:
    both = [incoming("wire", article_id=id_, text=f"What {id_} says.") for id_ in ids]
    article = article_of([incoming("harbour", 1, text="Something else."), *both])
    assert article.text_for_analysis == "What 1 says.", "that of the one that speaks for the source"
    again = [incoming("wire", 30, article_id=id_, text=f"What {id_} says.") for id_ in ids]
    assert all(merged(article, one) is article for one in again)


def test_sources_are_ordered_by_when_they_provided_the_article() -> None:
    item = deliver([incoming("tiingo", 5), incoming("finnhub", 1), incoming("harbor-ledger", 3)])
    assert item["sources"] == ["finnhub", "harbor-ledger", "tiingo"]


def test_the_first_source_gives_the_headline_and_each_keeps_its_own() -> None:
    item = deliver(
        [incoming("tiingo", 5, headline="Harbour reopens after the storm!"), incoming("finnhub", 1)]
    )
    assert item["headline"] == "Harbour reopens after the storm"
    attributions = item["source_attribution"]
    assert attributions["tiingo"]["original_headline"] == "Harbour reopens after the storm!"


@pytest.mark.parametrize("at", [1, 5])
def test_the_headline_has_no_entities_and_its_source_keeps_them(at: int) -> None:
    encoded = "Storm &amp;amp; surf close the harbour, says Kov&aacute;cs &#8217;&amp"
    item = deliver(
        [incoming("finnhub", 3), incoming("tiingo", at, headline=encoded), incoming("harbor-ledger", 9)]
    )
    first = "Storm & surf close the harbour, says Kovács \u2019&amp"
    assert item["headline"] == (first if at == 1 else "Harbour reopens after the storm")
    assert item["source_attribution"]["tiingo"]["original_headline"] == encoded


def test_an_edited_headline_replaces_the_sources_own_word_and_keeps_its_first_crawl() -> None:
    item = deliver(
        [incoming("tiingo"), incoming("tiingo", 9, headline="Harbour reopens two days after the storm")]
    )
    attribution = item["source_attribution"]["tiingo"]
    assert attribution["original_headline"] == "Harbour reopens two days after the storm"
    assert attribution["crawl_timestamp"] == "2026-11-27T12:00:00Z"
    assert attribution["revised_at"] == "2026-11-27T12:09:00Z"
    assert item["headline"] == "Harbour reopens two days after the storm"


def test_an_edit_that_arrives_before_the_original_wins_all_the_same() -> None:
    original, edit = (
        incoming("tiingo"),
        incoming("tiingo", 9, headline="Harbour reopens two days after the storm"),
    )
    assert deliver([edit, original])["source_attribution"] == deliver([original, edit])["source_attribution"]


def test_a_date_in_the_future_orders_by_the_time_of_the_crawl_and_is_kept_as_given() -> None:
    item = deliver([incoming("tiingo", published_at=NOON + timedelta(days=300))])
    assert item["timestamp"] == "2026-11-27T12:00:00Z"
    assert item["source_attribution"]["tiingo"]["published_at"] == "2027-09-23T12:00:00Z"


def test_more_sources_than_are_kept_leave_the_article_as_it_is() -> None:
    article = article_of([incoming(f"source-{n:03}", n) for n in range(200)])
    assert merged(article, incoming("one-more", 300)) is article
    assert len(article.sources) == 200


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("article_id", ""),
        ("url", "harbor.example/1"),
        ("url", "javascript:alert(1)"),
        ("headline", "   "),
        ("published_at", datetime(2026, 11, 27)),  # noqa: DTZ001
        ("crawled_at", "yesterday"),
        ("source", ""),
    ],
)
def test_a_word_that_breaks_a_rule_is_refused_by_its_field(field: str, value: object) -> None:
    declared: dict[str, Any] = {"source": "tiingo", field: value}
    with pytest.raises(InvalidInput) as refused:
        incoming(**declared)
    assert refused.value.field == field
