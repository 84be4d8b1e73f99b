"""The scenario of the data semantics document, and its three checks, on our table."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.observations.read import Unknown
from sourcebook.table import keys
from tests.integration.observations.world import World

SIX = ("VCB", "deposit_online", "M0006")
MORNING = datetime(2026, 1, 6, 2, tzinfo=UTC)


@pytest.fixture
def scene(world: World) -> World:
    world.declare("timo", 1)
    world.declare("24hmoney", 2)
    world.scrape("timo", MORNING, {SIX: 4.5})
    world.scrape("24hmoney", MORNING + timedelta(hours=3), {SIX: 4.6})
    return world


def test_the_raw_layer_holds_what_both_sources_said_on_that_day(scene: World) -> None:
    held = [(i.observed_day, i.source_id, i.rate_pct) for i in scene.reader.observations(SIX)]
    assert held == [("2026-01-06", "24hmoney", 4.6), ("2026-01-06", "timo", 4.5)]


def test_history_has_one_point_for_the_day_from_the_source_of_highest_priority(scene: World) -> None:
    answer = scene.reader.history(bank_name="VCB", series_code="deposit_online", term_months="6")
    (point,) = answer["items"]
    assert (point["rate_pct"], point["source_id"]) == (4.5, "timo")
    assert point["scraped_at"] == "2026-01-06T02:00:00.000Z"
    assert (answer["bank_name"], answer["series_code"], answer["term_months"]) == ("VCB", "deposit_online", 6)


def test_latest_has_one_row_for_bank_series_and_term_and_says_whose_it_is(scene: World) -> None:
    (row,) = scene.reader.latest(series_code="deposit_online", term_months="6").items
    assert (row["bank_name"], row["rate_pct"], row["source_priority"]) == ("VCB", 4.5, 1)
    assert row["decided_by"] == "priority"
    assert [(c["source_id"], c["rate_pct"]) for c in row["sources_considered"]] == [
        ("timo", 4.5),
        ("24hmoney", 4.6),
    ]


def test_check_1_what_makes_an_observation_unique_includes_its_source(scene: World) -> None:
    held = [keys.observation(*SIX, i.observed_day, i.source_id) for i in scene.reader.observations(SIX)]
    assert {(key["PK"], key["SK"]) for key in held} == {
        ("SERIES#VCB#deposit_online#M0006", "OBS#2026-01-06#24hmoney"),
        ("SERIES#VCB#deposit_online#M0006", "OBS#2026-01-06#timo"),
    }
    assert scene.sql.columns_of_the_unique_index() == ["series", "bank", "term", "observed_day", "url"]


def test_check_2_two_sources_of_one_day_are_two_rows(scene: World) -> None:
    counted = Counter(i.source_id for i in scene.reader.observations(SIX, "2026-01-06", "2026-01-06"))
    assert counted == {"timo": 1, "24hmoney": 1}


def test_check_3_the_history_has_no_day_twice(scene: World) -> None:
    scene.scrape("timo", MORNING + timedelta(hours=9), {SIX: 4.55})
    scene.scrape("24hmoney", MORNING + timedelta(days=1), {SIX: 4.6})
    answer = scene.reader.history(bank_name="VCB", series_code="deposit_online", term_months="6")
    days = [point["observed_day"] for point in answer["items"]]
    assert days == ["2026-01-06", "2026-01-07"]
    assert [point["rate_pct"] for point in answer["items"]] == [4.55, 4.6]


def test_scraping_again_updates_the_days_item_and_keeps_when_it_was_first_and_last_seen(scene: World) -> None:
    scene.scrape("timo", MORNING + timedelta(hours=5), {SIX: 4.7})
    scene.scrape("timo", MORNING - timedelta(hours=1), {SIX: 4.4})  # it arrives late
    (item,) = [i for i in scene.reader.observations(SIX) if i.source_id == "timo"]
    assert (item.rate_pct, item.first_seen_at, item.last_seen_at) == (
        4.7,
        "2026-01-06T01:00:00.000Z",
        "2026-01-06T07:00:00.000Z",
    )


def test_the_day_is_the_sources_own(world: World) -> None:
    world.zones = {"hanoi": "Asia/Ho_Chi_Minh"}
    world.declare("hanoi", 1)
    world.scrape("hanoi", datetime(2026, 1, 5, 18, tzinfo=UTC), {SIX: 4.5})
    assert [i.observed_day for i in world.reader.observations(SIX)] == ["2026-01-06"]


def test_a_stale_source_steps_back_where_max_age_days_is_set_and_the_row_says_so(world: World) -> None:
    world.declare("timo", 1, max_age_days=3)
    world.declare("24hmoney", 2)
    world.scrape("timo", datetime(2026, 1, 2, tzinfo=UTC), {SIX: 4.5})
    world.scrape("24hmoney", datetime(2026, 1, 9, tzinfo=UTC), {SIX: 4.6})
    (row,) = world.reader.latest(series_code="deposit_online").items
    assert (row["source_id"], row["decided_by"], row["stale"]) == ("24hmoney", "freshness", False)
    (row,) = world.reader.latest(series_code="deposit_online", max_age_days=30).items
    assert (row["source_id"], row["decided_by"]) == ("timo", "priority")
    world.declare("timo", 1)
    (row,) = world.reader.latest(series_code="deposit_online").items
    assert row["source_id"] == "timo", "without an age the order of the document holds, however old"


def test_a_loan_has_no_term_and_a_deposit_needs_one(world: World) -> None:
    loan = ("VCB", "home_loan", "-")
    world.declare("timo", 1)
    world.scrape("timo", MORNING, {loan: 7.9, SIX: 4.5})
    answer = world.reader.history(bank_name="VCB", series_code="home_loan")
    assert [point["rate_pct"] for point in answer["items"]] == [7.9]
    with pytest.raises(InvalidInput, match=r"term_months.*home_loan is a loan series"):
        world.reader.history(bank_name="VCB", series_code="home_loan", term_months="6")
    with pytest.raises(InvalidInput, match=r"term_months.*home_loan is a loan series"):
        world.reader.latest(series_code="home_loan", term_months="6")
    with pytest.raises(InvalidInput, match="a term, since deposit_online is a deposit series"):
        world.reader.history(bank_name="VCB", series_code="deposit_online")
    with pytest.raises(Unknown):
        world.reader.latest(series_code="gold")


def test_history_goes_from_day_to_day(world: World) -> None:
    world.declare("timo", 1)
    for day in range(5):
        world.scrape("timo", MORNING + timedelta(days=day), {SIX: 4 + day / 10})
    answer = world.reader.history(
        bank_name="VCB",
        series_code="deposit_online",
        term_months="6",
        first=date(2026, 1, 7),
        last=date(2026, 1, 9),
    )
    assert [p["observed_day"] for p in answer["items"]] == ["2026-01-07", "2026-01-08", "2026-01-09"]
    with pytest.raises(InvalidInput, match="to: '2026-01-01'"):
        world.reader.history(
            bank_name="VCB",
            series_code="deposit_online",
            term_months="6",
            first=date(2026, 1, 7),
            last=date(2026, 1, 1),
        )
