"""Dispatch finds what is due: by day in the index, by the second within it, and the longest due first."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from boto3.dynamodb.conditions import ConditionBase, Key
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sourcebook.clock import isoformat
from sourcebook.sources.dispatch import DispatchCounts, Dispatcher
from sourcebook.sources.poll import Poll, Poller, PollResult, PollVerdict
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from sourcebook.table.client import QueryPage, Table
from sourcebook.table.keys import Shards
from tests.moto_table import MotoTable
from tests.unit.api.stored import put_source

pytestmark = pytest.mark.integration

NOW = datetime(2026, 11, 28, 0, 2, tzinfo=UTC)
"""Two minutes of a day are over: some of what is due has been since the day before."""


class Dispatch:
    """Dispatch at `NOW`, and what it has sent.

    Attributes:
        pages: entries of each page of the index that it was given.
        page_size: entries after which such a page ends, as it does after a megabyte.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.sqs = boto3.client("sqs")
        self.url = self.sqs.create_queue(QueueName="fetch")["QueueUrl"]
        self.pages: list[int] = []
        self.page_size = 1000

    def run(self, **limits: int) -> DispatchCounts:
        registry = SourceRegistry(self.table, lambda: NOW)
        return Dispatcher(registry, self.sqs, self.url, lambda: NOW, **limits).send_due("run-1")

    def sent(self) -> dict[str, str]:
        """Return the due times that were sent, by the sources' ids, in the order of the messages."""
        found: dict[str, str] = {}
        while messages := self.sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
                for source in json.loads(message["Body"])["sources"]:
                    found[source["source_id"]] = source["due_at"]
        return found


@pytest.fixture(params=[Shards(), Shards(8)], ids=["one shard", "eight shards"])
def table(table: Table, request: pytest.FixtureRequest) -> Table:
    return MotoTable(table.name, table.client, shards=request.param)


@pytest.fixture
def dispatch(table: Table, monkeypatch: pytest.MonkeyPatch) -> Dispatch:
    made = Dispatch(table)
    query = Table.query

    def shorter(self: Table, condition: ConditionBase, **options: Any) -> QueryPage:
        page = query(self, condition, **options, limit=made.page_size)
        made.pages.append(len(page.items))
        return page

    monkeypatch.setattr(Table, "query", shorter)
    return made


def due(minutes: float) -> str:
    return isoformat(NOW + timedelta(minutes=minutes))


def test_what_is_due_at_this_second_is_sent_and_what_is_due_a_second_later_is_not(dispatch: Dispatch) -> None:
    for name, minutes in (("yesterday", -3), ("today", -1), ("now", 0), ("soon", 1 / 60), ("tomorrow", 1500)):
        put_source(dispatch.table, name, due(minutes))
    put_source(dispatch.table, "probed", due(-1), enabled=False)
    put_source(dispatch.table, "left-alone", due(1), enabled=False)
    assert dispatch.run() == DispatchCounts(due=4, messages=1)
    assert dispatch.sent() == {
        "yesterday": due(-3),
        "today": due(-1),
        "now": due(0),
        "probed": due(-1),
    }


def test_sources_of_both_forms_of_the_key_are_found(dispatch: Dispatch) -> None:
    """No pause at an upgrade, when all stand as the version before has left them."""
    expected: dict[str, str] = {}
    for name, minutes in (("a", -10), ("b", -1), ("c", 0), ("d", 5)):
        put_source(dispatch.table, f"new-{name}", due(minutes))
        put_source(
            dispatch.table, f"old-{name}", due(minutes), **keys.due_to_the_second(f"old-{name}", due(minutes))
        )
        if minutes <= 0:
            expected |= {f"new-{name}": due(minutes), f"old-{name}": due(minutes)}
    dispatch.run()
    assert dispatch.sent() == expected


def test_the_version_before_finds_what_this_one_has_written(table: Table) -> None:
    """No pause when a deployment is rolled back: it sees all of a day as due, and polls it early once."""
    table = MotoTable(table.name, table.client)  # that version knows no shards
    for name, minutes in (("yesterday", -3), ("today", -1), ("later", 600)):
        put_source(table, name, due(minutes))
    put_source(table, "tomorrow", due(1500))
    condition = Key("GSI1PK").eq(keys.DUE_SOURCES) & Key("GSI1SK").lt(f"{isoformat(NOW)}$")
    found = {item["source_id"] for item in table.query_all(condition, index=keys.ELIGIBILITY_INDEX)}
    assert found == {"yesterday", "today", "later"}


@pytest.mark.parametrize("size", [1, 2, 7])
def test_pages_on_which_nothing_is_due_do_not_end_the_search(dispatch: Dispatch, size: int) -> None:
    for number in range(12):
        put_source(dispatch.table, f"later-{number:02d}", due(5))
    put_source(dispatch.table, "z-the-last-one", due(-1))
    put_source(dispatch.table, "z-probed", due(-1), enabled=False)
    dispatch.page_size = size
    dispatch.run()
    assert dispatch.sent().keys() == {"z-the-last-one", "z-probed"}
    assert 0 in dispatch.pages


def test_those_due_longest_are_sent_when_there_are_more_than_one_dispatch_sends(dispatch: Dispatch) -> None:
    minutes = {f"feed-{number:03d}": -1 - (number * 7919) % 60 for number in range(60)}
    for name, ago in minutes.items():
        put_source(dispatch.table, name, due(ago))
    dispatch.page_size = 10
    longest = sorted(minutes, key=lambda name: minutes[name])[:5]
    assert dispatch.run(most=5) == DispatchCounts(due=5, messages=1)
    assert sorted(dispatch.sent()) == sorted(longest)
    # Once more are found than are sent, only what has been due longer is asked for.
    assert sum(dispatch.pages) < 40 or dispatch.table.shards.count > 1, "shards are read at the same time"


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(
    st.lists(st.integers(-2000, 60), min_size=1, max_size=25), st.integers(1, 30), st.sampled_from([3, 1000])
)
def test_the_longest_due_are_found_whatever_their_order(
    dispatch: Dispatch, minutes: list[int], most: int, size: int
) -> None:
    there = [keys.source(f"feed-{number:02d}") for number in range(25)]
    dispatch.table.delete_many(there)
    for number, ahead in enumerate(minutes):
        put_source(dispatch.table, f"feed-{number:02d}", due(ahead))
    dispatch.page_size = size
    dispatch.run(most=most)
    expected = sorted(due(ahead) for ahead in minutes if ahead <= 0)[:most]
    assert Counter(dispatch.sent().values()) == Counter(expected)


@pytest.mark.parametrize("shards", [Shards(16, before=0), Shards(2, before=8), Shards(1, before=8)])
def test_sources_that_stand_in_shards_of_before_are_found_and_move_with_their_next_poll(
    dispatch: Dispatch, shards: Shards
) -> None:
    """Neither more nor fewer shards stop polling, whether `migrate` has run or not."""
    names = [f"feed-{number:02d}" for number in range(20)]
    for name in names:
        put_source(dispatch.table, name, due(-1))
    dispatch.table = MotoTable(dispatch.table.name, dispatch.table.client, shards=shards)
    assert dispatch.run() == DispatchCounts(due=20, messages=1)
    assert sorted(dispatch.sent()) == names
    registry = SourceRegistry(dispatch.table, lambda: NOW)
    poller = Poller(registry, {}, lambda: NOW)
    for source in registry.get_many(names).values():
        assert poller.commit(Poll(source, PollResult(PollVerdict.UNCHANGED, "not_modified"), 1))
    items = [dispatch.table.get(keys.source(name)) or {} for name in names]
    assert [keys.shard_in(item["GSI1PK"]) for item in items] == [shards.of(item["PK"]) for item in items]


def test_dispatch_leaves_word_of_what_has_been_due_longest(dispatch: Dispatch) -> None:
    dispatch.run()
    tick = dispatch.table.get(keys.DISPATCH_TICK) or {}
    assert (tick["ticked_at"], tick.get("longest_due")) == (isoformat(NOW), None)
    put_source(dispatch.table, "a", due(-1))
    put_source(dispatch.table, "b", due(-40))
    dispatch.run()
    assert (dispatch.table.get(keys.DISPATCH_TICK) or {})["longest_due"] == due(-40)
