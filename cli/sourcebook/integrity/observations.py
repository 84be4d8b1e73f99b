"""The canonical layer of observations, held against the raw layer and the registered sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sourcebook.clock import Clock, utc_now
from sourcebook.integrity.model import Check, IntegrityFinding, is_of, missing, place_of
from sourcebook.observations.canonical import Canonical, candidates_of, ranked, slot_of
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item


@dataclass(frozen=True, slots=True)
class LatestIsTheWinner(Check):
    """A LATEST item has each registered source's newest figure with its standing, so that the best wins."""

    table: Table
    clock: Clock = utc_now
    name = "canonical"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield LATEST items whose slots are not what the raw layer makes them."""
        for latest in items:
            if is_of(latest, "Latest") and (problem := self._problem(latest)):
                yield self.found(latest, problem)

    def _problem(self, latest: Item) -> str:
        slots: Item = latest["sources"]
        canonical = Canonical(self.table)
        newest = canonical.newest(keys.read_latest(keys.key_of(latest)))
        priorities = canonical.source_priorities({*newest, *slots})
        should_be = {id_: slot_of(item, priorities[id_]) for id_, item in newest.items() if id_ in priorities}
        if slots == should_be:
            return ""
        wrong = sorted(id_ for id_ in {*slots, *should_be} if slots.get(id_) != should_be.get(id_))
        differences = "; ".join(_difference(id_, slots.get(id_), should_be.get(id_)) for id_ in wrong)
        wins, should_win = (self._winner(latest, each) for each in (slots, should_be))
        if wins == should_win:
            return differences
        return f"{wins or 'no source'} wins, and {should_win or 'no source'} should: {differences}"

    def _winner(self, latest: Item, slots: Item) -> str:
        order = ranked(candidates_of({**latest, "sources": slots}, self.clock()))
        return order[0].source_id if order else ""

    def repair(self, finding: IntegrityFinding) -> bool:
        """Rebuild the slots from the raw layer."""
        Canonical(self.table).rebuild(keys.read_latest(finding.key))
        return True


def _difference(source_id: str, slot: Item | None, should_be: Item | None) -> str:
    if slot is None:
        return f"the figure of {source_id} is missing"
    if should_be is None:
        return f"{source_id} has a slot, and is not registered or has no observation"
    names = sorted(n for n in {*slot, *should_be} if slot.get(n) != should_be.get(n))
    values = ", ".join(f"{n} {slot.get(n)!r} instead of {should_be.get(n)!r}" for n in names)
    return f"{source_id} has {values}"


@dataclass(frozen=True, slots=True)
class ObservationsAreFound(Check):
    """Whatever is in the raw layer has a LATEST item, by which alone it is found."""

    table: Table
    name = "observations"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield LATEST items that are missing."""
        seen = {item["PK"]: item for item in items if is_of(item, "Observation")}
        wanted = {partition: keys.latest_of(partition) for partition in seen}
        absent = missing(self.table, wanted.values())
        for partition, key in wanted.items():
            if place_of(key) in absent:
                problem = "it is missing, so that what was observed is not found"
                yield self.found(key, problem, about=seen[partition])

    def repair(self, finding: IntegrityFinding) -> bool:
        """Rebuild it from the raw layer, if the series is known."""
        target = keys.read_latest(finding.key)
        series = self.table.get(keys.observed_series(target[1]), consistent=True)
        if series is None:
            return False  # what kind its figures are is declared by their source: the next scrape says it
        canonical = Canonical(self.table)
        canonical.ensure([target], {target[1]: (series["kind"], series["name"])})
        canonical.rebuild(target)
        return True
