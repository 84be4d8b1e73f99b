"""Ask MiniStack's DynamoDB as it is and with sorted indexes the same, and fail where the answers differ.

Runs in MiniStack's own interpreter: `python queries_compared.py SORTED_INDEXES_FILE SEED`.
"""

from __future__ import annotations

import importlib.util
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

TABLE = "things"
ATTRIBUTES = {"PK": "S", "SK": "S", "GPK": "S", "GSK": "S", "NUMBER_OF": "N"}
INDEXES = {
    "by_name": ("GPK", "GSK"),
    "by_rank": ("GPK", "NUMBER_OF"),
    "by_group": ("GPK", None),
    "by_key": ("GSK", "PK"),
}
WORDS = ["", "a", "ab", "abc", "b", "ba", "é", "z", "😀"]


def module(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    found = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def schema(hash_key: str, range_key: str | None) -> list[dict[str, str]]:
    keys = [{"AttributeName": hash_key, "KeyType": "HASH"}]
    return keys + ([{"AttributeName": range_key, "KeyType": "RANGE"}] if range_key else [])


def definition() -> dict[str, Any]:
    return {
        "TableName": TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": schema("PK", "SK"),
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t in ATTRIBUTES.items()],
        "GlobalSecondaryIndexes": [
            {"IndexName": name, "KeySchema": schema(*keys), "Projection": {"ProjectionType": "ALL"}}
            for name, keys in INDEXES.items()
        ],
    }


class Asker:
    """Makes up requests, the same for both."""

    def __init__(self, rng: random.Random, ask: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
        self._rng = rng
        self._ask = ask

    def _key(self) -> dict[str, Any]:
        return {"PK": {"S": f"p{self._rng.randrange(5)}"}, "SK": {"S": f"s{self._rng.randrange(12)}"}}

    def _text(self) -> dict[str, str]:
        return {"S": f"k{self._rng.choice(WORDS)}"}

    def _number(self) -> dict[str, str]:
        return {"N": self._rng.choice(["1", "2", "10", "-3", "2.5", "1e2"])}

    def change(self) -> None:
        kind, key = self._rng.randrange(5), self._key()
        if kind == 0:
            self._ask("_delete_item", {"TableName": TABLE, "Key": key})
        elif kind == 1:
            values = {":g": {"S": f"g{self._rng.randrange(2)}"}, ":n": self._number()}
            self._ask(
                "_update_item",
                {
                    "TableName": TABLE,
                    "Key": key,
                    "UpdateExpression": self._rng.choice(
                        ["SET GPK = :g, NUMBER_OF = :n", "SET NUMBER_OF = :n, GPK = :g REMOVE GSK"]
                    ),
                    "ExpressionAttributeValues": values,
                },
            )
        else:
            item = key | {
                "GPK": {"S": f"g{self._rng.randrange(2)}"},
                "GSK": self._text(),
                "NUMBER_OF": self._number(),
            }
            for name in ("GPK", "GSK", "NUMBER_OF"):
                if self._rng.random() < 0.2:
                    del item[name]
            self._ask("_put_item", {"TableName": TABLE, "Item": item})

    def _condition(self, name: str) -> tuple[str, dict[str, Any]]:
        hash_key, range_key = INDEXES[name]
        values = {":h": {"S": f"g{self._rng.randrange(2)}"} if hash_key == "GPK" else self._text()}
        if range_key is None or self._rng.random() < 0.2:
            return f"{hash_key} = :h", values
        values[":a"], values[":b"] = (
            self._number()
            if range_key == "NUMBER_OF"
            else {"S": f"p{self._rng.randrange(5)}"}
            if range_key == "PK"
            else self._text()
            for _ in range(2)
        )
        form = self._rng.choice(["= :a", "< :a", "<= :a", "> :a", ">= :a", "BETWEEN :a AND :b", "begins"])
        if "BETWEEN" not in form:
            del values[":b"]
        part = f"begins_with({range_key}, :a)" if form == "begins" else f"{range_key} {form}"
        clauses = [f"{hash_key} = :h", part]
        self._rng.shuffle(clauses)
        return " AND ".join(clauses), values

    def query(self) -> Iterator[dict[str, Any]]:
        name = self._rng.choice(list(INDEXES))
        condition, values = self._condition(name)
        request: dict[str, Any] = {
            "TableName": TABLE,
            "IndexName": name,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
        }
        if self._rng.random() < 0.7:
            request["Limit"] = self._rng.choice([1, 2, 3, 50])
        if self._rng.random() < 0.5:
            request["ScanIndexForward"] = self._rng.random() < 0.3
        if self._rng.random() < 0.3:
            request["FilterExpression"] = "attribute_exists(GSK)"
        for _ in range(5):
            answer = self._ask("_query", request)
            yield answer
            if "LastEvaluatedKey" not in answer:
                return
            request = request | {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def compare(plain: ModuleType, mended: ModuleType, seed: int) -> tuple[int, int]:
    """Return how many answers were the same, and how many items they had."""
    answers = items = 0

    def ask(operation: str, request: dict[str, Any]) -> dict[str, Any]:
        nonlocal answers, items
        first, second = (getattr(one, operation)(json.loads(json.dumps(request))) for one in (plain, mended))
        assert first == second, (operation, request, first, second)
        answers += 1
        content: dict[str, Any] = json.loads(first[2])
        items += len(content.get("Items", ()))
        return content

    ask("_describe_limits", {})
    for one in (plain, mended):
        assert one._create_table(definition())[0] == 200
    asker = Asker(random.Random(seed), ask)
    for _ in range(1_500):
        asker.change()
        for _answer in asker.query():
            pass
    return answers, items


def seconds_of_a_page(dynamodb: ModuleType, entries: int) -> float:
    """Return the CPU seconds of a page of ten of so many entries, the first query apart."""
    for number in range(entries):
        item = {
            "PK": {"S": f"x{number}"},
            "SK": {"S": "x"},
            "GPK": {"S": "long"},
            "GSK": {"S": f"{number:09}"},
        }
        dynamodb._put_item({"TableName": TABLE, "Item": item})
    request = {
        "TableName": TABLE,
        "IndexName": "by_name",
        "KeyConditionExpression": "GPK = :h AND GSK > :a",
        "ExpressionAttributeValues": {":h": {"S": "long"}, ":a": {"S": "000000100"}},
        "Limit": 10,
    }
    dynamodb._query(request)
    begun = time.process_time()
    dynamodb._query(request)
    return time.process_time() - begun


def main() -> None:
    from ministack.services import dynamodb as plain

    mended = module("mended_dynamodb", str(plain.__file__))
    module("sorted_indexes", sys.argv[1]).SortedIndexes(mended)
    answers, items = compare(plain, mended, int(sys.argv[2]))
    pages = [seconds_of_a_page(one, 5_000) for one in (plain, mended)]
    sys.stdout.write(json.dumps({"answers": answers, "items": items, "pages": pages}) + "\n")


if __name__ == "__main__":
    main()
