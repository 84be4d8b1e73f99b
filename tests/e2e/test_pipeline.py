"""Feeds in, answers out, on the deployed stack with IAM and TLS on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.clock import utc_now
from sourcebook_local.folder import feeds_in, start_server
from sourcebook_local.project import ROOT
from sourcebook_local.samples import expected, sample_sources
from tests.e2e.sources import (
    REQUIRED,
    articles_of,
    everything,
    fetch,
    group_now,
    keys_by_status,
    register,
    registry,
    stage,
    statuses,
    wait_for_fetches,
    write_feeds,
)
from tests.e2e.stack import wait_until

if TYPE_CHECKING:
    from sourcebook.records.source import Source
    from tests.e2e.stack import Stack

SHARED = Path(os.environ.get("SOURCEBOOK_SHARED", ROOT.parent / "shared"))


@pytest.fixture(scope="module")
def samples(stack: Stack, home: Path) -> dict[str, Source]:
    """The sample sources, fetched once."""
    return fetch(stack, register(stack, sample_sources(start_server(home).url)))


def listed(stack: Stack, **filters: str) -> list[dict[str, Any]]:
    """Follow the pages of /articles to the end."""
    items: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = stack.api.get("/articles", params={"limit": 50, **filters, **cursor})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        items += page["items"]
        if page["next_cursor"] is None:
            return items
        cursor = {"cursor": page["next_cursor"]}


def test_every_sample_story_is_one_analyzed_article_with_every_sources_word(
    stack: Stack, samples: dict[str, Source]
) -> None:
    wanted = expected()
    # Others may have had these fetched in the same stack before.
    assert {source.last_cause for source in samples.values()} <= {"ok", "no_new_entries"}
    assert sum(source.last_entries for source in samples.values()) == wanted.entries
    items = articles_of(stack, samples)
    assert len(items) == wanted.articles
    assert statuses(items) == {"analyzed"}
    words = sum(len(item["source_attribution"]["M"]) for item in items)
    assert words == wanted.articles + wanted.merges
    assert sum(source.merged_total for source in samples.values()) == wanted.merges


def test_the_api_answers_with_what_was_ingested(stack: Stack, samples: dict[str, Source]) -> None:
    articles = listed(stack, status="analyzed")
    assert len({article["dedup_key"] for article in articles}) == len(articles) >= expected().articles
    assert all(article.keys() >= REQUIRED for article in articles)
    assert [a["timestamp"] for a in articles] == sorted((a["timestamp"] for a in articles), reverse=True)
    sentiments = {s: listed(stack, sentiment=s) for s in ("positive", "neutral", "negative")}
    assert all(sentiments.values())
    assert sum(map(len, sentiments.values())) == len(articles)
    one = articles[0]
    assert stack.api.get(f"/articles/{one['dedup_key']}").json() == one
    source, attribution = next(iter(one["source_attribution"].items()))
    assert stack.api.get(f"/articles/{source}:{attribution['article_id']}").json() == one
    tag = next(article["tags"][0] for article in articles if article["tags"])
    assert all(tag in article["tags"] for article in listed(stack, tag=tag))
    feeds = stack.api.get("/feeds", params={"limit": 100}).json()["items"]
    assert {feed["feed_id"] for feed in feeds} >= samples.keys()
    history = stack.api.get(f"/feeds/{next(iter(samples))}/history").json()["items"]
    assert history[-1]["cause"] == "ok"
    health = stack.api.get("/health")
    assert (health.status_code, health.json()["status"]) == (200, "healthy")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/articles?limit=0", 400),
        ("/articles?since=yesterday", 400),
        ("/articles?sentiment=furious", 400),
        ("/articles?cursor=xyz", 400),
        (f"/articles/{'0' * 32}", 404),
        ("/articles/harbor-ledger:no-such-id", 404),
        ("/feeds/no-such-feed", 404),
        ("/feeds/no-such-feed/history", 404),
    ],
)
def test_bad_input_and_unknown_ids_are_distinguished(stack: Stack, path: str, status: int) -> None:
    answer = stack.api.get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("application/problem+json")


def measured(stack: Stack, function: str) -> set[str]:
    """Return the names of the metrics that a function has written to its log."""
    lines = [json.loads(line) for line in stack.logs(function) if '"_aws"' in line]
    return {
        m["Name"] for line in lines for each in line["_aws"]["CloudWatchMetrics"] for m in each["Metrics"]
    }


def test_the_functions_write_the_metrics_of_the_design(stack: Stack, samples: dict[str, Source]) -> None:
    wanted = {
        "feed_fetch_duration_seconds",
        "articles_parsed_total",
        "articles_deduplicated_total",
        "articles_inserted_total",
        "feed_fetch_errors_total",
        "average_refresh_interval_seconds",
        "memory_usage_bytes",
        "database_connection_pool_size",
    }
    assert wait_until(lambda: wanted <= measured(stack, "fetch_sources"), 60, "the metrics of a fetch")
    one = registry(stack).get_many([next(iter(samples))])
    # A dispatch that finds nothing due measures nothing. The schedule may be faster than this call.
    registry(stack).make_due(*one)
    stack.invoke("dispatch_sources", {})
    assert wait_until(lambda: "queue_size" in measured(stack, "dispatch_sources"), 60, "those of a dispatch")
    wait_for_fetches(stack, one)


def check_second_pass(stack: Stack, sources: dict[str, Source]) -> None:
    """A second pass over unchanged feeds writes each source's state and nothing else."""
    # Grouping goes on in its own time after the analysis, and marks articles with their event.
    group_now(stack, timeout=300)
    before = everything(stack)
    after_sources = fetch(stack, registry(stack).get_many(sources))
    after = everything(stack)
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    ours = {(f"SOURCE#{source_id}", "STATE") for source_id in sources}
    by_the_clock = ("WORKFLOW#dispatch_sources", "WORKFLOW#index_articles", "TOOL#", "CACHE#", "EVENT#")
    scheduled = {key for key in changed if key[0].startswith(by_the_clock)}
    assert changed - scheduled == ours
    for source_id, source in after_sources.items():
        assert source.last_cause == "not_modified"
        assert source.created_total == sources[source_id].created_total


def test_a_second_pass_over_unchanged_samples_creates_and_publishes_nothing(
    stack: Stack, samples: dict[str, Source]
) -> None:
    check_second_pass(stack, samples)


def test_killing_fetch_mid_run_loses_no_article_and_makes_none_twice(
    stack: Stack, home: Path, tmp_path: Path
) -> None:
    write_feeds(tmp_path, feeds=12, entries=10, now=utc_now(), theme="crash")
    server = start_server(home, tmp_path)
    # The last feeds answer late, so that the function is still at work when the first ones are stored.
    stage(server.url, *({"path": f"/feeds/crash-{n}.rss", "times": 1, "delay": 4} for n in (8, 9, 10, 11)))
    before = register(stack, [spec for _, spec in feeds_in(tmp_path, server.url)[0]])
    stack.invoke("dispatch_sources", {"source_ids": list(before)})
    wait_until(lambda: len(articles_of(stack, before)) >= 5, 60, "the first articles", interval=0.05)
    assert stack.kill_function_workers("fetch_sources")
    done = {id_ for id_, s in registry(stack).get_many(before).items() if s.fetch_count}
    assert done != before.keys(), "it was killed too late to prove anything"
    stack.invoke("dispatch_sources", {})
    wait_for_fetches(stack, before)
    articles = articles_of(stack, before)
    assert len(articles) == 120
    assert statuses(articles) == {"analyzed"}
    assert all(len(article["source_attribution"]["M"]) == 1 for article in articles)


@pytest.mark.skipif(
    not (SHARED / "data" / "feeds").is_dir(),
    reason="the folder of real feeds (shared/data/feeds) is not here",
)
def test_real_feeds_are_ingested_and_a_second_pass_changes_nothing(stack: Stack, home: Path) -> None:
    folder = SHARED / "data" / "feeds"
    server = start_server(home, folder)
    specs = [spec for _, spec in feeds_in(folder, server.url)[0]]
    assert len(specs) == 153
    sources = fetch(stack, register(stack, specs), timeout=420)
    failing = {s.source_id: s.last_cause for s in sources.values() if s.consecutive_errors}
    assert len(specs) - len(failing) >= 150, failing
    assert all(failing.values())
    articles = articles_of(stack, sources)
    assert len(articles) > 2_500
    assert all(article.keys() >= REQUIRED - {"status"} for article in articles)
    assert statuses(articles) == {"analyzed"}
    assert not keys_by_status(stack, "error")
    check_second_pass(stack, {id_: source for id_, source in sources.items() if id_ not in failing})
