"""How many sources of a message are polled at the same time, and of one host."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from sourcebook.events import SourceDue
from sourcebook.records.source import Source
from sourcebook.sources.model import SourceSpec
from sourcebook.sources.poll import Poller, PollResult, PollVerdict, RoundReport
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table.client import Table

pytestmark = pytest.mark.integration

NOW = datetime(2026, 11, 27, 21, 0, tzinfo=UTC)
PATIENCE = PollResult(PollVerdict.FAILED, "rate_limited", "429", retry_after=NOW + timedelta(hours=1))
UNCHANGED = PollResult(PollVerdict.UNCHANGED, "not_modified")


class Adapter:
    """Lets all polls wait that can be under way at one time, and then one of each host after the other.

    Attributes:
        answers: what a host answers with.
        asked: polls of each host.
        most: polls that were under way at one time, of each host and of all (`""`).
    """

    def __init__(self, **answers: PollResult) -> None:
        self.answers = answers
        self.asked: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self._now: Counter[str] = Counter()

    async def poll(self, source: Source) -> PollResult:
        self.asked[source.host] += 1
        for name in (source.host, ""):
            self._now[name] += 1
            self.most[name] = max(self.most[name], self._now[name])
        for _ in range(50):  # turns of the loop, in which all others begin that may
            await asyncio.sleep(0)
        for name in (source.host, ""):
            self._now[name] -= 1
        return self.answers.get(source.host.partition(".")[0], UNCHANGED)


def poll(table: Table, adapter: Adapter, hosts: dict[str, int], parallel: int = 20) -> RoundReport:
    registry = SourceRegistry(table, lambda: NOW)
    due = []
    for host, number in hosts.items():
        for n in range(number):
            name = f"{host}-{n:02d}"
            registry.register(SourceSpec(source_id=name, url=f"https://{host}.example/{n}"))
            due.append(SourceDue(source_id=name, kind="feed", due_at=NOW))
    poller = Poller(registry, {"feed": adapter}, lambda: NOW, linger=0, parallel=parallel)
    return asyncio.run(poller.run(due))


def test_a_message_of_twenty_hosts_is_polled_at_once(table: Table) -> None:
    adapter = Adapter()
    report = poll(table, adapter, {f"host{number}": 1 for number in range(20)})
    assert len(report.polls) == 20
    assert adapter.most[""] == 20


def test_of_one_host_two_are_polled_at_once_and_keep_no_place_of_another(table: Table) -> None:
    adapter = Adapter()
    report = poll(table, adapter, {"large": 12, "a": 1, "b": 1}, parallel=4)
    assert len(report.polls) == 14
    assert (adapter.most["large.example"], adapter.most[""]) == (2, 4)


def test_a_host_that_asks_for_patience_is_asked_no_more_than_it_was_by_then(table: Table) -> None:
    adapter = Adapter(busy=PATIENCE)
    report = poll(table, adapter, {"busy": 12, "other": 1})
    assert adapter.asked == {"busy.example": 2, "other.example": 1}
    causes = Counter(one.result.cause for one in report.polls)
    assert causes == {"rate_limited": 2, "host_busy": 10, "not_modified": 1}
