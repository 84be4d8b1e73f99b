"""Holding the whole table to every check, and mending what can be."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from sourcebook.errors import Terminal
from sourcebook.integrity.model import Check, IntegrityFinding
from sourcebook.integrity.walk import pages_of
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item

PATIENCE: Final = 2.0
"""Seconds after which what was found is looked at again: by then a function has made its next write, and an
index shows it."""

_SUSPECTS_AT_MOST: Final = 200
_DAMAGE: Final = (KeyError, TypeError, ValueError, AttributeError, Terminal)
"""What a check raises when an item is not even of the form that it has to have."""


class Mended(StrEnum):
    """What became of a finding."""

    NOT_TRIED = "not_tried"
    MENDED = "mended"
    NOT_POSSIBLE = "not_possible"
    CHANGED = "changed"
    """Somebody else has changed the item meanwhile."""


@dataclass(frozen=True, slots=True)
class Report:
    """A finding that was seen twice, and what became of it."""

    finding: IntegrityFinding
    mended: Mended


@dataclass(slots=True)
class Verifier:
    """Holds every item of the table to every check.

    Attributes:
        patience: seconds between the two looks at whatever seems wrong.
        page: items of a page at most; 1 MB when None.
        items: how many items were looked at.
    """

    table: Table
    checks: Sequence[Check]
    patience: float = PATIENCE
    page: int | None = None
    sleep: Callable[[float], None] = field(default=time.sleep)
    monotonic: Callable[[], float] = field(default=time.monotonic)
    items: int = 0
    _suspects: list[tuple[Check, IntegrityFinding]] = field(default_factory=list)
    _reported: set[tuple[str, str, str]] = field(default_factory=set)

    def run(
        self, *, segments: int = 1, repair: bool = False, watch: Callable[[int], None] = lambda _: None
    ) -> Iterator[Report]:
        """Yield what is wrong, each once.

        Args:
            segments: parts of the table that are read at the same time.
            repair: make right what can be, as it is found.
            watch: called for each page with the number of its items.

        Raises:
            TableBusy: if the table is not able to answer now.
        """
        for items in pages_of(self.table, segments, self.page):
            for check in self.checks:
                self._suspects += [(check, finding) for finding in _examined(check, items)]
            self.items += len(items)
            watch(len(items))
            if len(self._suspects) >= _SUSPECTS_AT_MOST:
                yield from self._settle(repair=repair)
        yield from self._settle(repair=repair)

    def _settle(self, *, repair: bool) -> Iterator[Report]:
        """Check again what seemed wrong, and yield what is still wrong."""
        suspects, self._suspects = self._suspects, []
        if not suspects:
            return
        self.sleep(self.patience)
        # All are judged before the first is mended: to mend one may hide another.
        for check, finding in list(self._confirmed(suspects)):
            yield Report(finding, _mended(check, finding) if repair else Mended.NOT_TRIED)

    def _confirmed(
        self, suspects: Sequence[tuple[Check, IntegrityFinding]]
    ) -> Iterator[tuple[Check, IntegrityFinding]]:
        by_check: dict[str, tuple[Check, list[IntegrityFinding]]] = {}
        for check, finding in suspects:
            by_check.setdefault(check.name, (check, []))[1].append(finding)
        for check, findings in by_check.values():
            again = self.table.batch_get((finding.about for finding in findings), consistent=True)
            suspected = {finding.place for finding in findings} - self._reported
            for finding in _examined(check, again):
                if finding.place in suspected and finding.place not in self._reported:
                    self._reported.add(finding.place)
                    yield check, finding


def _examined(check: Check, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
    """Yield what a check finds; an item that it cannot read is a finding and hides no other."""
    try:
        yield from list(check.examine(items))
    except _DAMAGE as error:
        if len(items) == 1:
            problem = f"it does not have the form of its kind: {type(error).__name__}: {str(error)[:200]}"
            yield check.found(items[0], problem, repairable=False)
            return
        for item in items:
            yield from _examined(check, [item])


def _mended(check: Check, finding: IntegrityFinding) -> Mended:
    if not finding.repairable:
        return Mended.NOT_POSSIBLE
    try:
        return Mended.MENDED if check.repair(finding) else Mended.NOT_POSSIBLE
    except ConditionFailed:
        return Mended.CHANGED
    except _DAMAGE:
        return Mended.NOT_POSSIBLE
