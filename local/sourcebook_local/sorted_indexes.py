"""Keeps the entries of DynamoDB's indexes in order, so that the cost of a query is that of its page.

MiniStack takes all entries of an index partition, sorts them, and evaluates the key condition for each:
a page of ten of 50,000 articles takes as long as all of them. Here the entries of a partition are kept
in order from its first query on. A query is given the entries from which its page is made: those in the
range of its key condition, after the cursor, up to its limit. MiniStack still sorts, evaluates, filters
and pages, so the answers are its own.

Runs in MiniStack's own interpreter. See `launcher`, which loads it.
"""

from __future__ import annotations

import inspect
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType, ModuleType
from typing import Any, TypeAlias

Base: TypeAlias = tuple[Any, Any]
"""The keys of an item in the table."""
Entry: TypeAlias = tuple[tuple[Any, ...], Base]
"""The sort position of an item in its index partition, and its keys in the table."""
Token: TypeAlias = tuple[str, str]
"""Of an expression: its kind and its text, as MiniStack reads it."""

_USED = {
    "_query": ["data"],
    "_index_members": ["table"],
    "_index_item": ["table", "base_pk", "base_sk", "item", "add"],
    "_index_def": ["table", "index_name"],
    "_index_key_lists": ["index"],
    "_index_key_schemas": ["table"],
    "_index_partition": ["item", "hashes", "ranges"],
    "_index_order_keys": ["table", "sk_name"],
    "_index_order_value": ["item", "name", "type_hint"],
    "_sort_key_value": ["attr", "sk_type"],
    "_extract_key_val": ["attr"],
    "_key_condition_clauses": ["tokens"],
    "_normalize_table_name": ["value"],
    "_tokenize": None,
}
"""MiniStack's functions that this relies on, with their parameters."""


class ChangedError(Exception):
    """MiniStack does not keep its indexes as the pinned version does."""


@dataclass(slots=True)
class _Table:
    """The ordered partitions of a table, by index and partition key.

    They are valid as long as `members` is what the table has its index entries in.
    """

    table: dict[str, Any]
    members: object
    partitions: dict[tuple[str, object], list[Entry]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Index:
    name: str
    hash_key: str
    range_key: str | None
    order: Sequence[tuple[str, str]]
    """Attributes by which entries stand in order, each with its type."""


class SortedIndexes:
    """Replaces MiniStack's queries of indexes."""

    def __init__(self, dynamodb: ModuleType) -> None:
        """Replace the functions that query, and that add an item to its indexes or remove it.

        Raises:
            ChangedError: if one of the functions relied on is not as the pinned version has it.
        """
        for name, parameters in _USED.items():
            found = getattr(dynamodb, name, None)
            if not callable(found) or (
                parameters is not None
                and (
                    not isinstance(found, FunctionType)
                    or list(inspect.signature(found).parameters) != parameters
                )
            ):
                raise ChangedError(f"{name} is not a function of {parameters}")
        self._dynamodb: Any = dynamodb
        self._query: Callable[[dict[str, Any]], object] = dynamodb._query
        self._members: Callable[[dict[str, Any]], Mapping[str, Any]] = dynamodb._index_members
        self._index_item: Callable[..., None] = dynamodb._index_item
        self._lock = threading.RLock()
        self._tables: dict[int, _Table] = {}
        self._narrowed: Mapping[str, Mapping[object, Sequence[Base]]] | None = None
        dynamodb._query = self.query  # type: ignore[attr-defined]
        dynamodb._index_members = self.members  # type: ignore[attr-defined]
        dynamodb._index_item = self.index_item  # type: ignore[attr-defined]

    def query(self, data: dict[str, Any]) -> object:
        """Return MiniStack's answer to a query, made of the entries that it needs."""
        with self._lock:
            try:
                self._narrowed = self._narrow(data)
            except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError):
                self._narrowed = None  # a request that MiniStack refuses, in its own words
            try:
                return self._query(data)
            finally:
                self._narrowed = None

    def members(self, table: dict[str, Any]) -> Mapping[str, Any]:
        """Return by index the items of its partitions: those that the query needs which is being answered."""
        narrowed = self._narrowed
        return self._members(table) if narrowed is None else narrowed

    def index_item(
        self, table: dict[str, Any], base_pk: object, base_sk: object, item: dict[str, Any], add: bool
    ) -> None:
        """Add an item to the indexes that have it, or remove it."""
        with self._lock:
            self._index_item(table, base_pk, base_sk, item, add)
            known = self._tables.get(id(table))
            if known is None:
                return
            if table.get("_index_members") is not known.members:
                del self._tables[id(table)]
                return
            for name, hashes, ranges in self._dynamodb._index_key_schemas(table):
                partition = self._dynamodb._index_partition(item, hashes, ranges)
                entries = known.partitions.get((name, partition))
                if partition is None or entries is None:
                    continue
                entry = self._entry(self._index(table, name), item, (base_pk, base_sk))
                place = bisect_left(entries, entry)
                there = place < len(entries) and entries[place] == entry
                if add and not there:
                    entries.insert(place, entry)
                elif not add and there:
                    del entries[place]

    def _index(self, table: dict[str, Any], name: str) -> _Index:
        """Return the attributes of an index.

        Raises:
            ValueError: if its partition or its order is made of several attributes.
        """
        hashes, ranges = self._dynamodb._index_key_lists(self._dynamodb._index_def(table, name))
        if len(hashes) != 1 or len(ranges) > 1:
            raise ValueError(name)
        return _Index(
            name, hashes[0], ranges[0] if ranges else None, self._dynamodb._index_order_keys(table, ranges)
        )

    def _entry(self, index: _Index, item: Mapping[str, Any], base: Base) -> Entry:
        return tuple(self._dynamodb._index_order_value(item, *key) for key in index.order), base

    def _partition(self, table: dict[str, Any], index: _Index, partition: object) -> list[Entry]:
        """Return the entries of an index partition in order, which stays so from now on."""
        members = self._members(table)
        known = self._tables.get(id(table))
        if known is None or known.members is not members:
            known = self._tables[id(table)] = _Table(table, members)
        entries = known.partitions.get((index.name, partition))
        if entries is None:
            items = table["items"]
            bases = members[index.name].get(partition, ())
            entries = sorted(self._entry(index, items[pk][sk], (pk, sk)) for pk, sk in bases)
            known.partitions[index.name, partition] = entries
        return entries

    def _narrow(self, data: dict[str, Any]) -> Mapping[str, Mapping[object, Sequence[Base]]] | None:
        """Return the entries that a query needs; None if the query is not one of an index by an expression.

        Raises:
            TypeError, ValueError, KeyError, AttributeError, ArithmeticError: if it is not well formed.
        """
        table = self._dynamodb._tables.get(self._dynamodb._normalize_table_name(data.get("TableName")))
        name, condition = data.get("IndexName"), data.get("KeyConditionExpression")
        if not table or not name or not condition or data.get("KeyConditions"):
            return None
        index = self._index(table, name)
        names, values = data.get("ExpressionAttributeNames") or {}, data["ExpressionAttributeValues"]
        partition: object = None
        within: list[tuple[str, list[Any]]] = []
        kind = index.order[0][1] if index.range_key else "S"
        for clause in self._dynamodb._key_condition_clauses(self._dynamodb._tokenize(condition)):
            attribute, operator, operands = _comparison(clause, names)
            if attribute == index.hash_key and operator == "EQ":
                partition = self._dynamodb._extract_key_val(values[operands[0]])
            elif attribute == index.range_key:
                if any(set(values[operand]) != {kind} for operand in operands):
                    return None
                within.append(
                    (operator, [self._dynamodb._sort_key_value(values[one], kind) for one in operands])
                )
            else:
                return None
        if partition is None or len(within) > 1:
            return None
        entries = self._partition(table, index, partition)
        start, end = 0, len(entries)
        for operator, operands in within:
            start, end = _RANGES[operator](entries, *operands)
        forward, cursor = data.get("ScanIndexForward", True), data.get("ExclusiveStartKey")
        if cursor:
            place = self._entry(index, cursor, ("", ""))[0]
            if forward:
                start = max(start, bisect_right(entries, place, key=_order))
            else:
                end = min(end, bisect_left(entries, place, key=_order))
        if (limit := data.get("Limit")) is not None:
            start, end = (
                (start, min(end, start + int(limit))) if forward else (max(start, end - int(limit)), end)
            )
        # One at least, since MiniStack looks for some mistakes in a condition only as it evaluates it. It
        # leaves out what is not in the range or not after the cursor.
        return {name: {partition: [base for _, base in entries[start:end] or entries[:1]]}}


def _comparison(clause: Sequence[Token], names: Mapping[str, str]) -> tuple[str, str, list[str]]:
    """Return attribute, operator and the names of the values of one clause of a key condition.

    Raises:
        ValueError: if it is written in another way than AWS documents.
    """
    kinds = [kind for kind, _ in clause]
    texts = [text for _, text in clause]
    named = {"IDENT": lambda text: text, "NAME_REF": names.__getitem__}
    if len(clause) == 3 and kinds[0] in named and kinds[2] == "VALUE_REF" and kinds[1] in _RANGES:
        return named[kinds[0]](texts[0]), kinds[1], [texts[2]]
    if (
        len(clause) == 5
        and kinds[0] in named
        and kinds[1:] == ["IDENT", "VALUE_REF", "IDENT", "VALUE_REF"]
        and texts[1].upper() == "BETWEEN"
    ):
        return named[kinds[0]](texts[0]), "BETWEEN", [texts[2], texts[4]]
    if (
        len(clause) == 6
        and texts[0].lower() == "begins_with"
        and kinds[2] in named
        and kinds[3:] == ["COMMA", "VALUE_REF", "RPAREN"]
    ):
        return named[kinds[2]](texts[2]), "BEGINS_WITH", [texts[4]]
    raise ValueError("another form")


def _order(entry: Entry) -> tuple[Any, ...]:
    return entry[0]


def _first(entry: Entry) -> object:
    return entry[0][0]


_left, _right = partial(bisect_left, key=_first), partial(bisect_right, key=_first)


def _beginning(entries: Sequence[Entry], prefix: str | bytes) -> tuple[int, int]:
    return _left(entries, prefix), bisect_right(entries, prefix, key=lambda entry: entry[0][0][: len(prefix)])


_RANGES: Mapping[str, Callable[..., tuple[int, int]]] = {
    "EQ": lambda entries, value: (_left(entries, value), _right(entries, value)),
    "LT": lambda entries, value: (0, _left(entries, value)),
    "LE": lambda entries, value: (0, _right(entries, value)),
    "GT": lambda entries, value: (_right(entries, value), len(entries)),
    "GE": lambda entries, value: (_left(entries, value), len(entries)),
    "BETWEEN": lambda entries, low, high: (_left(entries, low), _right(entries, high)),
    "BEGINS_WITH": _beginning,
}
"""Where the entries in the range of a condition begin and end, by its operator."""
