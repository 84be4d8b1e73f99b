"""Mentions: one item per article and tag, from which a subject's articles and sentiment are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sourcebook.events import SCHEMA_VERSION
from sourcebook.table import keys
from sourcebook.table.client import Table


def mention_items(article: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the mentions of an analyzed article, one for each of its tags.

    The class is called `label` here: an attribute `sentiment` would put every mention into the index
    by_sentiment, beside the articles it is for.
    """
    return [
        {
            **keys.article_tag(article["dedup_key"], tag),
            "entity_type": "Mention",
            "schema_version": SCHEMA_VERSION,
            "tag": tag,
            "timestamp": article["timestamp"],
            "label": article["sentiment"],
            "score": article["score"],
            "polarity": article["polarity"],
            "headline": article["headline"],
            "ttl_timestamp": article["ttl_timestamp"],
        }
        for tag in article.get("tags", ())
    ]


def write_mentions(table: Table, article: Mapping[str, Any]) -> None:
    """Write the mentions of an analyzed article; writing them again changes nothing."""
    if items := mention_items(article):
        table.put_many(items)
