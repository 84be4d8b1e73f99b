"""The articles that wait for grouping: marks of up to twenty, written with their analysis.

The mark is written before its articles become `analyzed`, and goes when the grouping of all of them is
recorded. So whatever dies in between, an analyzed article is grouped, and its sentiment is known by then.
Articles that are analyzed together share a mark: one of its own for each would cost a write and a deletion,
and keep one partition of the table busier than anything else (docs/decisions/0330).

Runs of grouping share the marks by lines: a mark belongs to one of them by a hash of its key, so that runs of
different lines work side by side. How many lines there are is nowhere written down: whoever asks for a run
says it, and the next may say another number (docs/decisions/0335).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

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
_LOOKED_AT: Final = 5
"""Marks for each line that a look reads."""
KEYS_IN_A_MARK: Final = 20
"""Articles of one mark, which stays below one kilobyte with them."""


@dataclass(frozen=True, slots=True, order=True)
class Line:
    """One of several parts of the waiting articles.

    Attributes:
        number: from 0.
        of: how many lines there are.
    """

    number: int = 0
    of: int = 1

    @classmethod
    def holding(cls, mark: Item, lines: int) -> Line:
        """Return the line, one of so many, that a mark belongs to."""
        return cls(zlib.crc32(mark["SK"].encode()) % lines, lines)

    def holds(self, mark: Item) -> bool:
        """Return whether a mark belongs to this line."""
        return self.of == 1 or Line.holding(mark, self.of) == self


ONE_LINE: Final = Line()


def ungrouped_items(dedup_keys: Sequence[str], now: datetime) -> list[Item]:
    """Return the marks of articles that are analyzed now and wait for grouping."""
    since = isoformat(now, "milliseconds")
    chunks = (dedup_keys[at : at + KEYS_IN_A_MARK] for at in range(0, len(dedup_keys), KEYS_IN_A_MARK))
    return [
        {
            **keys.ungrouped(since, chunk[0]),
            "entity_type": "Ungrouped",
            "schema_version": SCHEMA_VERSION,
            "dedup_keys": list(chunk),
            "since": since,
            "ttl_timestamp": epoch_seconds(now + RETENTION),
        }
        for chunk in chunks
    ]


def articles_of(mark: Item) -> list[str]:
    """Return the dedup keys of the articles of a mark, which may be an earlier version's."""
    return list(mark["dedup_keys"]) if "dedup_keys" in mark else [mark["dedup_key"]]


def waiting_marks(table: Table, most: int, line: Line = ONE_LINE) -> Iterator[Item]:
    """Yield the marks of a line's articles that wait, in each partition those that wait longest first.

    Those of earlier versions come before all others. At most `most` are read of either partition, those of
    other lines included.
    """
    for partition in (keys.UNGROUPED_ONE_BY_ONE, keys.UNGROUPED):
        marks = table.items_of(partition, most=most)
        yield from (mark for mark in marks if line.holds(mark))


@dataclass(frozen=True, slots=True)
class GroupingTrigger:
    """Asks for grouping when enough articles wait, or one has waited long enough."""

    table: Table
    bus: EventBus
    clock: Clock = utc_now
    lines: int = 1

    def check(self, correlation_id: str) -> list[GroupHeadlines]:
        """Put events on the bus if grouping is due; return them: one for each line with waiting articles.

        With several lines it looks at the marks that wait longest, some for each line. A line that has none
        among them has not waited longest, and is asked for by the next look.

        Raises:
            Retryable: if the table or the bus is not able to answer now.
        """
        waiting = list(waiting_marks(self.table, max(THRESHOLD, _LOOKED_AT * self.lines)))
        if not waiting:
            return []
        count = min(THRESHOLD, sum(len(articles_of(mark)) for mark in waiting))
        enough = count == THRESHOLD
        if not enough and min(parse_iso(mark["since"]) for mark in waiting) > self.clock() - INTERVAL:
            return []
        asked = [
            GroupHeadlines(
                correlation_id=correlation_id,
                trigger_reason="threshold_reached" if enough else "interval_elapsed",
                ungrouped_count=count,
                line=line.number,
                lines=line.of,
            )
            for line in sorted({Line.holding(mark, self.lines) for mark in waiting})
        ]
        self.bus.put(asked)
        return asked
