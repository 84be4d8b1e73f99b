"""Sources without news are committed together, and wait for one another only for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from sourcebook.events import SourceDue
from sourcebook.records.source import Source
from sourcebook.sources.model import SourceSpec
from sourcebook.sources.poll import Poller, PollResult, PollVerdict, RoundReport
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table.client import Change, Table, TableBusy, TableRefused
from tests.moto_table import MotoTable

NOW = datetime(2026, 11, 27, 21, 0, tzinfo=UTC)


class Watched(MotoTable):
    """Keeps which sources were changed together, tells of it, and refuses some."""

    def __init__(self, table: Table, *refused: str, notify: Callable[[], object] = lambda: None) -> None:
        super().__init__(table.name, table.client, shards=table.shards)
        self.batches: list[list[str]] = []
        self._refused = {f"SOURCE#{name}" for name in refused}
        self._notify = notify

    def update_many(self, changes: Sequence[Change]) -> list[bool | TableBusy | TableRefused]:
        self.batches.append(sorted(change.key["PK"].removeprefix("SOURCE#") for change in changes))
        outcomes = super().update_many(changes)
        self._notify()
        return outcomes

    def _change_one(self, change: Change) -> bool | TableBusy | TableRefused:
        return TableBusy("busy") if change.key["PK"] in self._refused else super()._change_one(change)


class Adapter:
    """Answers that nothing is new; `slow` answers when somebody lets it."""

    def __init__(self) -> None:
        self.let_go = asyncio.Event()

    async def poll(self, source: Source) -> PollResult:
        if source.source_id == "slow":
            await asyncio.wait_for(self.let_go.wait(), 10)
        return PollResult(PollVerdict.UNCHANGED, "not_modified", http_status=304)


def registered(table: Table, *names: str) -> tuple[SourceRegistry, list[SourceDue]]:
    registry = SourceRegistry(table, lambda: NOW)
    for name in names:
        registry.register(SourceSpec(source_id=name, url=f"https://{name}.example/feed"))
    known = registry.get_many(names)
    return registry, [SourceDue(source_id=n, kind="feed", due_at=known[n].next_fetch_time) for n in names]


def poller(registry: SourceRegistry, adapter: Adapter, linger: float) -> Poller:
    return Poller(registry, {"feed": adapter}, lambda: NOW + timedelta(minutes=1), linger=linger)


async def test_all_of_a_round_go_in_one_request(table: Table) -> None:
    watched = Watched(table)
    registry, due = registered(watched, "a", "b", "c")
    report = await poller(registry, Adapter(), linger=60).run(due)
    assert watched.batches == [["a", "b", "c"]]
    assert {poll.source_id: poll.committed for poll in report.polls} == {"a": True, "b": True, "c": True}
    after = registry.get_many(["a", "b", "c"])
    assert {(s.fetch_count, s.unchanged_count, s.last_cause) for s in after.values()} == {
        (1, 1, "not_modified")
    }
    again = await poller(registry, Adapter(), linger=60).run(due)
    assert sorted(again.moved_on) == ["a", "b", "c"], "a repeated message changes nothing"


async def test_one_that_hangs_does_not_keep_the_others(table: Table) -> None:
    adapter = Adapter()
    loop = asyncio.get_running_loop()
    # Told in the thread that has committed the others: only then the slow one may end.
    watched = Watched(table, notify=lambda: loop.call_soon_threadsafe(adapter.let_go.set))
    registry, due = registered(watched, "a", "slow", "b")
    report = await poller(registry, adapter, linger=0.05).run(due)
    assert watched.batches == [["a", "b"], ["slow"]]
    assert len(report.polls) == 3


async def test_a_double_of_the_message_commits_once(table: Table) -> None:
    registry, due = registered(table, "a")
    reports: list[RoundReport] = await asyncio.gather(
        *(poller(registry, Adapter(), linger=0).run(due) for _ in range(2))
    )
    committed = [poll.committed for report in reports for poll in report.polls]
    assert committed.count(True) == 1
    assert registry.get_many(["a"])["a"].fetch_count == 1


async def test_one_that_cannot_be_committed_is_reported_and_the_others_are(table: Table) -> None:
    watched = Watched(table, "b")
    registry, due = registered(watched, "a", "b")
    report = await poller(registry, Adapter(), linger=60).run(due)
    assert [name for name, _ in report.failures] == ["b"]
    assert [poll.source_id for poll in report.polls] == ["a"]
