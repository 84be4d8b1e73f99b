"""Search on the deployed stack: what was analyzed is found, followed, exported, and indexed again."""

from __future__ import annotations

import hashlib
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import duckdb
import httpx
import pytest
from click.testing import CliRunner

from sourcebook.clock import utc_now
from sourcebook.search.days import PREFIX
from sourcebook.sources.model import SourceSpec
from sourcebook_cli import stack as command_line
from sourcebook_cli.main import main
from sourcebook_local.folder import start_server
from sourcebook_local.samples import sample_sources
from tests.e2e.sources import articles_of, fetch, register, statuses
from tests.e2e.stack import wait_until
from tests.served import served

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from sourcebook.records.source import Source
    from tests.e2e.stack import Stack


@pytest.fixture(scope="module")
def samples(stack: Stack, home: Path) -> dict[str, Source]:
    """The sample sources, fetched once, analyzed and indexed by the function itself."""
    found = fetch(stack, register(stack, sample_sources(start_server(home).url)))
    wait_until(lambda: statuses(articles_of(stack, found)) == {"analyzed"}, 60, "analysis")
    wanted = {article["dedup_key"]["S"] for article in articles_of(stack, found)}

    def indexed() -> bool:
        # The clock calls it too, and either run may find them; readers look again after a minute.
        stack.invoke("index_articles", {})
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


@pytest.fixture
def sourcebook(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run a command on this stack, and return what it says."""
    found = command_line.Stack(stack.session, command_line._outputs(stack.session))
    monkeypatch.setattr(command_line.Stack, "connect", lambda **_: found)

    def run(*words: str) -> str:
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 0, (words, result.output, result.exception)
        return result.output

    return run


def test_a_search_is_a_feed_that_is_ingested_without_loss(stack: Stack, samples: dict[str, Source]) -> None:
    # Of the samples alone: other tests share the stack, some with headlines that are nothing but markup.
    query = urlencode({"q": f"source:{','.join(samples)}", "limit": "100"})
    wanted = {one["dedup_key"] for one in stack.api.get(f"/articles?{query}").json()["items"]}
    assert len(wanted) > 20

    def answer(method: str, path: str, headers: Mapping[str, str], body: bytes) -> Any:
        found = stack.api.get(path)
        return found.status_code, {"content-type": found.headers["content-type"]}, found.content

    with served(answer) as way:
        spec = SourceSpec(source_id="own-search", kind="feed", url=f"{way.url}/articles.atom?{query}")
        after = fetch(stack, register(stack, [spec]))["own-search"]
    assert after.consecutive_errors == 0
    assert after.last_entries == len(wanted)
    stored = {article["dedup_key"]["S"] for article in articles_of(stack, ["own-search"])}
    assert stored == wanted


def test_a_lost_and_a_damaged_day_are_made_again(
    stack: Stack, samples: dict[str, Source], sourcebook: Callable[..., str]
) -> None:
    everything = {one["dedup_key"] for one in search(stack, q="since:31d")}
    s3, bucket = stack.session.client("s3"), stack.outputs.bucket_name
    # A rebuild makes the last month; other tests of this stack may have brought articles of years.
    begun = f"{PREFIX}{utc_now() - timedelta(days=30):%Y-%m-%d}"

    def recent() -> list[str]:
        pages: Any = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=PREFIX)
        found = (one["Key"] for page in pages for one in page.get("Contents", ()))
        return sorted(name for name in found if name >= begun)

    days = recent()
    s3.put_object(Bucket=bucket, Key=days[0], Body=b"no index")
    if len(days) > 1:
        s3.delete_object(Bucket=bucket, Key=days[-1])
    assert " articles in " in sourcebook("search", "rebuild")
    assert recent() == days
    # Readers keep what they know for a minute.
    wait_until(
        lambda: everything <= {one["dedup_key"] for one in search(stack, q="since:31d")},
        150,
        "all that was found before",
        interval=5,
    )


def test_days_are_exported_and_read_as_they_lie(
    stack: Stack, samples: dict[str, Source], sourcebook: Callable[..., str], tmp_path: Path
) -> None:
    newest = search(stack, q="since:3d")
    days = sorted(one["timestamp"][:10] for one in newest)
    until = (date.fromisoformat(days[-1]) + timedelta(days=1)).isoformat()
    said = sourcebook("export", days[0], until, "--to", str(tmp_path))
    export_id = f"{days[0]}_{until}"
    assert f"exports/manifests/{export_id}.json" in said
    with duckdb.connect() as database:
        rows = database.execute(f"FROM '{tmp_path}/exports/parquet/articles/*/*.parquet'").df()
    found = {row.dedup_key: row for row in rows.itertuples()}
    for article in newest:
        row: Any = found[article["dedup_key"]]
        assert (row.headline, row.sentiment, row.score) == (
            article["headline"],
            article["sentiment"],
            article["score"],
        )
    assert export_id in {one["export_id"] for one in stack.api.get("/exports").json()["items"]}
    file = next(one for one in stack.api.get(f"/exports/{export_id}").json()["files"] if one["rows"])
    link = stack.api.get(f"/exports/{export_id}/files/{file['name']}")
    assert link.status_code == 302, link.text
    body = httpx.get(link.headers["location"], verify=stack.cloud.verify).content
    assert (len(body), hashlib.sha256(body).hexdigest()) == (file["bytes"], file["sha256"])


def test_overviews_show_the_runs_and_the_sources(stack: Stack, samples: dict[str, Source]) -> None:
    runs = stack.api.get("/overviews/ingestion").json()
    assert runs["batches"] >= 1
    assert runs["articles_fetched"] >= runs["articles_stored"] > 0
    sources = {one["source_id"]: one for one in stack.api.get("/overviews/sources").json()["items"]}
    assert set(samples) <= set(sources)
    assert any(one["mean_age_seconds"] is not None for one in sources.values())
    letters = stack.api.get("/overviews/dead-letters").json()["items"]
    assert [one["queue"] for one in letters] == ["analyze", "fetch", "group", "ideas", "new-articles"]
