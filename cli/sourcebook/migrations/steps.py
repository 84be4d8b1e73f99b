"""Bringing stored items up to the form that the code writes: numbered steps, each recorded when it is done.

A step finds by `schema_version` what it has not changed yet, so one that was cut short goes on where it was,
one that is run twice finds nothing to do, and items written while it runs are as they should be already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput, Retryable
from sourcebook.observations.read import ObservationReader
from sourcebook.records.observation import upgraded
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item


class Interrupted(Retryable):
    """An item was written while it was being migrated."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a migration.

    Attributes:
        step_id: number and name; the order of the ids is the order of the steps.
        description: what it changes, for a person.
        apply: changes the items, and returns how many it changed. It may be repeated at any time.
        is_needed: returns whether there is an item to change; it reads until it finds one.
        is_repeated: whether it is run each time and never recorded, since what it is for is a choice of the
            deployment, which may change again.
    """

    step_id: str
    description: str
    apply: Callable[[Table], int]
    is_needed: Callable[[Table], bool]
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class Applied:
    """The outcome of one step.

    Attributes:
        step_id: of the step.
        changed: items changed by this run.
        applied_at: when it was first completed, None if it never was.
        ran: whether it ran now.
        needed: whether there is something for it to change; looked at only if it was never completed.
    """

    step_id: str
    changed: int
    applied_at: str | None
    ran: bool
    needed: bool = False


def has_no_seen_times(table: Table) -> bool:
    """Return whether there is an observation of schema version 1."""
    targets = ObservationReader(table).targets()
    return any(any(_of_version(table, keys.observation_partition(*target), "1")) for target in targets)


def seen_times_and_sequence(table: Table) -> int:
    """Add the first and last time seen to observations of schema version 1, which had one time.

    Version 1 kept `scraped_at`. Its order of arrival is not known, so it comes before all that is numbered.
    """
    changed = 0
    for target in ObservationReader(table).targets():
        for item in _of_version(table, keys.observation_partition(*target), "1"):
            now = upgraded(item)
            gained = ("first_seen_at", "last_seen_at", "sequence", "schema_version")
            # A scrape of this very moment may have written a newer time: then the item is looked at again.
            unchanged = Attr("schema_version").eq("1") & (
                Attr("last_seen_at").eq(item["last_seen_at"])
                if "last_seen_at" in item
                else Attr("last_seen_at").not_exists()
            )
            try:
                table.update(
                    keys.key_of(item),
                    assign={name: now[name] for name in gained} | {"scraped_at": None},
                    condition=unchanged,
                )
            except ConditionFailed as found:
                if found.item is not None and found.item.get("schema_version") == "1":
                    raise Interrupted(
                        f"{item['PK']}: {item['SK']} was written meanwhile; migrate again"
                    ) from found
                continue  # another run was faster
            changed += 1
    return changed


STEPS: Final = (
    Step(
        "0001-seen-times-and-sequence",
        "Observations: scraped_at becomes first_seen_at and last_seen_at; sequence is added",
        seen_times_and_sequence,
        has_no_seen_times,
    ),
)


@dataclass(frozen=True, slots=True)
class Migrations:
    """The steps of one table."""

    table: Table
    steps: tuple[Step, ...] = STEPS
    clock: Clock = utc_now

    def status(self) -> list[Applied]:
        """Return every step with the time at which it was applied; if it never was, whether it is needed."""
        applied = [(step, None if step.is_repeated else self._applied_at(step)) for step in self.steps]
        return [
            Applied(step.step_id, 0, at, ran=False, needed=at is None and step.is_needed(self.table))
            for step, at in applied
        ]

    def run(self, *, again: str | None = None) -> Iterator[Applied]:
        """Run the steps that were not applied, in their order, and record each.

        Args:
            again: id of a step to run though it was applied.

        Raises:
            InvalidInput: if there is no such step.
        """
        if again is not None and again not in {step.step_id for step in self.steps}:
            known = ", ".join(step.step_id for step in self.steps)
            raise InvalidInput("step", again, f"one of {known}")
        for step in self.steps:
            before = None if step.is_repeated else self._applied_at(step)
            if before is not None and step.step_id != again:
                yield Applied(step.step_id, 0, before, ran=False)
                continue
            changed = step.apply(self.table)
            recorded = None if step.is_repeated else self._record(step, changed)
            yield Applied(step.step_id, changed, recorded, ran=True)

    def _record(self, step: Step, changed: int) -> str:
        now = isoformat(self.clock())
        record: dict[str, object] = {
            **keys.migration(step.step_id),
            "entity_type": "Migration",
            "schema_version": "1",
            "step_id": step.step_id,
            "description": step.description,
            "applied_at": now,
            "changed": changed,
        }
        existing = self.table.create(record)
        return now if existing is None else str(existing["applied_at"])

    def _applied_at(self, step: Step) -> str | None:
        record = self.table.get(keys.migration(step.step_id), consistent=True)
        return None if record is None else str(record["applied_at"])


def _of_version(table: Table, partition: str, version: str) -> Iterator[Item]:
    for item in table.items_of(partition, consistent=True):
        if item.get("schema_version") == version:
            yield item
