"""moto with less work for the same answers: looking up names was a third of the CPU of what runs on it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import moto.core.responses
import moto.core.serialize
import moto.dynamodb.models.dynamo_type
import moto.dynamodb.models.table

responses: Any = moto.core.responses
serializer: Any = moto.core.serialize.BaseJSONSerializer
dynamo_type: Any = moto.dynamodb.models.dynamo_type.DynamoType
table: Any = moto.dynamodb.models.table.Table
_any_structure = serializer._serialize_type_structure
_any_value = dynamo_type.cast_value.fget


def hasten() -> None:
    """Replace functions of moto by ones with the same results."""
    serializer._serialize_type_structure = _structure
    dynamo_type.cast_value = property(_cast_value)
    table.all_items = _all_items
    responses.method_names_from_class = lru_cache(maxsize=None)(responses.method_names_from_class)


def _structure(self: Any, serialized: Any, value: Any, shape: Any, key: str) -> None:
    """Write a value of DynamoDB by the one member that it has; moto looks for all ten, each by many names."""
    if not (key and shape.name == "AttributeValue" and type(value) is dict and len(value) == 1):
        _any_structure(self, serialized, value, shape, key)
        return
    written = self.MAP_TYPE()
    for name, member in value.items():
        if member is not None:
            self._serialize(written, member, shape.members[name], name)
    self._default_serialize(serialized, written, shape, key)


def _cast_value(self: Any) -> Any:
    return self.value if self.type == "S" else _any_value(self)


def _all_items(self: Any) -> list[Any]:
    """Return a table's items by their keys, which moto compares as objects: each query asks for all."""
    if not self.range_key_attr:
        return sorted(self.items.values(), key=lambda item: item.hash_key.cast_value)
    # Copies: other threads write meanwhile.
    items = [item for held in list(self.items.values()) for item in list(held.values())]
    return sorted(items, key=lambda item: (item.hash_key.cast_value, item.range_key.cast_value))
