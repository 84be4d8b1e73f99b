"""Shards of an index: which one an item stands in, how that is spelled, and that only the table knows it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from boto3.dynamodb.conditions import ConditionExpressionBuilder

from sourcebook.errors import InvalidInput
from sourcebook.records.article import Sentiment, Status
from sourcebook.records.event import ACTIVE
from sourcebook.spectra.products import ELIGIBLE_STATUS
from sourcebook.table import keys
from sourcebook.table.client import Change, Table, Write, in_any_shard
from sourcebook.table.codec import decode_item, encode_item
from sourcebook.table.keys import InShard, Shards

EIGHT = Shards(8)


def _article(number: int) -> str:
    return keys.article(f"{number:032x}")["PK"]


def test_what_is_spread_are_the_values_that_most_items_have() -> None:
    assert keys.SHARDED["sentiment"] == set(Sentiment)
    assert keys.SHARDED["status"] == {Status.PENDING, Status.ERROR, ACTIVE, ELIGIBLE_STATUS}
    assert keys.SHARDED["GSI1PK"] == {keys.DUE_SOURCES}


def test_between_the_bounds_of_a_value_stand_its_shards_and_no_other_value() -> None:
    others = {*Status, "RUNNING", "SUCCEEDED", "FAILED", "PENDING_REVIEW", "REVIEWED", "ACTIVE", "MERGED"}
    others |= {keys.DISABLED_SOURCES, keys.ACTIVE_SUBJECTS, keys.LISTED_NOVAE, keys.DUE_DELIVERIES}
    for values in keys.SHARDED.values():
        for spread in values:
            first, last = keys.shard_bounds(spread)
            assert all(first <= shard <= last for shard in Shards(keys.MOST_SHARDS).read(spread))
            assert not [one for one in others | values if one != spread and first <= one <= last]


def test_one_shard_is_what_is_stored_today() -> None:
    assert all(Shards().stored("status", "pending", _article(n)) == "pending" for n in range(100))
    assert list(Shards().read("pending")) == ["pending"]


def test_an_item_is_always_in_the_same_shard() -> None:
    # Written out: a change of this would lose every item that is stored.
    assert [EIGHT.stored("status", "pending", _article(n)) for n in range(4)] == [
        "pending#1",
        "pending#7",
        "pending#5",
        "pending#3",
    ]


def test_items_are_spread_evenly() -> None:
    counts = Counter(EIGHT.of(_article(n * 7919)) for n in range(8_000))
    assert len(counts) == 8
    assert all(850 < count < 1_150 for count in counts.values())


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("status", "joined"),
        ("status", "RUNNING"),
        ("tag", "pending"),
        ("status", None),
        (("status",), "pending"),
    ],
)
def test_other_values_are_left_as_they_are(attribute: Any, value: object) -> None:
    assert Shards(64).stored(attribute, value, _article(5)) == value


def test_readers_find_what_stands_in_more_shards_than_are_written() -> None:
    assert list(Shards(2, before=4).read("error")) == ["error", "error#1", "error#2", "error#3"]
    assert list(Shards(4).read("error")) == ["error", "error#1", "error#2", "error#3"]
    assert {Shards(2, before=4).of(_article(n)) for n in range(50)} == {0, 1}


@pytest.mark.parametrize(("text", "shards"), [("1", Shards()), ("8", EIGHT), ("8,16", Shards(8, 16))])
def test_a_setting_says_both_numbers(text: str, shards: Shards) -> None:
    assert Shards.parse(text) == shards
    assert str(shards) == text
    assert Shards.from_environment({"INDEX_SHARDS": text}) == shards


@pytest.mark.parametrize("text", ["0", "65", "", "8,", "8,9,10", "-1", "eight"])
def test_a_setting_that_names_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="one or two whole numbers from 1 to 64"):
        Shards.parse(text)


def test_without_a_setting_there_is_one() -> None:
    assert Shards.from_environment({}) == Shards()


def test_who_reads_an_item_sees_the_value() -> None:
    item = decode_item(encode_item({"status": "pending#7", "sentiment": "neutral#12", "tag": "neutral#1"}))
    assert item == {"status": "pending", "sentiment": "neutral", "tag": "neutral#1"}
    assert Status(item["status"]) is Status.PENDING
    assert json.dumps(item["status"]) == '"pending"'
    assert (keys.shard_in(item["status"]), keys.shard_in(item["sentiment"])) == (7, 12)
    assert isinstance(item["status"], InShard)
    assert keys.shard_in("pending") == 0


@pytest.mark.parametrize("stored", ["pending#", "pending#x", "other#1", "#1", ""])
def test_what_is_no_shard_is_no_other_value(stored: str) -> None:
    assert decode_item({"status": {"N": "7"}}) == {"status": 7}
    assert keys.without_shard("status", stored) == stored


def test_a_condition_holds_in_every_shard() -> None:
    def built(name: str, value: str) -> str:
        condition = in_any_shard(name, value)
        return ConditionExpressionBuilder().build_expression(condition).condition_expression

    assert built("status", "pending") == "#n0 BETWEEN :v0 AND :v1"
    assert built("status", "joined") == "#n0 = :v0"


class _Client:
    """Keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        def ask(**request: Any) -> dict[str, Any]:
            self.asked.append(request)
            return {"UnprocessedItems": {}, "Attributes": {}, "Responses": [{}]}

        return ask


@pytest.mark.parametrize(("shards", "pending"), [(Shards(), "pending"), (EIGHT, "pending#7")])
def test_every_way_to_write_spreads(shards: Shards, pending: str) -> None:
    client = _Client()
    table = Table("t", client, shards=shards)  # type: ignore[arg-type]
    key = keys.article(f"{1:032x}")
    item = {**key, "status": Status.PENDING, "timestamp": "2026-11-29T00:00:00Z"}
    table.put(item)
    table.create_many([item])
    table.put_many([item])
    table.change(key, assign={"status": Status.PENDING})
    table.update(key, assign={"status": Status.PENDING})
    table.update_many([Change(key, {"status": Status.PENDING}, {"revision": 1})])
    table.transact([Write(key, item=item), Write(key, assign={"status": Status.PENDING})])
    written = json.dumps(client.asked)
    assert written.count(f'{{"S": "{pending}"}}') == 8
    assert written.count("pending") == 8


def test_a_transaction_adds_to_a_number_and_does_not_only_check_the_item() -> None:
    client = _Client()
    Table("t", client).transact([Write(keys.article(f"{1:032x}"), increment={"revision": 1})])  # type: ignore[arg-type]
    [part] = client.asked[0]["TransactItems"]
    assert part["Update"]["UpdateExpression"] == "ADD #p0 :p0"


def test_a_change_expects_a_value_in_whatever_shard() -> None:
    client = _Client()
    table = Table("t", client, shards=EIGHT)  # type: ignore[arg-type]
    change = Change(keys.article(f"{1:032x}"), {"headline": "x"}, {"revision": 1, "status": Status.PENDING})
    table.update_many([change])
    [statement] = client.asked[0]["Statements"]
    assert statement["Statement"].endswith('AND "revision" = ? AND "status" BETWEEN ? AND ?')
    assert statement["Parameters"][-2:] == [{"S": "pending"}, {"S": "pending#:"}]
