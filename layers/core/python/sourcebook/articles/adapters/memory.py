"""What a source's adapter remembers of the entries it has seen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sourcebook.events import SCHEMA_VERSION
from sourcebook.feeds.seen import EntryMark, SeenEntries
from sourcebook.sources.model import Source
from sourcebook.table import keys
from sourcebook.table.client import Table


def recall(table: Table, source: Source) -> SeenEntries:
    """Return the fingerprints of the entries that a source held lately."""
    item = table.get(keys.source_seen(source.source_id), consistent=True) or {}
    return SeenEntries(item.get("entries", b""))


def remember(
    table: Table, source: Source, seen: SeenEntries, marks: Sequence[EntryMark], now: datetime
) -> None:
    """Keep the fingerprints of the entries that a source holds now; written only when they changed."""
    packed = seen.after(marks, now)
    if packed != seen.packed:
        table.put(
            {
                **keys.source_seen(source.source_id),
                "entity_type": "SeenEntries",
                "schema_version": SCHEMA_VERSION,
                "entries": packed,
            }
        )
