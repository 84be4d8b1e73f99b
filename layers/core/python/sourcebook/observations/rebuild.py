"""Making the canonical layer anew, a piece at a time, so that it ends at any size."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from boto3.dynamodb.conditions import ConditionBase
from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.errors import InvalidInput
from sourcebook.observations.canonical import Canonical
from sourcebook.table import keys
from sourcebook.table.client import Table

PIECE: Final = 200
"""LATEST items looked at in one call, at most."""
SECONDS: Final = 40.0
"""After so many seconds a call ends, with the place where the next goes on."""

_EXPECTED: Final = (
    '{}, or {"source_ids": ["…"]} for what these sources brought, as the call before answered it'
)


@dataclass(frozen=True, slots=True)
class RebuildCounts:
    """What has been done so far, in the form in which the next call takes it.

    Attributes:
        source_ids: only these sources' figures; all when None.
        after: series and sort key of the last item that was looked at; None at the beginning and the end.
        examined: items looked at.
        changed: those among them that were not as they should be.
        done: whether all were looked at.
    """

    source_ids: list[str] | None
    after: list[str] | None
    examined: int
    changed: int
    done: bool


@dataclass(frozen=True, slots=True)
class Rebuilder:
    """Walks through all LATEST items, series by series."""

    table: Table
    seconds: float = SECONDS
    piece: int = PIECE
    monotonic: Callable[[], float] = time.monotonic

    def run(self, event: Mapping[str, Any]) -> RebuildCounts:
        """Do the next piece.

        Args:
            event: ``{}``, or what the call before answered.

        Raises:
            InvalidInput: if it is something else.
            Retryable: if the table could not answer; the same call may be made again.
        """
        source_ids, after, examined, changed = _read(event)
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
                target = keys.read_latest({"PK": item["PK"], "SK": item["SK"]})
                changed += canonical.rebuild(target, source_ids)
                after = [series, item["SK"]]
                looked_at += 1
                examined += 1
        return RebuildCounts(source_ids, None, examined, changed, done=True)

    def _series(self, first: str) -> list[str]:
        partition = KeyCondition("PK").eq(keys.OBSERVATIONS)
        prefix = KeyCondition("SK").begins_with(keys.SERIES_PREFIX)
        codes = [item["series_code"] for item in self.table.query_all(partition & prefix, consistent=True)]
        return [code for code in sorted(codes) if code >= first]


def _read(event: Mapping[str, Any]) -> tuple[list[str] | None, list[str] | None, int, int]:
    source_ids, after = event.get("source_ids"), event.get("after")
    if source_ids is not None and (
        not isinstance(source_ids, list) or not source_ids or not all(isinstance(i, str) for i in source_ids)
    ):
        raise InvalidInput("source_ids", source_ids, _EXPECTED)
    if after is not None and (
        not isinstance(after, list) or len(after) != 2 or not all(isinstance(part, str) for part in after)
    ):
        raise InvalidInput("after", after, _EXPECTED)
    return source_ids, after, int(event.get("examined") or 0), int(event.get("changed") or 0)
