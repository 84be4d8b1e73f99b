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
    wanted = {article["dedup_key"]["S"] for article in articles_of(stack, found)}

    def indexed() -> bool:
        # The clock calls it too, and either run may find them; readers look again after a minute.
        invoke(stack.session, name, {})
        return wanted <= {one["dedup_key"] for source in found for one in search(stack, q=f"source:{source}")}

    wait_until(indexed, 150, "an index that has every article")
    return found


def search(stack: Stack, **query: str) -> list[dict[str, Any]]:
    """Return all articles that a query finds, page by page."""
    items: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = stack.api.get("/articles", params={"limit": 100, **query, **cursor})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        items += page["items"]
        if page["next_cursor"] is None:
            return items
        cursor = {"cursor": page["next_cursor"]}


def test_an_analyzed_article_is_found_by_its_words_source_and_sentiment(
    stack: Stack, samples: dict[str, Source]
) -> None:
    article = articles_of(stack, samples)[0]
    key, headline = article["dedup_key"]["S"], article["headline"]["S"]
    source = next(iter(article["source_attribution"]["M"]))
    words = " ".join(word for word in headline.split()[:3] if word.isalnum())
    assert key in {one["dedup_key"] for one in search(stack, q=words)}
    assert key in {one["dedup_key"] for one in search(stack, q=f'"{headline}"', source=source.upper())}
    assert key not in {one["dedup_key"] for one in search(stack, q=f"{words} -source:{source}")}
    assert search(stack, q="zzzunheardof") == []


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
