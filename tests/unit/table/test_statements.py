"""Many conditional writes in one request: what DynamoDB says of each, and what becomes of it.

The statements themselves run on the embedded cloud (tests/e2e); here is what it never says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sourcebook.table.client import Change, Table, TableBusy, TableForbidden, TableRefused
from sourcebook.table.codec import encode_item


class Scripted:
    """A client that answers batches of statements as it is told."""

    def __init__(self, *answers: Sequence[str | None], there: list[dict[str, Any]] | None = None) -> None:
        self.answers = list(answers)
        self.there = there or []
        self.asked: list[list[str]] = []
        self.statements: list[str] = []

    def batch_execute_statement(self, *, Statements: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        self.asked.append([str(next(iter(one["Parameters"][0].values()))) for one in Statements])
        self.statements += [one["Statement"] for one in Statements]
        codes = self.answers.pop(0)
        assert len(codes) == len(Statements)
        return {"Responses": [{"Error": {"Code": code, "Message": "so"}} if code else {} for code in codes]}

    def batch_get_item(self, *, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803
        assert all(request["ConsistentRead"] for request in RequestItems.values())
        return {"Responses": {"t": [encode_item(item) for item in self.there]}, "UnprocessedKeys": {}}


def table_with(client: Scripted) -> tuple[Table, list[float]]:
    slept: list[float] = []
    return Table("t", client, slept.append), slept  # type: ignore[arg-type]


def items(count: int) -> list[dict[str, str]]:
    return [{"PK": f"k{n}", "SK": "S"} for n in range(count)]


def test_each_item_is_created_or_found_and_one_that_waits_is_tried_again() -> None:
    there = {"PK": "k1", "SK": "S", "is": "there"}
    client = Scripted([None, "DuplicateItem", "ThrottlingError"], [None], there=[there])
    table, slept = table_with(client)
    assert table.create_many(items(3)) == [None, there, None]
    assert client.asked == [["k0", "k1", "k2"], ["k2"]]
    assert slept == [0.05]


def test_a_statement_that_is_refused_does_not_harm_the_others() -> None:
    table, _ = table_with(Scripted([None, "ValidationError"]))
    written, refused = table.create_many(items(2))
    assert written is None
    assert isinstance(refused, TableRefused)
    assert "ValidationError: so" in str(refused)


def test_an_item_that_vanished_between_insert_and_read_has_its_turn_later() -> None:
    table, _ = table_with(Scripted(["DuplicateItem"]))
    (result,) = table.create_many(items(1))
    assert isinstance(result, TableBusy)


def test_what_is_throttled_to_the_end_is_busy() -> None:
    table, slept = table_with(Scripted(*[["ProvisionedThroughputExceeded"]] * 8))
    (result,) = table.create_many(items(1))
    assert isinstance(result, TableBusy)
    assert len(slept) == 8


def test_requests_hold_25_statements() -> None:
    client = Scripted([None] * 25, [None] * 5)
    table, _ = table_with(client)
    assert table.create_many(items(30)) == [None] * 30
    assert [len(asked) for asked in client.asked] == [25, 5]


def test_a_change_says_what_it_changes_removes_and_expects() -> None:
    seen: list[dict[str, Any]] = []

    class Recorded(Scripted):
        def batch_execute_statement(self, *, Statements: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
            seen.extend(Statements)
            return super().batch_execute_statement(Statements=Statements)

    table, _ = table_with(Recorded([None]))
    change = Change({"PK": "p", "SK": "s"}, {"a": 1, "gone": None, "status": "x"}, {"next": "n"})
    assert table.update_many([change]) == [True]
    (statement,) = seen
    assert statement["Statement"] == (
        'UPDATE "t" SET "a" = ? SET "status" = ? REMOVE "gone" WHERE "PK" = ? AND "SK" = ? AND "next" = ?'
    )
    assert statement["Parameters"] == [{"N": "1"}, {"S": "x"}, {"S": "p"}, {"S": "s"}, {"S": "n"}]


def test_a_change_of_what_lies_deeper_names_each_step() -> None:
    change = Change({"PK": "p", "SK": "s"}, {("words", "a-1"): {"n": 1}, ("words", 'b"'): None}, {})
    client = Scripted([None])
    table, _ = table_with(client)
    table.update_many([change])
    assert client.statements == [
        'UPDATE "t" SET "words"."a-1" = ? REMOVE "words"."b""" WHERE "PK" = ? AND "SK" = ?'
    ]


def test_a_request_that_fails_as_a_whole_fails_its_own_changes_only() -> None:
    class Failing(Scripted):
        def batch_execute_statement(self, *, Statements: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
            if len(Statements) == 25:
                raise ClientError({"Error": {"Code": "ThrottlingException"}}, "BatchExecuteStatement")
            return super().batch_execute_statement(Statements=Statements)

    table, _ = table_with(Failing([None, None]))
    outcomes = table.update_many([Change({"PK": f"k{n}", "SK": "S"}, {"a": n}, {}) for n in range(27)])
    assert [type(outcome) for outcome in outcomes[:25]] == [TableBusy] * 25
    assert outcomes[25:] == [True, True]


@pytest.mark.parametrize(
    ("code", "result"),
    [
        (None, True),
        ("ConditionalCheckFailed", False),
        ("ValidationError", TableRefused),
        ("AccessDenied", TableForbidden),
    ],
)
def test_each_change_has_its_own_outcome(code: str | None, result: object) -> None:
    table, _ = table_with(Scripted([None, code]))
    changes = [Change({"PK": f"k{n}", "SK": "S"}, {"a": n}, {}) for n in range(2)]
    first, second = table.update_many(changes)
    assert first is True
    assert second is result or type(second) is result
