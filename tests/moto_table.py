"""The table in moto, without what moto gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import and_
from threading import Lock
from typing import Any

from boto3.dynamodb.conditions import Attr

from sourcebook.table.client import Change, ConditionFailed, Table, TableBusy, TableRefused, in_any_shard
from sourcebook.table.codec import Item

_ONE_AT_A_TIME = Lock()
"""moto looks at the condition and then writes, where DynamoDB does both at once."""


class MotoTable(Table):
    """Writes items one by one: moto's PartiQL is wrong. The real way is tested on the embedded cloud."""

    def create_many(
        self, items: Sequence[Mapping[str, object]]
    ) -> list[Item | TableBusy | TableRefused | None]:
        return [self._create_one(item) for item in items]

    def update_many(self, changes: Sequence[Change]) -> list[bool | TableBusy | TableRefused]:
        return [self._change_one(change) for change in changes]

    def _change_one(self, change: Change) -> bool | TableBusy | TableRefused:
        holds = [
            Attr("PK").exists(),
            *(in_any_shard(name, value) for name, value in change.expected.items()),
        ]
        try:
            with _ONE_AT_A_TIME:
                self.change(change.key, assign=change.assign, condition=reduce(and_, holds))
        except ConditionFailed:
            return False
        except (TableBusy, TableRefused) as error:
            return error
        return True

    def _create_one(self, item: Mapping[str, object]) -> Item | TableBusy | TableRefused | None:
        try:
            with _ONE_AT_A_TIME:
                return self.create(item)
        except (TableBusy, TableRefused) as error:
            return error


class WatchedTable(MotoTable):
    """Hands each write to `_write` in place of making it; a creation is a put."""

    def _write(self, write: Callable[[], Any]) -> Any:
        raise NotImplementedError

    def put(self, *args: Any, **kwargs: Any) -> None:
        self._write(lambda: super(WatchedTable, self).put(*args, **kwargs))

    def update(self, *args: Any, **kwargs: Any) -> Any:
        return self._write(lambda: super(WatchedTable, self).update(*args, **kwargs))

    def change(self, *args: Any, **kwargs: Any) -> None:
        self._write(lambda: super(WatchedTable, self).change(*args, **kwargs))

    def transact(self, *args: Any, **kwargs: Any) -> None:
        self._write(lambda: super(WatchedTable, self).transact(*args, **kwargs))

    def put_many(self, *args: Any, **kwargs: Any) -> None:
        self._write(lambda: super(WatchedTable, self).put_many(*args, **kwargs))

    def delete_many(self, *args: Any, **kwargs: Any) -> None:
        self._write(lambda: super(WatchedTable, self).delete_many(*args, **kwargs))


class Dying(Exception):
    """The process is gone."""


class DyingTable(WatchedTable):
    """A table whose process dies at its n-th write, before it or right after it."""

    def __init__(self, table: Table, writes: int, *, after: bool = False) -> None:
        super().__init__(table.name, table.client, shards=table.shards)
        self.left, self.after = writes, after

    def _write(self, write: Callable[[], Any]) -> Any:
        self.left -= 1
        if self.left < 0 and not self.after:
            raise Dying
        done = write()
        if self.left < 0:
            raise Dying
        return done
