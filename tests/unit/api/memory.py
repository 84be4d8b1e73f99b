"""A table in memory that keeps what DynamoDB promises of a query, and nothing it does not promise.

Items of one index partition that share a sort key come in an order that has nothing to do with their keys,
and which differs from partition to partition; a start key need not exist any more, but must satisfy the
key condition.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from boto3.dynamodb.conditions import ConditionBase

from sourcebook.table import keys
from sourcebook.table.client import QueryPage, Table
from sourcebook.table.codec import Item

INDEXES = {
    None: ("PK", "SK"),
    keys.STATUS_INDEX: ("status", "timestamp"),
    keys.SENTIMENT_INDEX: ("sentiment", "timestamp"),
    keys.TAG_INDEX: ("tag", "timestamp"),
}
KEYS_ONLY = (keys.STATUS_INDEX, keys.SENTIMENT_INDEX)


class MemoryTable(Table):
    def __init__(self) -> None:
        self.items: dict[tuple[str, str], Item] = {}
        self.queries = 0
        self.shards = keys.ONE_SHARD

    def put(self, item: Mapping[str, object], condition: ConditionBase | None = None) -> None:
        assert condition is None
        key = str(item["PK"]), str(item["SK"])
        self.items[key] = {name: value for name, value in item.items() if value is not None}

    def batch_get(
        self, keys: Iterable[keys.Key], *, attributes: Sequence[str] = (), consistent: bool = False
    ) -> list[Item]:
        found = [self.items.get((key["PK"], key["SK"])) for key in keys]
        return [dict(item) for item in found if item is not None][::-1]

    def query(
        self,
        condition: ConditionBase,
        *,
        index: str | None = None,
        where: ConditionBase | None = None,
        newest_first: bool = False,
        limit: int | None = None,
        start: Mapping[str, object] | None = None,
        attributes: Sequence[str] = (),
        consistent: bool = False,
    ) -> QueryPage:
        self.queries += 1
        partition, sort = INDEXES[index]

        def place(item: Mapping[str, object]) -> tuple[str, str]:
            return str(item[sort]), _scattered(f"{item[partition]} {item['PK']} {item['SK']}")

        members = [i for i in self.items.values() if partition in i and sort in i and holds(condition, i)]
        members.sort(key=place, reverse=newest_first)
        if start is not None:
            assert holds(condition, start), "DynamoDB refuses a start key outside of the key condition"
            assert set(start) == {partition, sort, "PK", "SK"}, "DynamoDB wants exactly the key attributes"
            after = place(start)
            members = [i for i in members if (place(i) < after if newest_first else place(i) > after)]
        taken = members[:limit]
        returned = [item for item in taken if where is None or holds(where, item)]
        projected = {partition, sort, "PK", "SK"} if index in KEYS_ONLY else None
        items = [{n: v for n, v in item.items() if projected is None or n in projected} for item in returned]
        stopped = limit is not None and len(taken) == limit
        last = {name: taken[-1][name] for name in (partition, sort, "PK", "SK")} if stopped else None
        return QueryPage(items, last)


@cache
def _scattered(identity: str) -> str:
    return hashlib.sha256(identity.encode()).hexdigest()


def holds(condition: ConditionBase, item: Mapping[str, Any]) -> bool:
    built = condition.get_expression()
    operator, values = built["operator"], built["values"]
    if operator == "AND":
        return all(holds(value, item) for value in values)
    found, *bounds = item[values[0].name], *values[1:]
    match operator:
        case "=":
            return bool(found == bounds[0])
        case "<=":
            return bool(found <= bounds[0])
        case ">=":
            return bool(found >= bounds[0])
        case "BETWEEN":
            return bool(bounds[0] <= found <= bounds[1])
    raise NotImplementedError(operator)
