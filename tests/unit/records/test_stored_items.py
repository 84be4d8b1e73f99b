"""Items of before their records were declared: each is read, and written the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from sourcebook.records.alert import AlertRule, Delivery
from sourcebook.records.subject import CacheMetadata, SentimentCacheEntry, Subject
from sourcebook.table import keys
from sourcebook.table.codec import decode_item, encode_item

if TYPE_CHECKING:
    from sourcebook.records.base import Record
    from sourcebook.table.codec import Item

STORED: Final[dict[str, tuple[type[Record], Item]]] = {
    "a rule with a webhook": (
        AlertRule,
        {
            "PK": "ALERTS",
            "SK": "RULE#00112233aabbccdd",
            "entity_type": "AlertRule",
            "schema_version": "1",
            "alert_id": "00112233aabbccdd",
            "kind": "sentiment",
            "name": "Moves of Halcyon",
            "rule": {"subject": "halcyon", "change": 0.25},
            "webhook": "https://desk.example/hook",
            "secret": "whsec_AAAA",
            "created_at": "2026-11-27T12:00:00Z",
        },
    ),
    "a rule for the bus alone": (
        AlertRule,
        {
            "PK": "ALERTS",
            "SK": "RULE#00112233aabbccdd",
            "entity_type": "AlertRule",
            "schema_version": "1",
            "alert_id": "00112233aabbccdd",
            "kind": "run",
            "name": "run",
            "rule": {},
            "created_at": "2026-11-27T12:00:00Z",
        },
    ),
    "a firing that waits": (
        Delivery,
        {
            "PK": "ALERT#00112233aabbccdd",
            "SK": "EVENT#evt_1",
            "GSI1PK": "ALERT#DUE",
            "GSI1SK": "2026-11-27T12:00:00Z#00112233aabbccdd#evt_1",
            "entity_type": "AlertDelivery",
            "schema_version": "1",
            "alert_id": "00112233aabbccdd",
            "event_id": "evt_1",
            "kind": "run",
            "at": "2026-11-27T11:59:58Z",
            "payload": '{"facts":{"workflow_name":"ingest_new_nova"}}',
            "todo": ["bus", "webhook"],
            "state": "PENDING",
            "attempts": 0,
            "created_at": "2026-11-27T12:00:00.000Z",
            "next_attempt_at": "2026-11-27T12:00:00Z",
            "ttl_timestamp": 1799236800,
        },
    ),
    "a firing that was delivered": (
        Delivery,
        {
            "PK": "ALERT#00112233aabbccdd",
            "SK": "EVENT#evt_1",
            "entity_type": "AlertDelivery",
            "schema_version": "1",
            "alert_id": "00112233aabbccdd",
            "event_id": "evt_1",
            "kind": "run",
            "at": "2026-11-27T11:59:58Z",
            "payload": '{"facts":{"workflow_name":"ingest_new_nova"}}',
            "todo": [],
            "state": "DELIVERED",
            "attempts": 2,
            "created_at": "2026-11-27T12:00:00.000Z",
            "next_attempt_at": "2026-11-27T12:06:00Z",
            "delivered_at": "2026-11-27T12:01:03Z",
            "ttl_timestamp": 1799236800,
        },
    ),
    "a subject": (
        Subject,
        {
            "PK": "TOOL#HLCR",
            "SK": "TOOL",
            "GSI1PK": "TOOL",
            "GSI1SK": "HLCR",
            "entity_type": "Tool",
            "schema_version": "1",
            "tool_id": "HLCR",
            "name": "Halcyon Robotics",
            "kind": "company",
            "aliases": ["Halcyon"],
            "ticker": "HLCR",
            "ambiguous": ["Halcyon"],
            "cues": ["robot"],
            "excluded": [],
            "active": True,
        },
    ),
    "a retired subject without a ticker": (
        Subject,
        {
            "PK": "TOOL#ferries",
            "SK": "TOOL",
            "GSI1PK": "TOOL#RETIRED",
            "GSI1SK": "ferries",
            "entity_type": "Tool",
            "schema_version": "1",
            "tool_id": "ferries",
            "name": "Ferries",
            "kind": "topic",
            "aliases": [],
            "ambiguous": [],
            "cues": [],
            "excluded": [],
            "active": False,
        },
    ),
    "a cached sentiment": (
        SentimentCacheEntry,
        {
            "PK": "TOOL#HLCR",
            "SK": "CACHE#HOUR_24",
            "entity_type": "SentimentCacheEntry",
            "schema_version": "1",
            "id": "HLCR:HOUR_24",
            "tool_id": "HLCR",
            "period": "HOUR_24",
            "total_mentions": 3,
            "positive_count": 2,
            "negative_count": 1,
            "neutral_count": 0,
            "positive_percentage": 66.7,
            "negative_percentage": 33.3,
            "neutral_percentage": 0,
            "average_sentiment": 0.25,
            "period_start_ts": 1795730199,
            "period_end_ts": 1795816599,
            "last_updated_ts": 1795816599,
            "_ts": 1795816599,
        },
    ),
    "how the cache does": (
        CacheMetadata,
        {
            "PK": "CACHE#METADATA",
            "SK": "METADATA",
            "entity_type": "CacheMetadata",
            "schema_version": "1",
            "id": "metadata",
            "last_refresh_ts": 1795816599,
            "last_refresh_duration_ms": 1250,
            "total_entries": 8,
            "cache_hits_24h": 12,
            "cache_misses_24h": 4,
            "cache_hit_rate": 0.75,
            "error_count_24h": 0,
            "tools_refreshed": ["HLCR"],
            "_ts": 1795816599,
        },
    ),
}


@pytest.mark.parametrize("name", STORED)
def test_an_item_is_read_and_written_as_it_was(name: str) -> None:
    kind, item = STORED[name]
    key = keys.Key(PK=item["PK"], SK=item["SK"])
    index = keys.EligibilityKey(GSI1PK=item["GSI1PK"], GSI1SK=item["GSI1SK"]) if "GSI1PK" in item else None
    assert decode_item(encode_item(kind.of_item(item).to_item(key, index))) == item
