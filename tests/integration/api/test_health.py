"""What GET /health says of the table and of the schedule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sourcebook.api import health
from sourcebook.api.health import HealthCheck
from sourcebook.clock import isoformat
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.keys import Shards
from tests.moto_table import MotoTable
from tests.unit.api.stored import put_source

pytestmark = pytest.mark.integration

NOW = datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)


def check(table: Table) -> tuple[bool, dict[str, Any]]:
    health = HealthCheck(table, clock=lambda: NOW, version="1.2.3").run()
    assert health.answer["version"] == "1.2.3"
    assert health.answer["timestamp"] == isoformat(NOW)
    assert health.answer["status"] == ("healthy" if health.ok else "degraded")
    return health.ok, health.answer["checks"]


def put_tick(table: Table, ago: timedelta, **about: str) -> None:
    table.put({**keys.DISPATCH_TICK, "ticked_at": isoformat(NOW - ago), **about})


def test_a_deployment_whose_schedule_has_not_run_yet_is_healthy(table: Table) -> None:
    assert check(table) == (
        True,
        {
            "table": "ok",
            "scheduler": None,
            "overdue": 0,
            "active_feeds": 0,
            "last_successful_fetch": None,
        },
    )


def test_a_schedule_that_never_runs_is_noticed_by_the_feeds_that_wait(table: Table) -> None:
    put_source(table, "a", isoformat(NOW - timedelta(minutes=4)))
    assert check(table)[0]
    put_source(table, "b", isoformat(NOW - timedelta(minutes=6)))
    ok, checks = check(table)
    assert not ok
    assert checks["scheduler"] is None
    assert checks["active_feeds"] == 2


@pytest.mark.parametrize(
    ("ago", "ok"),
    [(timedelta(seconds=20), True), (timedelta(minutes=5), True), (timedelta(minutes=5, seconds=1), False)],
)
def test_the_last_tick_says_whether_the_schedule_runs(table: Table, ago: timedelta, *, ok: bool) -> None:
    put_tick(table, ago)
    waiting = isoformat(NOW - timedelta(minutes=12))
    put_source(table, "waiting-long", waiting, last_success_at="2026-11-27T21:50:00Z")
    put_source(table, "another", waiting, last_success_at="2026-11-27T21:40:00Z")
    assert check(table) == (
        ok,
        {
            "table": "ok",
            "scheduler": ago.total_seconds(),
            "overdue": 12 * 60,
            "active_feeds": 2,
            "last_successful_fetch": "2026-11-27T21:50:00Z",
        },
    )


@pytest.mark.parametrize(("minutes", "ok"), [(30, True), (31, False)])
def test_a_source_that_is_due_and_not_fetched_is_noticed_though_the_schedule_runs(
    table: Table, minutes: int, *, ok: bool
) -> None:
    put_tick(table, timedelta(seconds=20))
    put_source(table, "stuck", isoformat(NOW - timedelta(minutes=minutes)))
    put_source(table, "fine", isoformat(NOW + timedelta(minutes=9)))
    found, checks = check(table)
    assert (found, checks["overdue"]) == (ok, minutes * 60)


@pytest.mark.parametrize(("hours", "ok"), [(24, True), (26, False)])
def test_a_day_in_which_no_fetch_succeeds_is_noticed(table: Table, hours: int, *, ok: bool) -> None:
    put_tick(table, timedelta(seconds=20))
    due = isoformat(NOW + timedelta(minutes=9))
    put_source(table, "a", due, last_success_at=isoformat(NOW - timedelta(hours=hours)))
    put_source(table, "b", due, last_success_at=isoformat(NOW - timedelta(days=9)))
    assert check(table)[0] is ok


def test_the_last_success_is_found_however_many_feeds_there_are(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_PAGE", 2)
    put_tick(table, timedelta(seconds=20))
    for number in range(5):
        due = isoformat(NOW + timedelta(minutes=number))
        put_source(table, f"feed-{number}", due, last_success_at=f"2026-11-27T21:4{number}:00Z")
    checks = check(table)[1]
    assert (checks["active_feeds"], checks["last_successful_fetch"]) == (5, "2026-11-27T21:44:00Z")
    monkeypatch.setattr(health, "COUNTED", 3)
    assert check(table)[1]["active_feeds"] == 3


def test_the_longest_due_comes_from_dispatch_where_there_are_more_than_are_looked_at(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, minutes in (("a", 3), ("b", 2), ("waiting", 40)):
        put_source(table, name, isoformat(NOW - timedelta(minutes=minutes)))
    put_tick(table, timedelta(seconds=20))
    assert check(table)[1]["overdue"] == 40 * 60
    monkeypatch.setattr(health, "COUNTED", 2)
    assert check(table)[1]["overdue"] == 3 * 60
    put_tick(table, timedelta(seconds=20), longest_due=isoformat(NOW - timedelta(minutes=40)))
    ok, checks = check(table)
    assert (ok, checks["overdue"], checks["active_feeds"]) == (False, 40 * 60, 2)


def test_a_tick_from_a_clock_that_is_ahead_counts_as_now(table: Table) -> None:
    put_tick(table, timedelta(seconds=-3))
    ok, checks = check(table)
    assert ok
    assert checks["scheduler"] == 0


@pytest.mark.parametrize("counted", [3, 20_000])
def test_feeds_in_all_shards_are_active_up_to_the_number_that_is_counted(
    table: Table, monkeypatch: pytest.MonkeyPatch, counted: int
) -> None:
    monkeypatch.setattr(health, "COUNTED", counted)
    monkeypatch.setattr(health, "_PAGE", 2)
    spread = MotoTable(table.name, table.client, shards=Shards(8))
    for number in range(12):
        put_source(spread, f"feed-{number}", isoformat(NOW - timedelta(minutes=number)))
    checks = check(spread)[1]
    assert checks["active_feeds"] == min(counted, 12)
    if counted > 12:
        assert checks["overdue"] == 11 * 60


def test_only_enabled_feeds_are_active(table: Table) -> None:
    put_source(table, "a", isoformat(NOW))
    put_source(table, "page", isoformat(NOW), kind="page")
    put_source(table, "off", isoformat(NOW), enabled=False)
    assert check(table)[1]["active_feeds"] == 1


def test_a_table_that_does_not_answer_is_degraded_and_the_reason_is_kept_for_the_log(table: Table) -> None:
    health = HealthCheck(Table("no-such-table", table.client), clock=lambda: NOW).run()
    assert not health.ok
    assert health.answer["checks"]["table"] == "unavailable"
    assert health.cause is not None
    assert "no-such-table" not in str(health.answer)


def test_of_many_sources_a_report_is_kept_for_half_a_minute(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Anybody may ask, fifty times a second, and each report reads an entry of every source.
    monkeypatch.setattr(health, "MANY", 2)
    put_source(table, "a", isoformat(NOW))
    now = [NOW]
    asked = HealthCheck(table, clock=lambda: now[0])
    assert asked.run().answer["checks"]["active_feeds"] == 1
    put_source(table, "b", isoformat(NOW))
    assert asked.run().answer["checks"]["active_feeds"] == 2, "few sources are read each time"
    put_source(table, "c", isoformat(NOW))
    now[0] += timedelta(seconds=29)
    assert asked.run().answer == {**asked.run().answer, "timestamp": isoformat(NOW)}
    assert asked.run().answer["checks"]["active_feeds"] == 2
    now[0] += timedelta(seconds=1)
    assert asked.run().answer["checks"]["active_feeds"] == 3
