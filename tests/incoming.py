"""One source's report of a story, with defaults for what a test leaves open."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sourcebook.articles.model import IncomingArticle, parse_incoming

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
