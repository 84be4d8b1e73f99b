"""Subjects ranked: by how often they are mentioned, and by how their sentiment has changed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.sentiment.rollups import Ledger
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.sentiment.windows import HOUR, HOURS_AT_MOST, SECOND, floor
from sourcebook.table.client import Table

ORDERS: Final = ("mentions", "change")
HOURS_LIMIT: Final = HOURS_AT_MOST // 2
"""A window and the one before it must both be among what is kept."""
SUBJECTS_AT_MOST: Final = 200
"""Subjects of one ranking. Each is a query or two, and an answer must be there within seconds."""


@dataclass(frozen=True, slots=True)
class SubjectRanking:
    """Ranks the active subjects."""

    table: Table
    clock: Clock = utc_now

    def rank(self, hours: int, order: str) -> dict[str, Any]:
        """Return the subjects that were mentioned in the last `hours`, each with the same time before.

        By mentions, the most first; or by change of the average sentiment, the largest first whichever way it
        went, and those without mentions in one of the two windows last. `left_out` says whether there are
        more active subjects than the first 200 by id, which are the ones that are ranked.
        """
        now = floor(self.clock(), SECOND)
        begin, before = now - hours * HOUR, now - 2 * hours * HOUR
        registry = SubjectRegistry(self.table)
        ids = list(islice(registry.list_ids(), SUBJECTS_AT_MOST + 1))
        subjects = registry.get_many(ids[:SUBJECTS_AT_MOST])
        rows: list[dict[str, Any]] = []
        for tool_id, subject in subjects.items():
            ledger = Ledger.open(self.table, tool_id, now, hours=2 * hours)
            counts, earlier = ledger.window(begin, now), ledger.window(before, begin)
            if not counts.total:
                continue
            change = round(counts.average - earlier.average, 6) if earlier.total else None
            rows.append(
                {
                    "tool_id": tool_id,
                    "name": subject.name,
                    "total_mentions": counts.total,
                    "mentions_before": earlier.total,
                    "average_sentiment": counts.average,
                    "average_before": earlier.average if earlier.total else None,
                    "change": change,
                }
            )
        if order == "change":
            rows.sort(key=lambda row: (row["change"] is None, -abs(row["change"] or 0), row["tool_id"]))
        else:
            rows.sort(key=lambda row: (-row["total_mentions"], row["tool_id"]))
        return {
            "start": isoformat(begin),
            "end": isoformat(now),
            "left_out": len(ids) > SUBJECTS_AT_MOST,
            "items": rows,
            "next_cursor": None,
        }
