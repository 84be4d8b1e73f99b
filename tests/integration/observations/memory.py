"""A table in memory that judges conditions as DynamoDB does: moto takes milliseconds for each request.

The same tests run a few of their examples on moto, so what this table gets wrong would show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from boto3.dynamodb import conditions as c

from sourcebook.table.client import ConditionFailed, QueryPage
from sourcebook.table.codec import Item, decode_item, encode_item
from sourcebook.table.keys import Key
from tests.moto_table import MotoTable

_ABSENT = object()


class MemoryTable(MotoTable):
    def __init__(self) -> None:
        self.items: dict[tuple[str, str], Item] = {}

    def get(self, key: Key, *, consistent: bool = False) -> Item | None:
        found = self.items.get((key["PK"], key["SK"]))
        return None if found is None else _copy(found)

    def batch_get(
        self, keys: Iterable[Key], *, attributes: Sequence[str] = (), consistent: bool = False
    ) -> list[Item]:
        return [item for key in keys if (item := self.get(key)) is not None]

    def put(self, item: Mapping[str, object], condition: c.ConditionBase | None = None) -> None:
        place = str(item["PK"]), str(item["SK"])
        self._check(place, condition)
        self.items[place] = _copy(item)

    def delete(self, key: Key, condition: c.ConditionBase | None = None) -> None:
        self._check((key["PK"], key["SK"]), condition)
        self.items.pop((key["PK"], key["SK"]), None)

    def change(self, key: Key, **changes: Any) -> None:
        self.update(key, **changes)

    def update(
        self,
        key: Key,
        *,
        assign: Mapping[Any, object] | None = None,
        remove: Iterable[Any] = (),
        increment: Mapping[str, int] | None = None,
        condition: c.ConditionBase | None = None,
    ) -> Item:
        place = key["PK"], key["SK"]
        self._check(place, condition)
        item = self.items.setdefault(place, {**key})
        for path, value in (assign or {}).items():
            _set(item, path, value)
        for path in remove:
            _set(item, path, None)
        for name, count in (increment or {}).items():
            item[name] = item.get(name, 0) + count
        self.items[place] = _copy(item)
        return _copy(item)

    def query(self, condition: c.ConditionBase, **options: Any) -> QueryPage:
        assert options.get("index") is None
        start = options.get("start") or {}
        found = sorted(
            (item for item in self.items.values() if holds(condition, item)), key=lambda i: i["SK"]
        )
        after = [dict(item) for item in found if item["SK"] > start.get("SK", "")]
        limit = options.get("limit") or len(after)
        more = len(after) > limit
        last = after[limit - 1] if more else None
        return QueryPage(after[:limit], {"PK": last["PK"], "SK": last["SK"]} if last else None)

    def _check(self, place: tuple[str, str], condition: c.ConditionBase | None) -> None:
        item = self.items.get(place)
        if condition is not None and not holds(condition, item or {}):
            raise ConditionFailed(None if item is None else _copy(item))


def holds(condition: Any, item: Mapping[str, Any]) -> bool:
    parts = condition._values
    match condition:
        case c.And():
            return all(holds(part, item) for part in parts)
        case c.Or():
            return any(holds(part, item) for part in parts)
    attribute, *operands = parts
    value = _value(item, attribute.name)
    match condition:
        case c.AttributeExists():
            return value is not _ABSENT
        case c.AttributeNotExists():
            return value is _ABSENT
    if value is _ABSENT:
        return False
    operand = operands[0]
    match condition:
        case c.Equals():
            return bool(value == operand)
        case c.LessThan():
            return bool(value < operand)
        case c.LessThanEquals():
            return bool(value <= operand)
        case c.GreaterThan():
            return bool(value > operand)
        case c.BeginsWith():
            return str(value).startswith(operand)
        case c.Between():
            return bool(operand <= value <= operands[1])
    raise NotImplementedError(type(condition).__name__)


def _value(item: Mapping[str, Any], path: str) -> Any:
    value: Any = item
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _ABSENT
        value = value[part]
    return value


def _set(item: dict[str, Any], path: Any, value: object) -> None:
    *way, name = (path,) if isinstance(path, str) else path
    for part in way:
        item = item[part]
    if value is None:
        item.pop(name, None)
    else:
        item[name] = value


def _copy(item: Mapping[str, Any]) -> Item:
    return decode_item(encode_item(item))
