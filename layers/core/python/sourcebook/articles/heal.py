"""Healing: articles that have waited for their analysis too long are announced again.

An announcement can be lost: a run may die between storing an article and announcing it, and its source
may never bring it again. So whatever is pending for an hour is announced once more; analyzing it twice
would change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Final

from sourcebook.articles.announce import Announcer
from sourcebook.articles.conditions import has_status
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.records.article import Status
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.pages import walk_shards

WAITED: Final = timedelta(hours=1)
AT_ONCE: Final = 100
"""Articles announced again by one run; the next run takes the next ones."""
MOST_READ: Final = 5_000
"""Pending articles looked at by one run, so that a jam of young ones cannot hold it for ever."""
_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Healer:
    """Finds articles that were forgotten and announces them again."""

    table: Table
    announcer: Announcer
    clock: Clock = utc_now

    def heal(self, correlation_id: str) -> int:
        """Announce up to 100 articles that are pending for more than an hour; return how many.

        Raises:
            Retryable: if the table or the topic is not able to answer now.
        """
        return self.announcer.announce(islice(self._forgotten(), AT_ONCE), correlation_id)

    def _forgotten(self) -> Iterator[str]:
        before = isoformat(self.clock() - WAITED)
        oldest_first = walk_shards(
            self.table, "status", Status.PENDING.value, index=keys.STATUS_INDEX, page_size=_PAGE
        )
        pending = (
            keys.key_of(item)
            for item in islice(oldest_first, MOST_READ)
            if item["SK"] == keys.ARTICLE_SORT_KEY
        )
        while chunk := list(islice(pending, AT_ONCE)):
            for item in self.table.batch_get(chunk, attributes=("dedup_key", "status", "created_at")):
                if item.get("status") == Status.PENDING and item["created_at"] < before:
                    yield item["dedup_key"]


def retry_failed(table: Table, dedup_key: str) -> bool:
    """Make an article in error pending again.

    Returns:
        Whether it was in error.
    """
    try:
        table.update(
            keys.article(dedup_key),
            assign={"status": Status.PENDING.value, "error_reason": None},
            condition=has_status(Status.ERROR),
        )
    except ConditionFailed:
        return False
    return True
