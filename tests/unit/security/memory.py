"""A table in memory that keeps single items too."""

from __future__ import annotations

from collections.abc import Mapping

from boto3.dynamodb.conditions import ConditionBase

from sourcebook.table.codec import Item
from sourcebook.table.keys import Key
from tests.unit.api.memory import MemoryTable


class Kept(MemoryTable):
    name = "kept"

    def put(self, item: Mapping[str, object], condition: ConditionBase | None = None) -> None:
        super().put(item)

    def get(self, key: Key, *, consistent: bool = False) -> Item | None:
        return self.items.get((key["PK"], key["SK"]))

    def __repr__(self) -> str:
        return "Kept()"
