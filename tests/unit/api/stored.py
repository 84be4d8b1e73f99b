"""Items as ingestion, analysis and polling leave them in the table."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sourcebook.clock import epoch_seconds, isoformat
from sourcebook.records.article import Article
from sourcebook.sentiment.mentions import mention_items
from sourcebook.sources.model import SourceSpec, state_item
from sourcebook.table import keys
from sourcebook.table.client import Table


def key(number: int) -> str:
    """Return the dedup key of an article whose number says nothing of its place among the others."""
    return f"{number * 7919 % 10_007:032x}"


def article_item(
    dedup_key: str,
    published: datetime,
    *,
    status: str = "pending",
    sentiment: str | None = None,
    tags: tuple[str, ...] = (),
) -> dict[str, Any]:
    timestamp = isoformat(published)
    return {
        **keys.article(dedup_key),
        "entity_type": "Article",
        "schema_version": "1",
        "source_id": f"dedup:{dedup_key}",
        "timestamp": timestamp,
        "dedup_key": dedup_key,
        "headline": f"Headline {dedup_key[-4:]}",
        "normalized_headline": f"headline {dedup_key[-4:]}",
        "sources": ["harbor-ledger"],
        "source_attribution": {
            "harbor-ledger": {
                "article_id": f"id-{dedup_key[-4:]}",
                "url": f"https://ledger.example/{dedup_key[-4:]}",
                "crawl_timestamp": timestamp,
                "original_headline": f"Headline {dedup_key[-4:]}",
                "published_at": timestamp,
            }
        },
        "status": status,
        "sentiment": sentiment,
        "score": 0.75 if sentiment else None,
        "polarity": 0.5 if sentiment else None,
        "matched_tickers": [],
        "tags": list(tags),
        "text_for_analysis": "Text.",
        "text_source": "harbor-ledger",
        "ttl_timestamp": epoch_seconds(published) + 30 * 86_400,
        "created_at": timestamp,
        "updated_at": timestamp,
        "revision": 1,
    }


def put_article(table: Table, item: dict[str, Any]) -> dict[str, Any]:
    """Store an article, and its mentions if it is analyzed."""
    table.put(item)
    if item["status"] == "analyzed":
        for mention in mention_items(Article.of_item(item)):
            table.put(mention)
    return item


def analyze(table: Table, item: dict[str, Any], sentiment: str = "neutral") -> None:
    """Do what analysis does to a pending article."""
    put_article(table, item | {"status": "analyzed", "sentiment": sentiment, "score": 0.5, "polarity": 0.0})


def put_source(table: Table, source_id: str, due: str, *, kind: str = "feed", **state: Any) -> dict[str, Any]:
    """Store a source that is due at a time, or to be probed then if it is disabled."""
    enabled = state.get("enabled", True)
    spec = SourceSpec(
        source_id=source_id,
        kind=kind,
        url=f"https://{source_id}.example/feed",
        name=source_id.title(),
        enabled=enabled,
    )
    index = keys.due(source_id, due) if enabled else keys.disabled(source_id, due)
    item = state_item(spec, now="2026-11-27T20:00:00Z") | {"next_fetch_time": due, **index} | state
    table.put(item)
    return item
