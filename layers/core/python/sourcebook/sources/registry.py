"""The registry: adding sources, changing them, listing them, and making them due."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from boto3.dynamodb.conditions import Attr, Key

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.sources.model import Source, SourceSpec, declared, state_item
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table


@dataclass(frozen=True, slots=True)
class SourceRegistry:
    """Sources in the table."""

    table: Table
    clock: Clock = utc_now

    def register(self, spec: SourceSpec) -> bool:
        """Add a source, due at once, or bring the declaration of a known one up to date.

        What polling has learned of a known source stays, unless its URL changed: then the validators go,
        since they belong to the old document.

        Returns:
            True if it is new.
        """
        existing = self.table.create(state_item(spec, now=isoformat(self.clock())))
        if existing is None:
            return True
        changed = {name: value for name, value in declared(spec).items() if existing.get(name) != value}
        if changed:
            self._change(spec, changed)
        return False

    def _change(self, spec: SourceSpec, changed: dict[str, Any]) -> None:
        now = isoformat(self.clock())
        if "url" in changed:
            changed |= {"etag": None, "last_modified": None, "body_hash": None}
        if "url" in changed or "enabled" in changed:
            index = keys.due(spec.source_id, now) if spec.enabled else keys.disabled(spec.source_id, now)
            changed |= {"next_fetch_time": now, "consecutive_errors": 0, **index}
        self.table.update(keys.source(spec.source_id), assign=changed, condition=Attr("PK").exists())

    def get(self, source_id: str) -> Source | None:
        """Return a source, or None if it is not registered."""
        item = self.table.get(keys.source(source_id))
        return Source.from_item(item) if item else None

    def get_many(self, source_ids: Iterable[str]) -> dict[str, Source]:
        """Return the registered ones among these sources by id."""
        items = self.table.batch_get(keys.source(source_id) for source_id in source_ids)
        return {item["source_id"]: Source.from_item(item) for item in items}

    def make_due(self, source_id: str) -> Source | None:
        """Make an enabled source due now, so that the next dispatch sends it.

        Returns:
            The source, or None if there is none with this id that is enabled.
        """
        now = isoformat(self.clock())
        try:
            item = self.table.update(
                keys.source(source_id),
                assign={"next_fetch_time": now, **keys.due(source_id, now)},
                condition=Attr("enabled").eq(True),
            )
        except ConditionFailed:
            return None
        return Source.from_item(item)

    def list_ids(self) -> Iterator[str]:
        """Yield the ids of all sources: first those polled, by due time, then the disabled ones."""
        for partition in (keys.DUE_SOURCES, keys.DISABLED_SOURCES):
            for item in self.table.query_all(Key("GSI1PK").eq(partition), index=keys.ELIGIBILITY_INDEX):
                yield item["source_id"]
