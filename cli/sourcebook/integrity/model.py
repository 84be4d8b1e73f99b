"""What a check is, and what it finds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item


@dataclass(frozen=True, slots=True)
class IntegrityFinding:
    """A broken invariant of the table.

    Attributes:
        check: name of the check that found it.
        key: of the item that is wrong, missing or too much.
        problem: what is wrong, in words.
        repairable: whether `Check.repair` can make it right from what else is in the table.
        about: key of the item that was looked at when it was found.
    """

    check: str
    key: keys.Key
    problem: str
    repairable: bool
    about: keys.Key

    @property
    def place(self) -> tuple[str, str, str]:
        """Return what distinguishes it from other findings: each check reports an item once."""
        return self.check, self.key["PK"], self.key["SK"]

    def public(self) -> dict[str, object]:
        """Return it as JSON for programs."""
        return {
            "check": self.check,
            "pk": self.key["PK"],
            "sk": self.key["SK"],
            "problem": self.problem,
            "repairable": self.repairable,
        }


class Check(ABC):
    """Holds the items of the table to one invariant.

    Attributes:
        name: short, for reports and for `--only`.
    """

    name: ClassVar[str]

    @abstractmethod
    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield what is wrong about these items, of any kind and in any order.

        A finding may be no more than a moment between two writes: it is asked for a second time, with the
        items as they are then, before anybody hears of it.

        Raises:
            TableBusy: if the table is not able to answer now.
        """

    def repair(self, finding: IntegrityFinding) -> bool:  # noqa: ARG002 - for those that can
        """Repair what was found from what else is in the table; return whether that was possible.

        Raises:
            ConditionFailed: if somebody else has changed it meanwhile.
            Retryable: if the table is not able to do it now.
        """
        return False

    def found(
        self,
        item: Item | keys.Key,
        problem: str,
        *,
        repairable: bool = True,
        about: Item | keys.Key | None = None,
    ) -> IntegrityFinding:
        """Return the finding that an item is wrong; `about` is the one looked at, where it is another."""
        at = keys.key_of(about if about is not None else item)
        return IntegrityFinding(self.name, keys.key_of(item), problem, repairable, at)


@dataclass(frozen=True, slots=True)
class ItemCheck(Check):
    """A check of each item by itself, which is mended by what the item says."""

    table: Table

    @abstractmethod
    def _problem(self, item: Item) -> str:
        """Return what is wrong with an item of any kind; nothing if it is right."""

    @abstractmethod
    def _mend(self, key: keys.Key, item: Item) -> bool:
        """Repair an item as it is now; see `repair`."""

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield the items that are wrong."""
        for item in items:
            if problem := self._problem(item):
                yield self.found(item, problem)

    def repair(self, finding: IntegrityFinding) -> bool:
        """Repair the item, if it is still there."""
        item = self.table.get(finding.key, consistent=True)
        return item is not None and self._mend(finding.key, item)


def place_of(item: Item | keys.Key) -> tuple[str, str]:
    """Return the key of an item as something that can be looked up."""
    return item["PK"], item["SK"]


def missing(table: Table, wanted: Iterable[keys.Key]) -> set[tuple[str, str]]:
    """Return the places, of these keys, at which there is no item."""
    places = {place_of(key): key for key in wanted}
    found = table.batch_get(places.values(), attributes=("entity_type",), consistent=True)
    return places.keys() - set(map(place_of, found))


def is_of(item: Item, *entity_types: str) -> bool:
    """Whether an item is of one of these types."""
    return item.get("entity_type") in entity_types
