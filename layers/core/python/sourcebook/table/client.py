"""The table as this project uses it: conditional writes that say what they found, bounded reads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, TypedDict, TypeVar, Unpack

import boto3
from boto3.dynamodb.conditions import Attr, ConditionBase, ConditionExpressionBuilder
from boto3.dynamodb.conditions import Key as KeyCondition
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.direct import with_direct_calls
from sourcebook.errors import Retryable, SourcebookError, Terminal
from sourcebook.table.codec import Item, decode_item, decode_key, encode, encode_item
from sourcebook.table.keys import ONE_SHARD, Key, Shards, is_sharded, key_of, shard_bounds

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import QueryOutputTypeDef, ScanOutputTypeDef

AnswerT = TypeVar("AnswerT")

Path: TypeAlias = str | tuple[str, ...]
"""Name of an attribute, or the names on the way to a nested one."""

Assignments: TypeAlias = Mapping[Any, object]
"""Values by `Path`."""

CONNECTIONS: Final = 32
"""Connections that one process holds open to AWS at most: as many requests are under way at one time."""

_BATCH_GET_LIMIT = 100
_BATCH_WRITE_LIMIT = 25
_BATCH_ATTEMPTS = 8
_LARGEST_PAGE = 1_000
_RETRYABLE_CODES = frozenset(
    "InternalServerError LimitExceededException ProvisionedThroughputExceededException "
    "RequestLimitExceeded ServiceUnavailable ThrottlingException TransactionCanceledException "
    "TransactionConflictException".split()
)

_ITEMS_OWN_CODES = frozenset(
    {"ItemCollectionSizeLimitExceededException", "ValidationError", "ValidationException"}
)
"""Refusals of what is in an item, as operations and as statements call them."""

_RETRYABLE_STATEMENT_CODES = frozenset(
    "InternalServerError ProvisionedThroughputExceeded RequestLimitExceeded ThrottlingError "
    "TransactionConflict".split()
)


class TableBusy(Retryable):
    """DynamoDB throttled the call, failed or did not answer, and retries did not help."""


class _OtherState(TableBusy):
    """A statement found its item in another state than it was made for."""


class TableRefused(Terminal):
    """DynamoDB refused the call: a mistake of ours, or a missing permission."""


class TableForbidden(TableRefused):
    """DynamoDB refused the call whatever is in the item: a permission is missing, or the table.

    Nothing is wrong with the item, and it must not be given up for it: once that is mended, it is taken.
    """


class ConditionFailed(SourcebookError):
    """A conditional write found the item in another state.

    Attributes:
        item: the item as it is, or None if there is none.
    """

    def __init__(self, item: Item | None) -> None:
        self.item = item
        super().__init__("the item is not in the state that this write was made for")


def in_any_shard(attribute: str, value: object) -> ConditionBase:
    """Return the condition that an attribute has a value, in whatever shard, or is missing where it is None.

    Which shard that is depends on when it was written, and by a function of which deployment.
    """
    if value is None:
        return Attr(attribute).not_exists()
    if isinstance(value, str) and is_sharded(attribute, value):
        return Attr(attribute).between(*shard_bounds(value))
    return Attr(attribute).eq(value)


def aws_config(**overrides: Any) -> Config:  # noqa: ANN401 - botocore's own options
    """Return the botocore configuration that every client of this project uses."""
    options: dict[str, Any] = {
        "retries": {"mode": "standard", "total_max_attempts": 5},
        "connect_timeout": 3,
        "read_timeout": 15,
        "max_pool_connections": CONNECTIONS,
    }
    return Config(**(options | overrides))


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one item, made for a certain state of it.

    Attributes:
        key: of the item.
        assign: values by `Path`; None removes what is there, so that no null reaches an index.
        expected: values that attributes must have, in whatever shard, None for one that must be missing; when
            one has another, nothing is changed.
    """

    key: Key
    assign: Assignments
    expected: Mapping[str, object]


class Alteration(TypedDict, total=False):
    """What is done to some attributes of an item.

    Attributes:
        assign: values by `Path`; None removes what is there, so that no null reaches an index.
        remove: what is taken away.
        increment: what is added to numbers.
    """

    assign: Assignments
    remove: Iterable[Path]
    increment: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Write:
    """One part of a transaction: puts `item`; or alters the item with `key`; or else deletes or checks it.

    Attributes:
        condition: must hold, or nothing of the transaction is done.
        delete: delete the item with `key`; a key with neither this nor an alteration is only checked.
    """

    key: Key
    item: Mapping[str, object] | None = None
    assign: Assignments = field(default_factory=dict)
    remove: Iterable[Path] = ()
    increment: Mapping[str, int] = field(default_factory=dict)
    delete: bool = False
    condition: ConditionBase | None = None


@dataclass(slots=True)
class Table:
    """One DynamoDB table. Safe to share between threads.

    Every method raises `TableBusy` when DynamoDB is not able to answer now, and `TableRefused` when it
    never will.

    What is spread over shards is spread here and nowhere else: an item that is written, whole or in part,
    gets the value of its shard, and an item that is read has the value itself. Conditions and keys of an
    index are taken as they are: `in_any_shard` and `Shards.read` make those that are meant.

    Attributes:
        shards: over how many partitions what is written is spread.
    """

    name: str
    client: DynamoDBClient
    sleep: Callable[[float], None] = field(default=time.sleep)
    shards: Shards = ONE_SHARD

    @classmethod
    def connect(cls, name: str) -> Table:
        """Return the table with this name in the account and region of the environment.

        Raises:
            InvalidInput: if the environment names no number of shards.
        """
        # botocore would check every value of every request again, which takes it a fifth of its CPU time;
        # `codec` gives no value that DynamoDB has no type for, and DynamoDB itself refuses the rest.
        client = with_direct_calls(boto3.client("dynamodb", config=aws_config(parameter_validation=False)))
        return cls(name, client, shards=Shards.from_environment())

    def _stored(self, item: Mapping[str, object]) -> dict[str, Any]:
        """Return the typed form of an item that is written, in its shards."""
        if self.shards.number > 1:
            own = str(item["PK"])
            item = {name: self.shards.stored(name, value, own) for name, value in item.items()}
        return encode_item(item)

    def get(self, key: Key, *, consistent: bool = False) -> Item | None:
        """Return an item, or None if there is none."""
        with _mapped_errors():
            answer = self.client.get_item(
                TableName=self.name, Key=encode_item(key), ConsistentRead=consistent
            )
        return decode_item(answer["Item"]) if "Item" in answer else None

    def batch_get(
        self, keys: Iterable[Key], *, attributes: Sequence[str] = (), consistent: bool = False
    ) -> list[Item]:
        """Return the items that exist among these keys, in no order, reading 100 a request.

        `attributes` limits what is returned; PK and SK always are.
        """
        remaining = iter({(key["PK"], key["SK"]): key for key in keys}.values())
        found: list[Item] = []
        while chunk := list(islice(remaining, _BATCH_GET_LIMIT)):
            found.extend(self._batch_get(chunk, attributes, consistent=consistent))
        return found

    def _batch_get(self, chunk: list[Key], attributes: Sequence[str], *, consistent: bool) -> Iterator[Item]:
        wanted: dict[str, object] = {
            "Keys": [encode_item(key) for key in chunk],
            "ConsistentRead": consistent,
        }
        if attributes:
            names = {f"#a{n}": name for n, name in enumerate(dict.fromkeys(("PK", "SK", *attributes)))}
            wanted |= {"ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}
        request = {self.name: wanted}
        for attempt in range(_BATCH_ATTEMPTS):
            with _mapped_errors():
                answer = self.client.batch_get_item(RequestItems=request)  # type: ignore[arg-type]
            yield from map(decode_item, answer["Responses"].get(self.name, ()))
            if not (request := answer["UnprocessedKeys"]):  # type: ignore[assignment]
                return
            self.sleep(min(0.05 * 2**attempt, 2.0))
        raise TableBusy(f"{self.name}: keys were still unprocessed after {_BATCH_ATTEMPTS} attempts")

    def put(self, item: Mapping[str, object], condition: ConditionBase | None = None) -> None:
        """Write a whole item.

        Raises:
            ConditionFailed: if `condition` does not hold.
        """
        request: dict[str, object] = {"TableName": self.name, "Item": self._stored(item)}
        _call(self.client.put_item, request | _on(condition))

    def create(self, item: Mapping[str, object]) -> Item | None:
        """Write an item if its key is free.

        Returns:
            None if it was written, otherwise the item that is there.
        """
        try:
            self.put(item, Attr("PK").not_exists())
        except ConditionFailed as found:
            if found.item is None:
                # It was there, and gone before it could be returned: its turn comes with the retry.
                raise TableBusy(f"{item['PK']}: the item vanished while it was being created") from found
            return found.item
        return None

    def create_many(
        self, items: Sequence[Mapping[str, object]]
    ) -> list[Item | TableBusy | TableRefused | None]:
        """Write items whose keys are free, each for itself, 25 a request. Their keys must differ.

        By PartiQL, because no other operation writes several items on conditions of their own without making
        them one transaction, which costs twice the units and fails as a whole.

        Returns:
            For each item what `create` would return or raise. An item of ours that was written although the
            answer got lost is returned as one that is there.
        """
        results: list[Item | TableBusy | TableRefused | None] = [None] * len(items)
        for start in range(0, len(items), _BATCH_WRITE_LIMIT):
            chunk = items[start : start + _BATCH_WRITE_LIMIT]
            statements = [_insertion(self.name, self._stored(item)) for item in chunk]
            for n, error in self._execute(statements, "DuplicateItem").items():
                results[start + n] = error
        there = {n: key_of(items[n]) for n, error in enumerate(results) if isinstance(error, _OtherState)}
        found = {(item["PK"], item["SK"]): item for item in self.batch_get(there.values(), consistent=True)}
        for n, key in there.items():
            gone = TableBusy(f"{key['PK']}: the item vanished while it was being created")
            results[n] = found.get((key["PK"], key["SK"]), gone)
        return results

    def update_many(self, changes: Sequence[Change]) -> list[bool | TableBusy | TableRefused]:
        """Change items, each for itself, 25 a request. Their keys must differ.

        Returns:
            For each whether it was changed; False when it is not in the state that the change was made for,
            or is not there, or, rarely, when the answer to its change got lost and it was made again. An
            error when it could not be changed, also where that is so for the whole request.
        """
        results: list[bool | TableBusy | TableRefused] = [True] * len(changes)
        for start in range(0, len(changes), _BATCH_WRITE_LIMIT):
            chunk = changes[start : start + _BATCH_WRITE_LIMIT]
            statements = [_alteration(self.name, one, self.shards) for one in chunk]
            try:
                errors = self._execute(statements, "ConditionalCheckFailed")
            except (TableBusy, TableRefused) as refusal:
                results[start : start + len(chunk)] = [refusal] * len(chunk)
                continue
            for n, error in errors.items():
                results[start + n] = False if isinstance(error, _OtherState) else error
        return results

    def _execute(
        self, statements: Sequence[dict[str, object]], expected: str
    ) -> dict[int, TableBusy | TableRefused]:
        """Run up to 25 statements; return the errors by number, `_OtherState` for the `expected` code.

        Those that fail for a passing reason are run again.
        """
        ended: dict[int, TableBusy | TableRefused] = {}
        left = dict(enumerate(statements))
        for attempt in range(_BATCH_ATTEMPTS):
            with _mapped_errors():
                answer = self.client.batch_execute_statement(
                    Statements=list(left.values())  # type: ignore[arg-type]
                )
            again: dict[int, dict[str, object]] = {}
            for n, response in zip(left, answer["Responses"], strict=True):
                error = response.get("Error", {})
                code = error.get("Code", "")
                if code == expected:
                    ended[n] = _OtherState(expected)
                elif code in _RETRYABLE_STATEMENT_CODES:
                    again[n] = left[n]
                    ended[n] = TableBusy(f"DynamoDB: {code}: try again later")
                elif code:
                    ended[n] = _refused(code, f"DynamoDB: {code}: {error.get('Message', '')}")
                else:
                    ended.pop(n, None)
            if not (left := again):
                break
            self.sleep(min(0.05 * 2**attempt, 2.0))
        return ended

    def update(
        self, key: Key, *, condition: ConditionBase | None = None, **alteration: Unpack[Alteration]
    ) -> Item:
        """Change some attributes of an item and return it as it is afterwards.

        Raises:
            ConditionFailed: if `condition` does not hold.
        """
        write = Write(key, condition=condition, **alteration)
        request = self._update_request(write) | {"ReturnValues": "ALL_NEW"}
        return decode_item(_call(self.client.update_item, request)["Attributes"])

    def change(
        self, key: Key, *, condition: ConditionBase | None = None, **alteration: Unpack[Alteration]
    ) -> None:
        """Update an item as `update` does, without returning it, which would cost more than the write."""
        write = Write(key, condition=condition, **alteration)
        _call(self.client.update_item, self._update_request(write))

    def change_if(self, condition: ConditionBase, key: Key, **alteration: Unpack[Alteration]) -> bool:
        """Change an item if a condition holds, and return whether it did."""
        try:
            self.change(key, condition=condition, **alteration)
        except ConditionFailed:
            return False
        return True

    def _update_request(self, write: Write) -> dict[str, object]:
        expression = _Expression()
        own = write.key["PK"]
        values = {path: self.shards.stored(path, value, own) for path, value in write.assign.items()}
        gone = [*write.remove, *(path for path, value in values.items() if value is None)]
        sets = [f"{expression.path(p)} = {expression.value(v)}" for p, v in values.items() if v is not None]
        adds = [f"{expression.path(p)} {expression.value(n)}" for p, n in write.increment.items()]
        clauses = {"SET": sets, "REMOVE": [expression.path(p) for p in gone], "ADD": adds}
        update = " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses.items() if parts)
        request = {"TableName": self.name, "Key": encode_item(write.key), "UpdateExpression": update}
        return request | _on(write.condition, expression)

    def delete(self, key: Key, condition: ConditionBase | None = None) -> None:
        """Delete an item; one that is not there is no error.

        Raises:
            ConditionFailed: if `condition` does not hold.
        """
        request: dict[str, object] = {"TableName": self.name, "Key": encode_item(key)}
        _call(self.client.delete_item, request | _on(condition))

    def delete_in_favour_of(self, survivor: Key, key: Key, condition: ConditionBase) -> None:
        """Delete an item if, at the same instant, `survivor` exists: of two items one remains, never none.

        Raises:
            ConditionFailed: if `condition` does not hold or the survivor is gone.
        """
        self.transact(
            (Write(key, delete=True, condition=condition), Write(survivor, condition=Attr("PK").exists()))
        )

    def transact(self, writes: Sequence[Write]) -> None:
        """Write all of these or none, in one transaction; at most 100, each of another item.

        Raises:
            ConditionFailed: if one of the conditions does not hold.
        """
        with _mapped_errors():
            self.client.transact_write_items(
                TransactItems=[self._part(write) for write in writes]  # type: ignore[misc]
            )

    def _part(self, write: Write) -> dict[str, object]:
        if write.assign or write.remove or write.increment:
            return {"Update": self._update_request(write)}
        request = {"TableName": self.name} | _on(write.condition)
        if write.item is not None:
            return {"Put": request | {"Item": self._stored(write.item)}}
        return {"Delete" if write.delete else "ConditionCheck": request | {"Key": encode_item(write.key)}}

    def put_many(self, items: Sequence[Mapping[str, object]]) -> None:
        """Write whole items without conditions, 25 a request. Their keys must differ."""
        self._batch_write([{"PutRequest": {"Item": self._stored(item)}} for item in items])

    def delete_many(self, keys: Sequence[Key]) -> None:
        """Delete items without conditions, 25 a request; those that are not there are no error."""
        distinct = {(key["PK"], key["SK"]): key for key in keys}.values()
        self._batch_write([{"DeleteRequest": {"Key": encode_item(key)}} for key in distinct])

    def _batch_write(self, writes: list[dict[str, object]]) -> None:
        for start in range(0, len(writes), _BATCH_WRITE_LIMIT):
            request: Any = {self.name: writes[start : start + _BATCH_WRITE_LIMIT]}
            for attempt in range(_BATCH_ATTEMPTS):
                with _mapped_errors():
                    request = self.client.batch_write_item(RequestItems=request)["UnprocessedItems"]
                if not request:
                    break
                self.sleep(min(0.05 * 2**attempt, 2.0))
            else:
                raise TableBusy(f"{self.name}: items were still unprocessed after {_BATCH_ATTEMPTS} attempts")

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
        """Return one page of a query.

        `start` is the `next_key` of the page before; `limit` counts items read. Of what was read, only the
        items for which `where` holds are returned: a page may be empty and yet not be the last. An index
        cannot be read consistently.
        """
        expression = _Expression()
        request: dict[str, object] = {
            "TableName": self.name,
            "KeyConditionExpression": expression.condition(condition, is_key=True),
            "ScanIndexForward": not newest_first,
            "ConsistentRead": consistent,
        }
        if where is not None:
            request["FilterExpression"] = expression.condition(where)
        if attributes:
            request["ProjectionExpression"] = ", ".join(expression.path(name) for name in attributes)
        request |= _of_page(index, start, limit) | expression.placeholders()
        return QueryPage.of(_call(self.client.query, request))

    def scan(
        self,
        *,
        segment: int = 0,
        segments: int = 1,
        start: Mapping[str, object] | None = None,
        limit: int | None = None,
        index: str | None = None,
    ) -> QueryPage:
        """Return one page, up to 1 MB, of one of `segments` parts of the whole table, read consistently.

        Or of an index, which cannot be read consistently.
        For what an operator does with the whole table; nothing that runs by itself may read it all.
        """
        request: dict[str, object] = {
            "TableName": self.name,
            "ConsistentRead": index is None,
            "Segment": segment,
            "TotalSegments": segments,
        }
        return QueryPage.of(_call(self.client.scan, request | _of_page(index, start, limit)))

    def scan_all(self) -> Iterator[Item]:
        """Yield every item of the table, page after page, as `scan` does."""
        start: Item | None = None
        while True:
            page = self.scan(start=start)
            yield from page.items
            if (start := page.next_key) is None:
                return

    def query_all(
        self,
        condition: ConditionBase,
        *,
        index: str | None = None,
        newest_first: bool = False,
        start: Mapping[str, object] | None = None,
        page_size: int | None = None,
        attributes: Sequence[str] = (),
        consistent: bool = False,
    ) -> Iterator[Item]:
        """Yield the items of a query after `start`, page after page, each read only when it is needed.

        The first request asks for `page_size` items, which is usually enough, and each further one for four
        times as many, up to 1,000; None asks for as many as an answer holds.
        """
        while True:
            page = self.query(
                condition,
                index=index,
                start=start,
                limit=page_size,
                newest_first=newest_first,
                attributes=attributes,
                consistent=consistent,
            )
            yield from page.items
            if (start := page.next_key) is None:
                return
            if page_size is not None:
                page_size = max(page_size, min(4 * page_size, _LARGEST_PAGE))

    def items_of(
        self,
        partition: str,
        prefix: str = "",
        *,
        most: int | None = None,
        newest_first: bool = False,
        consistent: bool = False,
    ) -> Iterator[Item]:
        """Yield the items of a partition whose sort keys begin with `prefix`, up to `most` of them."""
        condition: ConditionBase = KeyCondition("PK").eq(partition)
        if prefix:
            condition = condition & KeyCondition("SK").begins_with(prefix)
        items = self.query_all(condition, page_size=most, newest_first=newest_first, consistent=consistent)
        return islice(items, most)


@dataclass(frozen=True, slots=True)
class QueryPage:
    """Items of one page, and the key that the next one starts after."""

    items: list[Item]
    next_key: Item | None

    @classmethod
    def of(cls, answer: QueryOutputTypeDef | ScanOutputTypeDef) -> Self:
        """Return the page that DynamoDB has answered with."""
        last = answer.get("LastEvaluatedKey")
        return cls([decode_item(item) for item in answer["Items"]], decode_key(last) if last else None)


def _of_page(index: str | None, start: Mapping[str, object] | None, limit: int | None) -> dict[str, object]:
    """Return what a request has that reads at most `limit` items of the table or an index after `start`."""
    options = {"IndexName": index, "ExclusiveStartKey": start and encode_item(start), "Limit": limit}
    return {name: value for name, value in options.items() if value}


def _call(operation: Callable[..., AnswerT], request: Mapping[str, object]) -> AnswerT:
    """Return DynamoDB's answer to a request, raise this project's errors in place of botocore's."""
    with _mapped_errors():
        return operation(**request)


def _on(condition: ConditionBase | None, expression: _Expression | None = None) -> dict[str, object]:
    """Return what a request has that is done only if a condition holds, or always where it is None.

    `expression` is the request's own, if it has names and values besides those of the condition.
    """
    expression = expression or _Expression()
    if condition is None:
        return expression.placeholders()
    built = {"ConditionExpression": expression.condition(condition)}
    return {**built, **expression.placeholders(), "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}


def _insertion(table: str, item: Mapping[str, object]) -> dict[str, object]:
    return {"Statement": _insert_statement(table, tuple(item)), "Parameters": list(item.values())}


@lru_cache(maxsize=256)
def _insert_statement(table: str, names: tuple[str, ...]) -> str:
    # Names of attributes are ours, never anybody's input; values are parameters.
    fields = ", ".join(f"'{name}': ?" for name in names)
    return f'INSERT INTO "{table}" VALUE {{{fields}}}'


def _alteration(table: str, change: Change, shards: Shards) -> dict[str, object]:
    own = change.key["PK"]
    values = {
        path: shards.stored(path, value, own) for path, value in change.assign.items() if value is not None
    }
    verbs = [f"SET {_quoted(path)} = ?" for path in values]
    verbs += [f"REMOVE {_quoted(path)}" for path in change.assign if path not in values]
    holds = {**change.key, **change.expected}
    clauses: list[str] = []
    bounds: list[object] = []
    for name, value in holds.items():
        if value is None:
            clauses.append(f'"{name}" IS MISSING')
        elif isinstance(value, str) and is_sharded(name, value):
            clauses.append(f'"{name}" BETWEEN ? AND ?')
            bounds += shard_bounds(value)
        else:
            clauses.append(f'"{name}" = ?')
            bounds.append(value)
    return {
        "Statement": f'UPDATE "{table}" {" ".join(verbs)} WHERE {" AND ".join(clauses)}',
        "Parameters": [encode(value) for value in (*values.values(), *bounds)],
    }


@lru_cache(maxsize=256)
def _quoted(path: Path) -> str:
    parts = (path,) if isinstance(path, str) else path
    return ".".join('"{}"'.format(part.replace('"', '""')) for part in parts)


class _Expression:
    """Collects the placeholders of one request's expressions."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: dict[str, object] = {}
        self._condition_names: dict[str, str] = {}
        self._conditions = ConditionExpressionBuilder()

    def path(self, path: Path) -> str:
        parts = (path,) if isinstance(path, str) else path
        return ".".join(self._names.setdefault(part, f"#p{len(self._names)}") for part in parts)

    def value(self, value: object) -> str:
        placeholder = f":p{len(self._values)}"
        self._values[placeholder] = encode(value)
        return placeholder

    def condition(self, condition: ConditionBase, *, is_key: bool = False) -> str:
        built = self._conditions.build_expression(condition, is_key_condition=is_key)
        self._condition_names |= built.attribute_name_placeholders
        self._values |= {name: encode(value) for name, value in built.attribute_value_placeholders.items()}
        return built.condition_expression

    def placeholders(self) -> dict[str, object]:
        names = {placeholder: name for name, placeholder in self._names.items()} | self._condition_names
        request: dict[str, object] = {}
        if names:
            request["ExpressionAttributeNames"] = names
        if self._values:
            request["ExpressionAttributeValues"] = self._values
        return request


class _mapped_errors:  # noqa: N801 - reads as the context manager it is
    """Turns botocore's errors into this project's."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ClientError):
            code = error.response.get("Error", {}).get("Code", "")
            reasons = {reason.get("Code") for reason in error.response.get("CancellationReasons", ())}
            if code == "TransactionCanceledException" and "ConditionalCheckFailed" in reasons:
                raise ConditionFailed(None) from error
            if code == "ConditionalCheckFailedException":
                raw = error.response.get("Item")
                raise ConditionFailed(decode_item(raw) if raw else None) from error  # type: ignore[arg-type]
            if (
                code in _RETRYABLE_CODES
                or error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= 500
            ):
                raise TableBusy(f"DynamoDB: {code}: try again later") from error
            raise _refused(code, f"DynamoDB: {error}") from error
        if isinstance(error, BotoCoreError):
            raise TableBusy(f"DynamoDB did not answer: {type(error).__name__}") from error


def _refused(code: str, message: str) -> TableRefused:
    return TableRefused(message) if code in _ITEMS_OWN_CODES else TableForbidden(message)
