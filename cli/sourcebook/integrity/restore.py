"""Making one table what another is: the last step after a point-in-time restore.

DynamoDB restores into a new table, never into the one that was damaged. The stack's own table keeps its
name, its indexes, its alarms and its backups, so what was restored is brought back into it, item by item.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sourcebook.integrity.model import place_of
from sourcebook.integrity.walk import pages_of
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item


@dataclass(frozen=True, slots=True)
class Restored:
    """How two tables differ, and what was done about it.

    Attributes:
        same: items that both have alike.
        missing: items that only the restored table has: put back.
        differing: items that are otherwise than in the restored table: set back.
        new: items that only the stack's table has: removed.
    """

    same: int = 0
    missing: int = 0
    differing: int = 0
    new: int = 0


@dataclass(slots=True)
class Restorer:
    """Brings the items of a restored table back.

    It may be stopped and run again, and what it did is done: it compares before it writes. Nothing else may
    write meanwhile, or what it wrote may be lost.

    Attributes:
        table: of the stack, which is changed.
        restored: where the items are as they should be; only read.
        only_missing: put back what is missing, and leave alone what is otherwise or new.
        dry: change nothing, only count.
    """

    table: Table
    restored: Table
    only_missing: bool = False
    dry: bool = False
    counts: Restored = field(default_factory=Restored)

    def run(self, *, segments: int = 1, watch: Callable[[int], None] = lambda _: None) -> Restored:
        """Compare both tables, a page at a time, and make the stack's what the restored one is.

        Args:
            segments: parts of each table that are read at the same time.
            watch: called for each page with the number of its items.

        Raises:
            TableBusy: if one of the tables is not able to answer now; run it again.
            TableRefused: if there is no such table, or a permission is missing.
        """
        for items in pages_of(self.restored, segments):
            self._bring_back(items)
            watch(len(items))
        if not self.only_missing:
            for items in pages_of(self.table, segments):
                self._remove(items)
                watch(len(items))
        return self.counts

    def _bring_back(self, items: Sequence[Item]) -> None:
        there = _by_key(self.table.batch_get(map(keys.key_of, items), consistent=True))
        missing = [item for item in items if place_of(item) not in there]
        differing = [item for item in items if place_of(item) in there and there[place_of(item)] != item]
        if not self.dry:
            self.table.put_many(missing if self.only_missing else missing + differing)
        self.counts = replace(
            self.counts,
            same=self.counts.same + len(items) - len(missing) - len(differing),
            missing=self.counts.missing + len(missing),
            differing=self.counts.differing + len(differing),
        )

    def _remove(self, items: Sequence[Item]) -> None:
        wanted = _by_key(
            self.restored.batch_get(map(keys.key_of, items), attributes=("PK",), consistent=True)
        )
        new = [keys.key_of(item) for item in items if place_of(item) not in wanted]
        if not self.dry:
            self.table.delete_many(new)
        self.counts = replace(self.counts, new=self.counts.new + len(new))


def _by_key(items: Sequence[Item]) -> dict[tuple[str, str], Item]:
    return {place_of(item): item for item in items}
