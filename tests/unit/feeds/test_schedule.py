from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.feeds.hints import FeedHints
from sourcebook.feeds.schedule import (
    BURST,
    DEVIATIONS,
    QUIET,
    Rhythm,
    explain,
    minutes_asked_for,
    next_fetch,
)
from sourcebook.feeds.settings import FeedSettings
from sourcebook.records.source import Source, publications_by_hour
from sourcebook.sources.model import parse_spec, state_item

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)  # a Friday


def source(**state: Any) -> Source:
    spec = parse_spec({"source_id": "harbor", "url": "https://harbor.example/feed"})
    known = {"last_success_at": "2026-11-27T11:45:00Z", "last_fetch_at": "2026-11-27T11:45:00Z"}
    return Source.of_item({**state_item(spec, now="2026-11-01T12:00:00Z"), **known, **state})


def minutes(rate: float, *, hints: FeedHints | None = None, all_new: bool = False, **state: Any) -> float:
    decision = next_fetch(source(**state), Rhythm(rate), hints or FeedHints(), NOON, all_new=all_new)
    return (decision.due - NOON) / timedelta(minutes=1)


@pytest.mark.parametrize(
    ("rate", "wait"),
    [(0, 15), (1, 15), (20, 15), (30, 10), (60, 5), (300, 1), (100_000, 1)],
)
def test_the_next_fetch_comes_when_five_new_entries_are_expected(rate: float, wait: float) -> None:
    assert minutes(rate) == pytest.approx(wait)


def test_a_new_feed_starts_at_its_longest_interval() -> None:
    assert minutes(300, last_success_at=None) == 15


def test_a_quiet_feed_may_be_left_alone_for_a_day_if_so_declared() -> None:
    assert minutes(0.1, interval_minutes=1440) == pytest.approx(1440)
    assert minutes(1, interval_minutes=1440) == pytest.approx(300)


def test_a_document_full_of_new_entries_halves_the_interval() -> None:
    assert minutes(1, all_new=True) == 7.5


def test_what_the_server_asks_for_is_a_lower_bound_within_the_range() -> None:
    hourly = FeedHints(minutes=60)
    assert minutes(300, hints=hourly) == 15
    assert minutes(300, hints=hourly, interval_minutes=240) == 60
    assert minutes(1, hints=FeedHints(minutes=2)) == 15


def test_hours_that_the_server_skips_are_slept_through_as_far_as_the_range_allows() -> None:
    siesta = FeedHints(skip={"hours": [12, 13]})
    assert minutes(300, hints=siesta, interval_minutes=240) == 120
    assert minutes(300, hints=siesta) == 15
    assert minutes(300, hints=FeedHints(skip={"days": [4]}), interval_minutes=1440) == 720


def test_a_busy_hour_is_polled_more_often_than_a_quiet_one() -> None:
    histogram = bytearray(168)
    for day in range(7):
        histogram[day * 24 + 12] = 30
    busy = Rhythm(10, bytes(histogram), entries=50)
    at_noon = next_fetch(source(), busy, FeedHints(), NOON).due - NOON
    evening = NOON + timedelta(hours=8)
    assert at_noon < timedelta(minutes=5) < next_fetch(source(), busy, FeedHints(), evening).due - evening


def test_a_busy_hour_that_is_about_to_come_is_not_slept_through() -> None:
    histogram = bytearray(168)
    for day in range(7):
        histogram[day * 24 + 13] = 200
    rhythm = Rhythm(10, bytes(histogram), entries=50)
    almost_one = datetime(2026, 11, 27, 12, 55, tzinfo=UTC)
    wait = next_fetch(source(), rhythm, FeedHints(), almost_one).due - almost_one
    assert timedelta(minutes=5) < wait < timedelta(minutes=8)


def test_the_hour_of_the_week_counts_once_there_is_history() -> None:
    histogram = bytearray(168)
    for hour in range(4 * 24, 5 * 24):  # Fridays only
        histogram[hour] = 40
    rhythm = Rhythm(10, bytes(histogram), entries=960)
    assert rhythm.factor(NOON, weekly=True) > 5
    assert rhythm.factor(NOON + timedelta(days=1), weekly=True) < 0.5
    assert rhythm.factor(NOON, weekly=False) == pytest.approx(1)


def test_the_rate_counts_entries_by_the_hour_and_not_by_the_fetch() -> None:
    """Four entries an hour are that, asked for every quarter of an hour or every four hours."""
    often = seldom = Rhythm()
    now = NOON
    for quarter in range(4 * 24 * 14):
        before, now = now, now + timedelta(minutes=15)
        often = often.after([now], now, before)
        if quarter % 16 == 15:
            seldom = seldom.after([now] * 16, now, now - timedelta(hours=4))
    assert often.rate == pytest.approx(4, rel=0.01)
    assert seldom.rate == pytest.approx(4, rel=0.01)


def test_a_rate_fades_in_a_day_of_silence() -> None:
    rhythm = Rhythm(10).after([], NOON, NOON - timedelta(hours=24))
    assert rhythm.rate == pytest.approx(10 / 2.71828, rel=0.01)


def test_a_first_document_is_a_sample_of_the_last_week() -> None:
    published = [NOON - timedelta(hours=n) for n in range(1, 25)] + [NOON - timedelta(days=300)]
    rhythm = Rhythm().after(published, NOON, None)
    assert rhythm.rate == pytest.approx(1)
    assert rhythm.entries == 24


@given(
    st.lists(st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)), max_size=400),  # noqa: DTZ001
    st.floats(0, 1e6),
    st.floats(0, 1),
    st.integers(1, 1440),
    st.booleans(),
)
def test_any_history_gives_an_interval_within_the_range(
    published: list[datetime], rate: float, jitter: float, longest: int, all_new: bool
) -> None:
    aware = [moment.replace(tzinfo=UTC) for moment in published]
    rhythm = Rhythm(rate).after(aware, NOON, NOON - timedelta(minutes=3))
    assert rhythm.rate >= 0
    assert len(rhythm.histogram) == 168
    decision = next_fetch(
        source(interval_minutes=longest), rhythm, FeedHints(), NOON, all_new=all_new, jitter=jitter
    )
    assert timedelta(minutes=1) <= decision.due - NOON <= timedelta(minutes=longest)


def test_a_rhythm_survives_being_kept() -> None:
    rhythm = Rhythm().after([NOON - timedelta(hours=2)] * 6, NOON, None)
    assert rhythm.together == 4.75
    assert Rhythm.of(source(**rhythm.to_state())) == rhythm
    assert publications_by_hour(rhythm.histogram)[10] == 6


def test_the_longest_wish_of_an_answer_counts() -> None:
    assert minutes_asked_for(60, 600, None, NOON) == 60
    assert minutes_asked_for(60, 7200, None, NOON) == 120
    later = NOON + timedelta(hours=5)
    assert minutes_asked_for(0, None, later, NOON) == 300
    assert minutes_asked_for(0, 60, later, NOON) == 1
    assert minutes_asked_for(0, None, None, NOON) == 0
    assert minutes_asked_for(500_000, None, None, NOON) == 7 * 24 * 60


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({}, "new entries an hour on average"),
        ({"fetch_count": 1}, "new feeds start at 15 minutes"),
        ({"consecutive_errors": 3, "last_error": "timeout"}, "It failed 3 times in a row (timeout)"),
        ({"enabled": False, "last_cause": "gone"}, "It is disabled (gone); this is a probe."),
        ({"last_fetch_at": None, "last_success_at": None}, "It has not been fetched yet."),
    ],
)
def test_the_explanation_says_why_the_next_fetch_is_when_it_is(state: dict[str, Any], words: str) -> None:
    known = {"fetch_count": 9, "next_fetch_time": "2026-11-27T12:10:00Z"}
    lines = explain(source(**{**known, **state}), NOON, settings=FeedSettings())
    assert lines[0] == "The next fetch is due at 2026-11-27 12:10:00 UTC, in 10 minutes."
    assert words in " ".join(lines)


def test_a_short_document_is_read_before_it_can_fill_with_what_nobody_has_seen() -> None:
    waits = [minutes(20, last_entries=entries) for entries in (0, 100, 20, 10, 3)]
    assert waits[0] == waits[1] == 15
    assert 15 > waits[2] > waits[3] > waits[4] >= 1
    # A burst of BURST times the rate, and some standard deviations more, still fit.
    for entries, wait in zip((20, 10, 3), waits[2:], strict=True):
        burst = BURST * 20 * wait / 60
        assert wait == 1 or burst + DEVIATIONS * burst**0.5 <= entries + 0.01


def test_the_length_of_this_document_counts_before_that_of_the_last_one() -> None:
    shorter = next_fetch(source(last_entries=100), Rhythm(20), FeedHints(), NOON, document=10)
    longer = next_fetch(source(last_entries=10), Rhythm(20), FeedHints(), NOON, document=100)
    assert shorter.due - NOON < timedelta(minutes=10) < longer.due - NOON
    assert "its document holds only 10 entries" in " ".join(shorter.reasons)


def test_a_new_feed_whose_document_spans_minutes_is_asked_sooner() -> None:
    published = [NOON - timedelta(minutes=n) for n in range(20)]
    rhythm = Rhythm().after(published, NOON, None)
    new = source(last_success_at=None)
    assert next_fetch(new, rhythm, FeedHints(), NOON, document=20).due - NOON < timedelta(minutes=6)
    assert next_fetch(new, Rhythm(1), FeedHints(), NOON, document=20).due - NOON == timedelta(minutes=15)


def test_a_first_document_without_dates_says_nothing_of_the_rate() -> None:
    seen = NOON.replace(microsecond=0)
    rhythm = Rhythm().after([seen] * 40, NOON + timedelta(milliseconds=300), None)
    assert (rhythm.rate, rhythm.lately, rhythm.entries) == (0, 0, 0)
    assert next_fetch(source(last_success_at=None), rhythm, FeedHints(), NOON, document=40).due - NOON == (
        timedelta(minutes=15)
    )


def test_a_burst_is_followed_until_it_is_over() -> None:
    """One fetch that finds few does not end it: what came within the last hour is remembered."""
    rhythm, now = Rhythm(1), NOON
    for _ in range(4):
        before, now = now, now + timedelta(minutes=15)
        rhythm = rhythm.after([now] * 10, now, before)
    calm = rhythm.after([], now + timedelta(minutes=5), now)
    later = now + timedelta(minutes=5)
    assert calm.rate < 5
    following = next_fetch(source(last_entries=15), calm, FeedHints(), later).due - later
    assert following < timedelta(minutes=6)
    for _ in range(16):
        before, later = later, later + timedelta(minutes=15)
        calm = calm.after([], later, before)
    assert calm.lately < 1 < calm.rate


def test_a_feed_of_hundreds_an_hour_remembers_the_hours_of_the_day_before() -> None:
    """A histogram of bytes that were counted up one by one would have been halved to nothing by then."""
    rhythm, now = Rhythm(), NOON.replace(hour=0)
    for hour in range(48):
        for minute in range(0, 60, 5):
            before, now = now, NOON.replace(hour=0) + timedelta(hours=hour, minutes=minute)
            busy = 600 if hour % 24 in {8, 9} else 60
            rhythm = rhythm.after([now] * (busy // 12), now, before)
    tomorrow = NOON.replace(hour=8, minute=30) + timedelta(days=2)
    quiet = tomorrow + timedelta(hours=7)
    assert rhythm.factor(tomorrow, weekly=False) > 4 * rhythm.factor(quiet, weekly=False)


def test_the_rates_are_kept_when_nothing_new_was_found() -> None:
    rhythm = Rhythm(4, lately=2).after([], NOON, NOON - timedelta(hours=1))
    kept = Rhythm.of(source(**rhythm.rates()))
    assert (kept.rate, kept.lately) == (round(rhythm.rate, 4), round(rhythm.lately, 4))
    assert kept.lately < 1 < kept.rate


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"next_fetch_time": "2026-11-27T11:47:00Z"}, "It is due sooner than that"),
        ({"next_fetch_time": "2026-11-27T12:30:00Z"}, "It is due later than that"),
        ({"last_cause": "host_busy"}, "Its host asked for patience"),
        ({"enabled": False, "next_fetch_time": "9999-12-31T23:59:59Z"}, "it was disabled by hand"),
    ],
)
def test_the_explanation_has_what_the_habits_of_a_feed_do_not_explain(
    state: dict[str, Any], words: str
) -> None:
    known = {"fetch_count": 9, "next_fetch_time": "2026-11-27T12:00:00Z"}
    assert words in " ".join(explain(source(**{**known, **state}), NOON, settings=FeedSettings()))
    assert len(explain(source(**known), NOON, settings=FeedSettings())) == 3


def test_the_explanation_goes_by_the_settings_it_is_given() -> None:
    known = {"fetch_count": 1, "next_fetch_time": "2026-11-27T12:10:00Z", "interval_minutes": 60}
    lines = explain(source(**known), NOON, settings=FeedSettings(max_refresh_interval_minutes=40))
    assert "new feeds start at 40 minutes" in " ".join(lines)


def polled(rhythm: Rhythm, every: timedelta, found: list[list[datetime]]) -> Rhythm:
    """Return a rhythm after polls at a fixed interval that found these."""
    now = NOON
    for published in found:
        before, now = now, now + every
        rhythm = rhythm.after(published, now, before)
    return rhythm


def test_entries_that_come_together_are_learned_and_forgotten() -> None:
    together = polled(
        Rhythm(), timedelta(minutes=10), [[NOON + timedelta(minutes=10 * n + 5)] * 4 for n in range(40)]
    )
    assert together.together == pytest.approx(4, rel=0.05)
    apart = [[NOON + timedelta(minutes=10 * n + k) for k in (2, 8)] for n in range(120)]
    assert polled(Rhythm(), timedelta(minutes=10), apart).together == 1
    assert polled(together, timedelta(minutes=10), apart).together == pytest.approx(1, abs=0.1)


def test_a_first_document_shows_what_comes_together() -> None:
    issues = [NOON - timedelta(days=day, hours=1) for day in (1, 2, 3) for _ in range(5)]
    assert Rhythm().after(issues, NOON, None).together > 4
    assert Rhythm().after(issues[::5], NOON, None).together == 1


def test_what_comes_together_is_counted_by_the_entry() -> None:
    """Of ten entries, nine come as nine; by the batch, one and nine would be five."""
    found = [[NOON + timedelta(minutes=10 * n + 5)] * (1 if n % 2 else 9) for n in range(200)]
    assert polled(Rhythm(), timedelta(minutes=10), found).together == pytest.approx(8.2, abs=0.6)


@pytest.mark.parametrize("dated", [timedelta(days=-3), timedelta(0)], ids=["old date", "no date"])
def test_entries_that_do_not_say_when_they_came_count_as_one_batch_until_polls_tell_them_apart(
    dated: timedelta,
) -> None:
    """What has no date, or one before the last fetch, was first seen by this fetch."""
    quarters, every = range(1, 41), timedelta(minutes=15)
    seldom = polled(Rhythm(), every, [[NOON + n * every + dated] * 5 for n in quarters])
    assert seldom.together == pytest.approx(5, rel=0.05)
    often = polled(
        seldom, timedelta(minutes=3), [[NOON + n * timedelta(minutes=3) + dated] for n in range(200)]
    )
    assert often.together == pytest.approx(1, abs=0.2)


def test_a_short_document_is_read_sooner_if_its_entries_come_together() -> None:
    def wait(together: float, document: int) -> timedelta:
        rhythm = Rhythm(4, together=together)
        return next_fetch(source(), rhythm, FeedHints(), NOON, document=document).due - NOON

    assert wait(1, 10) > wait(3, 10) > wait(5, 10) > wait(10, 10) >= timedelta(minutes=1)
    assert wait(100, 10) == wait(10, 10), "a document holds no more of a batch than it has entries"
    assert wait(1, 100) == wait(5, 100) == timedelta(minutes=15), "a long one is read as before"


def test_the_explanation_says_that_entries_come_together() -> None:
    known = {"fetch_count": 9, "next_fetch_time": "2026-11-27T12:00:00Z", "last_entries": 10, "rate": 4.0}
    several = " ".join(explain(source(**known, entries_together=4.3), NOON, settings=FeedSettings()))
    assert "its document holds only 10 entries, and they come 4.3 at a time: so that a burst of 6" in several
    alone = " ".join(explain(source(**known), NOON, settings=FeedSettings()))
    assert "its document holds only 10 entries: so that a burst of 6" in alone


def test_a_state_from_before_batches_were_counted_is_read_and_learns() -> None:
    old = Rhythm(2).to_state()
    del old["entries_together"]
    rhythm = Rhythm.of(source(**{**old, "entries_counted": 1_000}))
    assert rhythm.together == 1
    assert polled(rhythm, timedelta(minutes=10), [[NOON] * 8] * 40).together > 7


def test_quiet_hours_are_believed_by_half_and_for_an_hour() -> None:
    """A burst at night is most of a surprise, and a short document must hold it all the same."""
    always = Rhythm(8, bytes([20]) * 168, entries=3_360)
    by_day = Rhythm(8, bytes(0 if 10 <= hour % 24 < 16 else 20 for hour in range(168)), entries=2_520)

    def wait(rhythm: Rhythm, **state: Any) -> timedelta:
        return next_fetch(source(**state), rhythm, FeedHints(), NOON, document=10).due - NOON

    assert by_day.factor(NOON, weekly=False) < QUIET
    assert wait(by_day) / wait(always) == pytest.approx(1 / QUIET)
    slow = {"interval_minutes": 1440}
    rarely = wait(Rhythm(0.6, by_day.histogram, entries=2_520), **slow)
    assert wait(Rhythm(0.3, by_day.histogram, entries=2_520), **slow) > rarely == timedelta(hours=1)
    # A burst at noon is as much of one as at any hour.
    assert wait(Rhythm(8, by_day.histogram, entries=2_520, lately=8)) == wait(always)
