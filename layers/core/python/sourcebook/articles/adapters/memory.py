"""The fingerprints of the entries that a source's adapter has seen, in the table."""

from __future__ import annotations

from sourcebook.feeds.seen import SeenEntries
from sourcebook.records.source import Source
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.table import keys
from sourcebook.table.client import Table


def recall(table: Table, source: Source) -> SeenEntries:
    """Return the fingerprints of the entries that a source held lately."""
    item = table.get(keys.source_seen(source.source_id), consistent=True) or {}
    return SeenEntries(item.get("entries", b""), item.get("names", b""))


def remember(table: Table, source: Source, before: SeenEntries, after: SeenEntries) -> None:
    """Keep the fingerprints of the entries that a source holds now; written only when they changed."""
    if after is before:
        return
    names = {"names": after.packed_names} if after.packed_names else {}
    table.put(
        {
            **keys.source_seen(source.source_id),
            "entity_type": "SeenEntries",
            "schema_version": SCHEMA_VERSION,
            "entries": after.packed,
            **names,
        }
    )
