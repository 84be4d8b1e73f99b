"""Search on the deployed stack: what was analyzed is found, filtered and followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sourcebook_local.folder import start_server
from sourcebook_local.samples import sample_sources
from tests.e2e.sources import articles_of, fetch, register
from tests.e2e.stack import invoke, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from sourcebook.sources.model import Source
    from tests.e2e.stack import Stack


@pytest.fixture(scope="module")
def samples(stack: Stack, home: Path) -> dict[str, Source]:
    """The sample sources, fetched once, analyzed and indexed by the function itself."""
    found = fetch(stack, register(stack, sample_sources(start_server(home).url)))
    wait_until(lambda: {a["status"]["S"] for a in articles_of(stack, found)} == {"analyzed"}, 60, "analysis")
    name = stack.outputs.api_function_name.removesuffix("api") + "index_articles"
    assert invoke(stack.session, name, {})["articles"] >= len(articles_of(stack, found))
    assert invoke(stack.session, name, {})["articles"] == 0, "it goes on from where it was"
    return found


def found(stack: Stack, **query: str) -> list[dict[str, Any]]:
    answer = stack.api.get("/articles", params={"limit": 100, **query})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def test_an_analyzed_article_is_found_by_its_words_source_and_sentiment(
    stack: Stack, samples: dict[str, Source]
) -> None:
    article = articles_of(stack, samples)[0]
    key, headline = article["dedup_key"]["S"], article["headline"]["S"]
    source = next(iter(article["source_attribution"]["M"]))
    words = " ".join(word for word in headline.split()[:3] if word.isalnum())
    assert key in {one["dedup_key"] for one in found(stack, q=words)}
    assert key in {one["dedup_key"] for one in found(stack, q=f'"{headline}"', source=source.upper())}
    assert key not in {one["dedup_key"] for one in found(stack, q=f"{words} -source:{source}")}
    assert found(stack, q="zzzunheardof") == []


def test_a_search_is_followed_and_head_and_wrong_methods_are_answered(
    stack: Stack, samples: dict[str, Source]
) -> None:
    query = {"q": f"source:{next(iter(samples))}", "limit": "100"}
    feed = stack.api.get("/articles.atom", params=query)
    assert feed.status_code == 200
    assert feed.headers["content-type"].startswith("application/atom+xml")
    assert f"{stack.api.base_url}".rstrip("/") in feed.text, "its own address is the true one"
    again = stack.api.get("/articles.atom", params=query, headers={"if-none-match": feed.headers["etag"]})
    assert again.status_code == 304
    head = stack.api.head("/articles", params={"limit": "1"})
    assert (head.status_code, head.content) == (200, b"")
    wrong = stack.api.put("/feeds")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, HEAD, OPTIONS, POST")
    unknown = stack.api.get("/nothing-here")
    assert (unknown.status_code, unknown.headers["content-type"]) == (404, "application/problem+json")
    assert stack.api.get("/openapi.json").json()["servers"][0]["url"] == str(stack.api.base_url).rstrip("/")
