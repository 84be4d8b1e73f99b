"""Python values to DynamoDB's typed JSON and back. Numbers come back as int or float, never as Decimal."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from sourcebook.table.keys import SHARDED, without_shard

Item: TypeAlias = dict[str, Any]
"""An item or part of one as plain Python values."""


def encode(value: object) -> dict[str, object]:
    """Return the typed form of one value.

    Strings, booleans, integers, floats, Decimals, bytes, lists, tuples, mappings and non-empty sets of
    strings are known; None becomes NULL.

    Raises:
        TypeError: for any other type, a datetime for one: the caller decides how time is written.
        ValueError: for a float that is not finite, which DynamoDB cannot hold.
    """
    match value:
        case str():
            return {"S": value}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case float():
            if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124
                raise ValueError(f"DynamoDB has no number {value!r}")
            return {"N": repr(value)}
        case Decimal():
            return {"N": str(value)}
        case bytes():
            return {"B": value}
        case None:
            return {"NULL": True}
        case dict() | Mapping():  # the first is asked quickly, the second slowly
            return {"M": {str(key): encode(member) for key, member in value.items()}}
        case set() | frozenset():
            return {"SS": sorted(value)}
        case list() | tuple():
            return {"L": [encode(member) for member in value]}
    raise TypeError(f"{type(value).__name__} has no form in the table: {value!r:.80}")


def encode_item(item: Mapping[str, object]) -> dict[str, Any]:
    """Return an item's typed form without its absent (None) attributes.

    An index refuses null and empty keys, and an absent attribute costs nothing.
    """
    # Most values are text: not to ask what they are takes a third off the whole.
    return {
        name: {"S": value} if type(value) is str else encode(value)
        for name, value in item.items()
        if value is not None
    }


def decode(value: Mapping[str, Any]) -> Any:  # noqa: ANN401 - the type is in the data
    """Return the Python value of one typed value; numbers become int when integral, float otherwise."""
    ((kind, content),) = value.items()
    match kind:
        case "S" | "BOOL":
            return content
        case "B":  # boto3 gives bytes; on the wire, and in a stream's records, it is text
            return b64decode(content) if isinstance(content, str) else content
        case "N":
            return _number(content)
        case "NULL":
            return None
        case "M":
            return {name: decode(member) for name, member in content.items()}
        case "L":
            return [decode(member) for member in content]
        case "SS":
            return set(content)
    raise TypeError(f"unknown DynamoDB type {kind!r}")


def decode_item(item: Mapping[str, Mapping[str, object]]) -> Item:
    """Return an item as plain Python values; of a value that is spread over shards, the value itself."""
    found = decode_key(item)
    for name in SHARDED:
        if isinstance(stored := found.get(name), str):
            found[name] = without_shard(name, stored)
    return found


def decode_key(key: Mapping[str, Mapping[str, object]]) -> Item:
    """Return a key of an index as it stands there, shard and all, so that a query can start after it."""
    return {name: decode(value) for name, value in key.items()}


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        number = Decimal(text)
        return int(number) if number == number.to_integral_value() else float(number)
