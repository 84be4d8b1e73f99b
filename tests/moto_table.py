"""The table in moto, without what moto gets wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sourcebook.table.client import Table, TableBusy, TableRefused
from sourcebook.table.codec import Item


class MotoTable(Table):
    """Creates items one by one: moto's PartiQL is wrong. The real way is tested on the embedded cloud."""

    def create_many(
        self, items: Sequence[Mapping[str, object]]
    ) -> list[Item | TableBusy | TableRefused | None]:
        return [self._create_one(item) for item in items]

    def _create_one(self, item: Mapping[str, object]) -> Item | TableBusy | TableRefused | None:
        try:
            return self.create(item)
        except (TableBusy, TableRefused) as error:
            return error
