"""The articles that wait for grouping: a mark for each, written with its analysis, and when they are enough.

The mark is written before the article becomes `analyzed`, and goes when the article's grouping is recorded.
So whatever dies in between, an analyzed article is grouped, and its sentiment is known by then.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.articles.bus import EventBus
from sourcebook.clock import Clock, epoch_seconds, isoformat, parse_iso, utc_now
from sourcebook.events import GroupHeadlines
from sourcebook.records.article import RETENTION
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

THRESHOLD: Final = 10
"""Articles that are enough for a run."""
INTERVAL: Final = timedelta(minutes=5)
"""How long an article waits for others at most."""


def ungrouped_item(dedup_key: str, now: datetime) -> Item:
    """Return the mark of an article that is analyzed now and waits for grouping."""
    return {
        **keys.ungrouped(isoformat(now, "milliseconds"), dedup_key),
        "entity_type": "Ungrouped",
        "schema_version": SCHEMA_VERSION,
        "dedup_key": dedup_key,
        "since": isoformat(now, "milliseconds"),
        "ttl_timestamp": epoch_seconds(now + RETENTION),
    }


@dataclass(frozen=True, slots=True)
class GroupingTrigger:
    """Asks for grouping when enough articles wait, or one has waited long enough."""

    table: Table
    bus: EventBus
    clock: Clock = utc_now

    def check(self, correlation_id: str) -> GroupHeadlines | None:
        """Tell the bus if grouping is due; return what was told, or None.

        Raises:
            Retryable: if the table or the bus is not able to answer now.
        """
        waiting = self.table.query(KeyCondition("PK").eq(keys.UNGROUPED), limit=THRESHOLD).items
        if not waiting:
            return None
        enough = len(waiting) >= THRESHOLD
        if not enough and parse_iso(waiting[0]["since"]) > self.clock() - INTERVAL:
            return None
        event = GroupHeadlines(
            correlation_id=correlation_id,
            trigger_reason="threshold_reached" if enough else "interval_elapsed",
            ungrouped_count=len(waiting),
        )
        self.bus.tell([event])
        return event
