"""The registry: adding sources, changing them, listing them, and making them due."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from boto3.dynamodb.conditions import Attr, ConditionBase, Key

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item

if TYPE_CHECKING:
    from sourcebook.records.source import Source
    from sourcebook.sources.model import SourceSpec

NEVER: Final = "9999-12-31T23:59:59Z"
"""When a source that a person has disabled is asked next: only a person enables it again.

One that errors have disabled has the time of its next probe instead, and comes back by itself.
"""
_ENABLED: Final = Attr("enabled").eq(True)


@dataclass(frozen=True, slots=True)
class SourceRegistry:
    """Sources in the table."""

    table: Table
    clock: Clock = utc_now

    def register(self, spec: SourceSpec) -> bool:
        """Add a source, due at once, or bring the declaration of a known one up to date.

        What polling has learned of a known source stays, unless its URL or options changed: then the
        validators go, since they belong to the old document or to another reading of it, and it is due.

        Returns:
            True if it is new.
        """
        from sourcebook.sources.model import declared  # noqa: PLC0415 - pydantic, only for who writes

        existing = self._add(spec)
        if existing is None:
            return True
        changed = {name: value for name, value in declared(spec).items() if existing.get(name) != value}
        read_anew = bool(changed.keys() & {"url", "options"})
        if read_anew:
            changed |= {"etag": None, "last_modified": None, "body_hash": None, "observed_day": None}
        if read_anew or "enabled" in changed:
            when = self._at_once(spec.source_id) if spec.enabled else _never(spec.source_id)
            changed |= {"consecutive_errors": 0, **when}
        if changed:
            self.table.update(keys.source(spec.source_id), assign=changed, condition=Attr("PK").exists())
        return False

    def add(self, spec: SourceSpec) -> Source | None:
        """Add a source, due at once; one that is known is left as it is.

        Returns:
            None if it was added, otherwise the known one.
        """
        return _source(self._add(spec))

    def _add(self, spec: SourceSpec) -> Item | None:
        from sourcebook.sources.model import state_item  # noqa: PLC0415 - pydantic, only for who writes

        item = state_item(spec, now=isoformat(self.clock()))
        if not spec.enabled:
            item |= _never(spec.source_id)
        existing = self.table.create(item)
        if existing is None:
            # A poll that was under way while a source of this id was deleted may have left it behind.
            self.table.delete(keys.source_seen(spec.source_id))
        return existing

    def get(self, source_id: str) -> Source | None:
        """Return a source, or None if it is not registered."""
        return _source(self.table.get(keys.source(source_id)))

    def get_many(self, source_ids: Iterable[str]) -> dict[str, Source]:
        """Return the registered ones among these sources by id."""
        items = self.table.batch_get(keys.source(source_id) for source_id in source_ids)
        return {source.source_id: source for source in map(_source, items) if source}

    def make_due(self, source_id: str) -> Source | None:
        """Set an enabled source due now and return it; None if it is unknown or disabled."""
        return self._assign(source_id, self._at_once(source_id), also=_ENABLED)

    def change(
        self,
        source_id: str,
        changes: Item | None = None,
        *,
        enabled: bool | None = None,
        kind: str | None = None,
        at_once: bool = False,
    ) -> Source | None:
        """Change what is declared of a source, and leave what polling has learned.

        Args:
            source_id: the source.
            changes: attributes besides `enabled`, already checked; None removes one.
            enabled: True polls it again, now; False stops it. What it is already changes nothing.
            kind: only a source of this kind is changed.
            at_once: whether the changes want it polled now, if it is polled at all.

        Returns:
            The source afterwards, or None if there is no such source.
        """
        if enabled is not None:
            when = self._at_once(source_id) | {"consecutive_errors": 0} if enabled else _never(source_id)
            # One that errors have disabled is switched off too: from then on it is not probed.
            differs = Attr("enabled").eq(False) if enabled else Attr("next_fetch_time").ne(NEVER)
            switched = {**(changes or {}), "enabled": enabled, **when}
            source = self._assign(source_id, switched, kind, differs)
            if source is not None:
                return source
        if at_once and enabled is not False:
            due = {**(changes or {}), **self._at_once(source_id)}
            source = self._assign(source_id, due, kind, _ENABLED)
            if source is not None:
                return source
        if changes:
            return self._assign(source_id, changes, kind)
        source = _source(self.table.get(keys.source(source_id), consistent=True))
        return source if source and kind in {None, source.kind} else None

    def _assign(
        self, source_id: str, values: Item, kind: str | None = None, also: ConditionBase | None = None
    ) -> Source | None:
        """Change a source that is there, of this kind and in that state; None if it is not."""
        condition = _there(kind) if also is None else _there(kind) & also
        try:
            item = self.table.update(keys.source(source_id), assign=dict(values), condition=condition)
        except ConditionFailed:
            return None
        return _source(item)

    def delete(self, source_id: str, *, kind: str | None = None) -> bool:
        """Delete a source with all that polling has kept of it; its articles stay until they expire.

        Its state goes first, so that nothing polls it while the rest goes.

        Args:
            source_id: the source.
            kind: only a source of this kind is deleted.

        Returns:
            False if there is no such source. What an earlier deletion may have left goes all the same.
        """
        key = keys.source(source_id)
        found = True
        try:
            self.table.delete(key, _there(kind))
        except ConditionFailed as failure:
            if failure.item is not None:
                return False
            found = False
        rest = self.table.query_all(Key("PK").eq(key["PK"]), attributes=("PK", "SK"), consistent=True)
        self.table.delete_many([keys.key_of(item) for item in rest])
        return found

    def _at_once(self, source_id: str) -> Item:
        now = isoformat(self.clock())
        return {"next_fetch_time": now, **keys.due(source_id, now)}

    def list_ids(self) -> Iterator[str]:
        """Yield the ids of all sources: first those polled, then the disabled ones."""
        return (entry["source_id"] for entry in source_entries(self.table))


def source_entries(table: Table) -> Iterator[Item]:
    """Yield what EligibilityIndex has of all sources: first of those polled, then of the disabled ones."""
    for partition in (*table.shards.read(keys.DUE_SOURCES), keys.DISABLED_SOURCES):
        yield from table.query_all(Key("GSI1PK").eq(partition), index=keys.ELIGIBILITY_INDEX)


def _there(kind: str | None) -> ConditionBase:
    """Return the condition that a source is there, and of this kind unless that is None."""
    there = Attr("PK").exists()
    return there if kind is None else there & Attr("kind").eq(kind)


def _never(source_id: str) -> Item:
    # The time changes too: a poll that is under way finds that the source has moved on.
    return {"next_fetch_time": NEVER, **keys.disabled(source_id, NEVER)}


def _source(item: Item | None) -> Source | None:
    from sourcebook.records.source import Source  # noqa: PLC0415 - dispatch reads none in most of its minutes

    return Source.of_item(item) if item else None
