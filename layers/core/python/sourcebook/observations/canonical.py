"""The canonical layer: of several sources' figures, the one that counts.

The rule is one order: priority (the lower number wins), then the time of the scrape (the later wins), then
the order of arrival (the later wins). For the newest figures each source's newest stands ready in one item,
a slot for each source, and the order is applied when it is read; for the history it is applied day by day.
So no write ever has to know who wins, and none can get it wrong.

A slot only ever moves forward, by a conditional write. `Canonical.rebuild` makes it anew from the raw layer
and the registered sources: after a source's priority was changed, or a source was removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from boto3.dynamodb.conditions import Attr, ConditionBase

from sourcebook.clock import parse_iso
from sourcebook.errors import InvalidInput, Retryable
from sourcebook.messages import field_names
from sourcebook.records.observation import SCHEMA_VERSION, Figure, Observation, Slot
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item

ABSENT_PRIORITY: Final = 999
"""Of a source that declares none."""

_CONTESTED: Final = 8
"""Times that a slot is looked at again when others write it at the same moment."""


class Contested(Retryable):
    """A slot was written by others each time that it was to be rebuilt."""


@dataclass(frozen=True, slots=True)
class SourcePriority:
    """The priority of a source's figures and the age at which they are stale, as registered."""

    priority: int
    max_age_days: int | None = None

    @classmethod
    def of(cls, state: Item) -> SourcePriority:
        """Read a source's STATE item."""
        options = state.get("options") or {}
        age = options.get("max_age_days")
        return cls(int(state.get("priority", ABSENT_PRIORITY)), None if age is None else int(age))


@dataclass(frozen=True, slots=True)
class Candidate:
    """One source's figure in the running.

    Attributes:
        priority: of the source, the lower wins.
        stale: whether it is older than it may be.
    """

    source_id: str
    priority: int
    stale: bool
    item: Figure


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates in the order in which they win.

    Priority, then the later scrape, then the later arrival; whatever is stale comes after all that is not.
    """
    last = sorted(candidates, key=lambda c: c.source_id)
    last.sort(key=lambda c: c.item.age, reverse=True)
    return sorted(last, key=lambda c: (c.stale, c.priority))


def decided_by(order: Sequence[Candidate]) -> str:
    """Return what put the first of ranked candidates before the others.

    It is the freshness if another would be the first, were none of them stale; otherwise what put it before
    the second. One of ``only_source``, ``freshness``, ``priority``, ``scraped_at`` and ``sequence``.
    """
    if len(order) < 2:
        return "only_source"
    first, second = order[:2]
    without_ages = ranked(replace(candidate, stale=False) for candidate in order)
    if without_ages[0].source_id != first.source_id or first.stale != second.stale:
        return "freshness"
    if first.priority != second.priority:
        return "priority"
    return "scraped_at" if first.item.last_seen_at != second.item.last_seen_at else "sequence"


def candidates_of(latest: Item, now: datetime, max_age_days: int | None = None) -> list[Candidate]:
    """Return the slots of a LATEST item as candidates, with which of them are stale `now`.

    A figure is stale from the age that its source declares, or from `max_age_days` if that is given.
    """
    found: list[Candidate] = []
    for source_id, item in (latest.get("sources") or {}).items():
        slot = Slot.of_item(item)
        days = max_age_days or slot.max_age_days
        stale = days is not None and now - parse_iso(slot.last_seen_at) > timedelta(days=days)
        found.append(Candidate(source_id, slot.priority, stale, slot))
    return found


def slot_of(observation: Observation, source_priority: SourcePriority) -> Item:
    """Return what a LATEST item keeps of a source's newest observation."""
    slot = Slot(
        **{name: getattr(observation, name) for name in field_names(Figure)},
        priority=source_priority.priority,
        max_age_days=source_priority.max_age_days,
    )
    return dict(slot.to_json())


@dataclass(frozen=True, slots=True)
class Canonical:
    """The LATEST items in the table."""

    table: Table

    def ensure(self, targets: Iterable[tuple[str, str, str]], kinds: Mapping[str, tuple[str, str]]) -> None:
        """Create the LATEST item of each bank, series and term that has none.

        It is by these items that everything in the raw layer is found again. `kinds` has the kind and the
        name of each series; raise InvalidInput if one is known with another kind.
        """
        wanted = {(bank, series, term): keys.latest(series, term, bank) for bank, series, term in targets}
        self._ensure_series({series for _, series, _ in wanted}, kinds)
        there = self.table.batch_get(wanted.values(), attributes=["entity_type"])
        missing = sorted(wanted.keys() - {keys.read_latest(keys.key_of(item)) for item in there})
        for bank in sorted({bank for bank, _, _ in missing}):
            about = {"entity_type": "ObservedBank", "schema_version": SCHEMA_VERSION, "bank_name": bank}
            self.table.create({**keys.observed_bank(bank), **about})
        for target in missing:
            about = {"entity_type": "Latest", "schema_version": SCHEMA_VERSION}
            self.table.create({**wanted[target], **about, "sources": {}})

    def _ensure_series(self, codes: Iterable[str], kinds: Mapping[str, tuple[str, str]]) -> None:
        known = {
            str(item["series_code"]): item
            for item in self.table.batch_get(keys.observed_series(code) for code in codes)
        }
        for code in sorted(codes):
            kind, name = kinds[code]
            item: Item | None = known.get(code)
            if item is None:
                about = {"entity_type": "Series", "schema_version": SCHEMA_VERSION, "series_code": code}
                item = self.table.create(
                    {**keys.observed_series(code), **about, "kind": kind, "name": name or code}
                )
            if item is not None and item["kind"] != kind:
                raise InvalidInput(
                    "options.series", code, f"the kind {item['kind']} that it has in other sources"
                )

    def offer(
        self, target: tuple[str, str, str], observation: Observation, source_priority: SourcePriority
    ) -> None:
        """Put an observation into its source's slot unless a newer one is there."""
        bank, series, term = target
        place = f"sources.{observation.source_id}"
        seen, sequence = Attr(f"{place}.last_seen_at"), Attr(f"{place}.sequence")
        same_time = seen.eq(observation.last_seen_at) & sequence.lte(observation.sequence)
        with suppress(ConditionFailed):
            self.table.update(
                keys.latest(series, term, bank),
                assign={("sources", observation.source_id): slot_of(observation, source_priority)},
                condition=Attr(place).not_exists() | seen.lt(observation.last_seen_at) | same_time,
            )

    def rebuild(self, target: tuple[str, str, str], source_ids: Iterable[str] | None = None) -> bool:
        """Rebuild the slots of one bank, series and term from the raw layer and the registered sources.

        Only those of `source_ids` are rebuilt, if it is given. Return whether anything changed. Raise
        Contested if others kept writing the same slot.
        """
        bank, series, term = target
        key = keys.latest(series, term, bank)
        for _ in range(_CONTESTED):
            latest = self.table.get(key, consistent=True)
            if latest is None:
                return False
            # The slots are read before the raw layer: what is stored in between makes the write fail.
            newest = self.newest(target)
            wanted = set(newest) | set(latest["sources"])
            if source_ids is not None:
                wanted &= set(source_ids)
            source_priorities = self.source_priorities(wanted)
            try:
                # A list, so that one change does not keep the next from being looked at.
                changes = [
                    self._mend(
                        key, latest["sources"].get(id_), id_, newest.get(id_), source_priorities.get(id_)
                    )
                    for id_ in sorted(wanted)
                ]
                return any(changes)
            except ConditionFailed:
                continue
        raise Contested(f"{bank}, {series}, {term}: its newest figures keep changing; rebuild it again later")

    def source_priorities(self, source_ids: Iterable[str]) -> dict[str, SourcePriority]:
        """Return the priority of each registered one of these sources, by its id."""
        states = self.table.batch_get((keys.source(id_) for id_ in source_ids), consistent=True)
        return {str(state["source_id"]): SourcePriority.of(state) for state in states}

    def newest(self, target: tuple[str, str, str]) -> dict[str, Observation]:
        """Return the newest observation of each source, as the raw layer has it."""
        newest: dict[str, Observation] = {}
        for item in self.table.items_of(keys.observation_partition(*target), consistent=True):
            one = Observation.of_item(item)
            known = newest.get(one.source_id)
            if known is None or one.age > known.age:
                newest[one.source_id] = one
        return newest

    def _mend(
        self,
        key: keys.Key,
        slot: Item | None,
        source_id: str,
        newest: Observation | None,
        source_priority: SourcePriority | None,
    ) -> bool:
        """Bring one slot to what it should be; raises ConditionFailed if somebody wrote it meanwhile."""
        path = ("sources", source_id)
        place = f"sources.{source_id}"
        unchanged: ConditionBase = Attr(place).not_exists() if slot is None else Attr(place).eq(dict(slot))
        if newest is None or source_priority is None:
            if slot is None:
                return False
            self.table.update(key, remove=[path], condition=unchanged)
            return True
        should_be = slot_of(newest, source_priority)
        if slot == should_be:
            return False
        self.table.update(key, assign={path: should_be}, condition=unchanged)
        return True
