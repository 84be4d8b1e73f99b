"""One source's report of a story, with defaults for what a test leaves open, and the articles stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sourcebook.articles.model import IncomingArticle, parse_incoming
from sourcebook.articles.waiting import list_as_pending
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)


def incoming(source: str, article_id: str = "1", crawled_minute: int = 0, **fields: Any) -> IncomingArticle:
    return parse_incoming(
        {
            "source": source,
            "article_id": article_id,
            "url": f"https://{source}.example/{article_id}",
            "headline": "Apple reports Q4 earnings beat",
            "published_at": NOON,
            "crawled_at": NOON + timedelta(minutes=crawled_minute),
            **fields,
        }
    )


def stored_articles(table: Table) -> list[Item]:
    """Return the articles of the table as they are stored, in the order of their time."""
    found = (item for item in table.scan_all() if item.get("entity_type") == "Article")
    return sorted(found, key=lambda item: (item["timestamp"], item["PK"]))


def list_new_articles(table: Table) -> None:
    """Enter the new articles into by_status, as reading the table's stream does."""
    assert list_as_pending(table, [item["PK"] for item in stored_articles(table)]) == {}
