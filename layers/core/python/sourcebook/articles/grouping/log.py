"""Grouping's log: the decisions of all runs as one sequence of chunks.

Runs may overlap. Each reads the log to its end, decides, and writes its decisions as the next chunk, on the
condition that nobody else has. Whoever comes second reads what was written and decides again. So decisions
are made as if one run followed another, without a lock that could be held too long or lost.

A chunk is also what a crash is survived by: it is written before anything else, and whatever it decided can
be carried out again from it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.articles.grouping.groups import WINDOW, Entry, Window
from sourcebook.clock import Clock, epoch_seconds, isoformat, utc_now
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

KEPT: Final = timedelta(days=14)
"""Chunks expire long after they matter, so that their numbers go on even after a pause."""
MOST_ENTRIES: Final = 30_000
"""Articles that a run remembers, the newest: some 30 MB."""

_READ_ANEW_AFTER: Final = timedelta(hours=6)
_INFLATED_AT_MOST: Final = 8_000_000


@dataclass(slots=True)
class GroupingLog:
    """The log in the table, and what this process has read of it."""

    table: Table
    clock: Clock = utc_now
    _window: Window | None = field(default=None, repr=False)
    _last: int = 0
    _read_at: datetime | None = None

    def window(self) -> Window:
        """Return the articles of the last two days with every decision made so far.

        The window belongs to the caller until it calls `commit` or `forget`.
        """
        now = self.clock()
        if self._window is None or self._read_at is None or now - self._read_at > _READ_ANEW_AFTER:
            self._read_all(now)
        else:
            self._read_on()
        assert self._window is not None  # noqa: S101 - for the type checker: both ways set it
        return self._window

    def commit(self, decided: Sequence[Entry]) -> bool:
        """Write decisions that were made on the window as the next chunk.

        Returns:
            False if another run has written that chunk: what was decided last is taken back, and has to be
            decided again on a window that knows of that chunk.
        """
        now = self.clock()
        number = self._last + 1
        item = {
            **keys.grouping_chunk(number),
            "entity_type": "GroupingChunk",
            "schema_version": SCHEMA_VERSION,
            "number": number,
            "committed_at": isoformat(now, "milliseconds"),
            "articles": len(decided),
            "entries": _packed(decided),
            "ttl_timestamp": epoch_seconds(now + KEPT),
        }
        if self.table.create(item) is not None:
            assert self._window is not None  # noqa: S101 - for the type checker: decisions were made on it
            self._window.take_back()
            return False
        self._last = number
        return True

    def forget(self) -> None:
        """Read everything again the next time: the window holds what was never written."""
        self._window = None

    def _read_all(self, now: datetime) -> None:
        oldest = isoformat(now - WINDOW, "milliseconds")
        chunks: list[Item] = []
        count = 0
        for item in self.table.items_of(keys.GROUPING_LOG, newest_first=True):
            chunks.append(item)
            count += item["articles"]
            if item["committed_at"] < oldest or count > MOST_ENTRIES:
                break
        window = Window()
        for item in reversed(chunks):
            _take_in(window, item)
        self._window, self._read_at = window, now
        self._last = chunks[0]["number"] if chunks else 0

    def _read_on(self) -> None:
        assert self._window is not None  # noqa: S101 - only called when it is there
        after = KeyCondition("PK").eq(keys.GROUPING_LOG) & KeyCondition("SK").gt(
            keys.grouping_chunk(self._last)["SK"]
        )
        for item in self.table.query_all(after, consistent=True):
            _take_in(self._window, item)
            self._last = item["number"]


def _packed(entries: Iterable[Entry]) -> bytes:
    text = json.dumps([entry.to_log() for entry in entries], ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(text.encode(), 6)


def _take_in(window: Window, item: Item) -> None:
    content: list[dict[str, Any]] = json.loads(
        zlib.decompressobj().decompress(item["entries"], _INFLATED_AT_MOST)
    )
    for kept in content:
        window.add(Entry.from_log(kept))
