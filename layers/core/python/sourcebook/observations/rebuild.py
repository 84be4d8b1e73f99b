"""Making the canonical layer anew, a piece at a time, so that it ends at any size."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from boto3.dynamodb.conditions import ConditionBase
from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.observations.canonical import Canonical
from sourcebook.observations.rebuild_messages import RebuildCanonical, RebuildCounts
from sourcebook.table import keys
from sourcebook.table.client import Table

PIECE: Final = 200
"""LATEST items looked at in one call, at most."""
SECONDS: Final = 40.0
"""After so many seconds a call ends, with the place where the next goes on."""


@dataclass(frozen=True, slots=True)
class Rebuilder:
    """Walks through all LATEST items, series by series."""

    table: Table
    seconds: float = SECONDS
    piece: int = PIECE
    monotonic: Callable[[], float] = time.monotonic

    def run(self, request: RebuildCanonical) -> RebuildCounts:
        """Rebuild the next pieces, as far as the time goes, and return what was done.

        Raises:
            Retryable: if the table could not answer; the same call may be made again.
        """
        source_ids, after = request.source_ids, request.after
        examined, changed = request.examined, request.changed
        canonical = Canonical(self.table)
        ends = self.monotonic() + self.seconds
        looked_at = 0
        for series in self._series(after[0] if after else ""):
            condition: ConditionBase = KeyCondition("PK").eq(keys.latest_partition(series))
            if after and after[0] == series:
                condition = condition & KeyCondition("SK").gt(after[1])
            for item in self.table.query_all(condition, consistent=True):
                if looked_at >= self.piece or self.monotonic() > ends:
                    return RebuildCounts(source_ids, after, examined, changed, done=False)
                target = keys.read_latest(keys.key_of(item))
                changed += canonical.rebuild(target, source_ids)
                after = (series, item["SK"])
                looked_at += 1
                examined += 1
        return RebuildCounts(source_ids, None, examined, changed, done=True)

    def _series(self, first: str) -> list[str]:
        rows = self.table.items_of(keys.OBSERVATIONS, keys.SERIES_PREFIX, consistent=True)
        codes = [item["series_code"] for item in rows]
        return [code for code in sorted(codes) if code >= first]
