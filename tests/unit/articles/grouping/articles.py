"""Articles as grouping's tests need them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sourcebook.articles.grouping.groups import Entry
from sourcebook.clock import isoformat
from sourcebook.records.article import Article
from tests.incoming import NOON


def article(key: int, headline: str, minutes: float = 0, **fields: Any) -> Article:
    """Return an analyzed article item."""
    item = {
        "dedup_key": f"{key:032x}",
        "headline": headline,
        "timestamp": isoformat(NOON + timedelta(minutes=minutes)),
        "matched_tickers": [],
        "source_attribution": {"wire": {"source_name": "Wire"}},
        "status": "analyzed",
        "sentiment": "neutral",
        "score": 0.5,
        "polarity": 0.0,
        **fields,
    }
    return Article.of_item(item)


def entry(key: int, headline: str, minutes: float = 0, **fields: Any) -> Entry:
    return Entry.of(article(key, headline, minutes, **fields))
