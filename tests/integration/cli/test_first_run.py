"""What `make up` and `serve-folder` show of a first run."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.sources.poll import Poll, PollResult, PollVerdict, Rejected, history_item
from sourcebook.sources.registry import SourceRegistry
from sourcebook_cli.first_run import WatchedSources, watch
from tests.unit.api.stored import put_source

if TYPE_CHECKING:
    from sourcebook.table.client import Table

pytestmark = pytest.mark.integration


def test_entries_that_were_refused_are_shown_with_their_reasons(
    table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    registry = SourceRegistry(table)
    for name in ("harbor-ledger", "meridian-wire"):
        put_source(table, name, "2026-11-27T22:00:00Z", fetch_count=1)
    source = registry.get_many(["harbor-ledger"])["harbor-ledger"]
    refused = Rejected(source.source_id, "a3", "headline: '' is not valid")
    result = PollResult(PollVerdict.CHANGED, "ok", entries=2, created=1, rejected=(refused,))
    table.put(history_item(Poll(source, result, 5), datetime(2026, 11, 27, 22, tzinfo=UTC)))
    stack: Any = SimpleNamespace(table=table, registry=registry)
    counts = watch(stack, WatchedSources({"harbor-ledger": 0, "meridian-wire": 0}), 5)
    assert counts.fetched == 2
    shown = capsys.readouterr().out
    assert "a3: headline: '' is not valid" in shown
    assert "meridian-wire" not in shown
