"""Items and the shards that they belong in: a check that finds those elsewhere, and the step that moves them.

Which shard is an item's own follows from its PK and from `index_shards`, a choice of the deployment
(docs/decisions/0350). Whatever stands in another one was written when the choice was another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from sourcebook.errors import SourcebookError
from sourcebook.integrity.model import ItemCheck
from sourcebook.integrity.walk import pages_of
from sourcebook.migrations.steps import Step
from sourcebook.table import keys
from sourcebook.table.client import Change, Table, in_any_shard
from sourcebook.table.codec import Item

Watch: TypeAlias = Callable[[int], None]
"""Called with the number of further entries of an index that were read."""

_INDEXES: Final = {
    "status": (keys.STATUS_INDEX, "timestamp"),
    "sentiment": (keys.SENTIMENT_INDEX, "timestamp"),
    "GSI1PK": (keys.ELIGIBILITY_INDEX, "GSI1SK"),
}
"""Index and sort key by the attributes of `keys.SHARDED`."""
_SEGMENTS: Final = 4
"""Parts of an index that are read at the same time."""


@dataclass(frozen=True, slots=True)
class ItemsStandInTheirShards(ItemCheck):
    """An item stands in the shard that its PK says, in each index that has shards."""

    name = "shards"

    def _problem(self, item: Item) -> str:
        wrong = _misplaced(self.table.shards, item)
        return "; ".join(self._difference(item, attribute) for attribute in wrong)

    def _difference(self, item: Item, attribute: str) -> str:
        there, shards = keys.shard_in(item[attribute]), self.table.shards
        index, _ = _INDEXES[attribute]
        unseen = "" if there < shards.count else ", which no list asks for"
        return f"it stands in shard {there} of {index}{unseen}, and should in {shards.of(item['PK'])}"

    def _mend(self, key: keys.Key, item: Item) -> bool:
        for attribute in _misplaced(self.table.shards, item):
            unchanged = in_any_shard(attribute, item[attribute])
            self.table.change(key, assign={attribute: item[attribute]}, condition=unchanged)
        return True


def _misplaced(shards: keys.Shards, item: Item) -> list[str]:
    """Return the attributes by which an item stands in another shard of an index than its own."""
    return [
        attribute
        for attribute, (_, sort_key) in _INDEXES.items()
        if attribute in item
        and sort_key in item
        and keys.is_sharded(attribute, item[attribute])
        and keys.shard_in(item[attribute]) != shards.of(item["PK"])
    ]


def move_to_shards(table: Table, watch: Watch = lambda _: None) -> int:
    """Move what stands in another shard than its own, and return how many entries of indexes that were.

    The indexes are read whole, so it does not matter what the choice was before. An entry moves if its value
    is still what the index says, and nothing else of its item is written. So this runs beside all other
    writers, may be stopped at any time, and finds nothing to do when it is run again.

    Raises:
        TableBusy: if the table is not able to answer now; run it again.
    """
    moved = 0
    for attribute, entries in _strangers(table, watch):
        values = [(keys.key_of(entry), {attribute: entry[attribute]}) for entry in entries]
        for outcome in table.update_many([Change(key, value, value) for key, value in values]):
            if isinstance(outcome, SourcebookError):
                raise outcome
            moved += outcome
    return moved


def _strangers(table: Table, watch: Watch) -> Iterator[tuple[str, list[Item]]]:
    """Yield the entries of indexes that belong into another shard, those of a page at a time."""
    for attribute in keys.SHARDED:
        index, _ = _INDEXES[attribute]
        for entries in pages_of(table, _SEGMENTS, index=index):
            watch(len(entries))
            wrong = [entry for entry in entries if attribute in _misplaced(table.shards, entry)]
            if wrong:
                yield attribute, wrong


def has_strangers(table: Table) -> bool:
    """Return whether an entry of an index stands in another shard than its own; read until there is one."""
    return next(_strangers(table, lambda _: None), None) is not None


def step(watch: Watch = lambda _: None) -> Step:
    """Return the step that moves items to their shards; run each time, for the choice may have changed."""
    return Step(
        "shards",
        "Items: each stands in its shard of the indexes",
        lambda table: move_to_shards(table, watch),
        has_strangers,
        is_repeated=True,
    )
