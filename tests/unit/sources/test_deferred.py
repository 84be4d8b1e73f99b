from __future__ import annotations

from datetime import UTC, datetime

from sourcebook.records.source import Source
from sourcebook.sources.deferred import DeferredAdapter
from sourcebook.sources.poll import PollResult, PollVerdict

SOURCE = Source(
    source_id="harbor-ledger",
    kind="csv",
    url="https://harbor.example/rates.csv",
    created_at=datetime(2026, 11, 27, tzinfo=UTC),
    next_fetch_time=datetime(2026, 11, 28, tzinfo=UTC),
)


class Counting:
    """An adapter that says how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def poll(self, source: Source) -> PollResult:
        self.asked += 1
        return PollResult(PollVerdict.CHANGED, "ok", message=f"{source.source_id} {self.asked}")


async def test_the_adapter_is_loaded_for_the_first_source_of_its_kind_and_then_kept() -> None:
    loaded: list[Counting] = []

    def load() -> Counting:
        loaded.append(Counting())
        return loaded[-1]

    adapter = DeferredAdapter(load)
    assert not loaded
    results = [await adapter.poll(SOURCE), await adapter.poll(SOURCE)]
    assert [result.message for result in results] == ["harbor-ledger 1", "harbor-ledger 2"]
    assert len(loaded) == 1
