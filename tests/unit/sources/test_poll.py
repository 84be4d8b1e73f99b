from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.records.source import Health, Source
from sourcebook.sources.model import parse_spec, state_item
from sourcebook.sources.poll import Poll, PollResult, PollVerdict, history_item, state_changes

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
OK = PollResult(PollVerdict.CHANGED, "ok", http_status=200, entries=10, created=7, merged=2)


def source(**state: Any) -> Source:
    spec = parse_spec({"source_id": "harbor", "url": "https://harbor.example/feed"})
    return Source.of_item({**state_item(spec, now="2026-11-27T12:00:00Z"), **state})


def test_a_source_that_answered_is_due_after_its_interval() -> None:
    changes = state_changes(source(interval_minutes=5), OK, NOON)
    assert changes["next_fetch_time"] == "2026-11-27T12:05:00Z"
    assert changes["GSI1SK"] == "2026-11-27#harbor"


def test_a_source_moves_in_the_index_of_what_is_due_when_the_day_does() -> None:
    places = [
        state_changes(source(interval_minutes=15), OK, NOON + timedelta(hours=hours))["GSI1SK"]
        for hours in range(24)
    ]
    assert places == ["2026-11-27#harbor"] * 12 + ["2026-11-28#harbor"] * 12


@pytest.mark.parametrize(
    ("failures", "minutes"), [(0, 2), (1, 4), (2, 8), (3, 16), (4, 32), (5, 60), (9, 60), (60, 60)]
)
@pytest.mark.parametrize("interval", [1, 15, 1440])
@pytest.mark.parametrize("verdict", [PollVerdict.FAILED, PollVerdict.BROKEN])
def test_a_failing_source_is_tried_later_and_later_up_to_an_hour_whatever_its_interval(
    failures: int, minutes: int, interval: int, verdict: PollVerdict
) -> None:
    failed = PollResult(verdict, "timeout", "timeout: no answer")
    changes = state_changes(source(consecutive_errors=failures, interval_minutes=interval), failed, NOON)
    assert changes["next_fetch_time"] == f"{NOON + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}"
    assert changes["consecutive_errors"] == failures + 1


def test_the_servers_own_wish_is_a_lower_bound() -> None:
    limited = PollResult(PollVerdict.FAILED, "rate_limited", "429", retry_after=NOON + timedelta(hours=5))
    assert state_changes(source(), limited, NOON)["next_fetch_time"] == "2026-11-27T17:00:00Z"


@pytest.mark.parametrize("days", [1, 2, 366, 300_000])
@pytest.mark.parametrize("verdict", [PollVerdict.FAILED, PollVerdict.CHANGED, PollVerdict.UNCHANGED])
def test_a_server_is_waited_for_a_day_at_most(days: int, verdict: PollVerdict) -> None:
    limited = PollResult(verdict, "server_error", "503", retry_after=NOON + timedelta(days=days))
    assert state_changes(source(), limited, NOON)["next_fetch_time"] == "2026-11-28T12:00:00Z"


def test_success_clears_the_failures() -> None:
    changes = state_changes(source(consecutive_errors=4, last_error="timeout"), OK, NOON)
    assert changes["consecutive_errors"] == 0
    assert changes["last_error"] is None


@pytest.mark.parametrize(("failures", "enabled"), [(0, True), (8, True), (9, False)])
def test_a_source_that_is_broken_ten_times_in_a_row_is_disabled(failures: int, enabled: bool) -> None:
    broken = PollResult(PollVerdict.BROKEN, "not_found", "404")
    changes = state_changes(source(consecutive_errors=failures, broken_count=failures), broken, NOON)
    assert changes.get("enabled", True) is enabled
    assert changes["GSI1PK"] == ("SOURCE" if enabled else "SOURCE#DISABLED")


def test_only_errors_that_do_not_mend_themselves_are_counted_against_a_source() -> None:
    down, broken = (
        PollResult(PollVerdict.FAILED, "timeout", "timeout"),
        PollResult(PollVerdict.BROKEN, "not_a_feed", "x"),
    )
    assert "enabled" not in state_changes(source(consecutive_errors=30), broken, NOON), (
        "the first after an outage"
    )
    assert "broken_count" not in state_changes(source(consecutive_errors=30), down, NOON)
    assert state_changes(source(consecutive_errors=9, broken_count=9), down, NOON)["broken_count"] == 0
    # One that was enabled again, or has answered since, begins anew.
    assert state_changes(source(consecutive_errors=0, broken_count=9), broken, NOON)["broken_count"] == 1


def test_a_source_that_is_gone_is_disabled_at_once() -> None:
    changes = state_changes(source(), PollResult(PollVerdict.GONE, "gone", "410"), NOON)
    assert changes["enabled"] is False


def test_a_network_failure_never_disables_a_source() -> None:
    changes = state_changes(
        source(consecutive_errors=500), PollResult(PollVerdict.FAILED, "dns", "no such host"), NOON
    )
    assert "enabled" not in changes


def test_the_due_time_always_moves_on() -> None:
    ahead = source(next_fetch_time="2026-11-27T13:00:00Z")
    assert state_changes(ahead, OK, NOON)["next_fetch_time"] == "2026-11-27T13:00:01Z"


def test_unchanged_polls_are_counted_from_the_first_one() -> None:
    same = PollResult(PollVerdict.UNCHANGED, "not_modified", http_status=304)
    assert state_changes(source(), same, NOON)["unchanged_since"] == "2026-11-27T12:00:00Z"
    again = state_changes(source(unchanged_since="2026-11-27T11:00:00Z"), same, NOON)
    assert "unchanged_since" not in again


def test_the_history_of_a_poll_is_kept_under_the_due_time_it_was_made_for() -> None:
    item = history_item(Poll(source(), OK, 1200), NOON + timedelta(seconds=3))
    assert item["SK"] == "FETCH#2026-11-27T12:00:00Z"
    assert item["ttl_timestamp"] == int((NOON + timedelta(days=30, seconds=3)).timestamp())


def test_health_is_one_word() -> None:
    assert source().health is Health.NEW
    assert source(last_success_at="2026-11-27T12:00:00Z").health is Health.HEALTHY
    assert source(consecutive_errors=1).health is Health.FAILING
    assert source(enabled=False).health is Health.DISABLED


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("source_id", "Harbor Ledger"),
        ("source_id", ""),
        ("url", "ftp://harbor.example/feed"),
        ("url", "https://user:secret@harbor.example/feed"),
        ("url", "not a url"),
        ("priority", -1),
        ("interval_minutes", 0),
        ("kind", "Feed!"),
        ("no_such_field", 1),
    ],
)
def test_a_declaration_that_breaks_a_rule_is_refused_by_its_field(field: str, value: object) -> None:
    declaration = {"source_id": "harbor", "url": "https://harbor.example/feed", field: value}
    with pytest.raises(InvalidInput) as refused:
        parse_spec(declaration)
    assert refused.value.field == field
