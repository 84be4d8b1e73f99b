"""The key of a story, its form in case of conflict, and the keys on the other side of midnight."""

from __future__ import annotations

import hashlib
from dataclasses import FrozenInstanceError
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from sourcebook.articles.normalize import dedup_key, identify, neighbouring_keys
from sourcebook.errors import InvalidInput

DAY = date(2026, 11, 27)
TOMORROW = date(2026, 11, 28)
YESTERDAY = date(2026, 11, 26)
TEXT = "apple reports q4 earnings beat"


def first_32(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def test_the_key_is_the_seeds() -> None:
    assert dedup_key(TEXT, DAY) == first_32("apple reports q4 earnings beat|2026-11-27")


def test_the_key_in_case_of_conflict_takes_the_signature_in() -> None:
    assert dedup_key(TEXT, DAY, signature="1.5%") == first_32(
        "apple reports q4 earnings beat|2026-11-27|1.5%"
    )


def test_an_empty_signature_gives_a_key_of_its_own_too() -> None:
    assert dedup_key(TEXT, DAY, signature="") == first_32("apple reports q4 earnings beat|2026-11-27|")
    assert dedup_key(TEXT, DAY, signature="") != dedup_key(TEXT, DAY)


def test_a_moment_counts_for_its_day_in_utc() -> None:
    just_after_midnight_in_berlin = datetime(2026, 11, 28, 0, 30, tzinfo=timezone(timedelta(hours=1)))
    assert dedup_key(TEXT, just_after_midnight_in_berlin) == dedup_key(TEXT, DAY)


def test_the_key_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="normalized_headline"):
        dedup_key("", DAY)


def test_the_identity_is_all_an_article_needs() -> None:
    published = datetime(2026, 11, 28, 0, 30, tzinfo=timezone(timedelta(hours=1)))
    identity = identify("UPDATE 1-Oil falls 1.5% - Reuters", published, ["Reuters"])
    assert identity.normalized == "oil falls 15"
    assert identity.signature == "1.5%"
    assert identity.day == DAY
    assert identity.dedup_key == dedup_key("oil falls 15", DAY)
    assert identity.signed_key == dedup_key("oil falls 15", DAY, signature="1.5%")
    with pytest.raises(FrozenInstanceError):
        identity.day = TOMORROW  # type: ignore[misc]


@pytest.mark.parametrize("use", [lambda at: identify("Fed", at), lambda at: neighbouring_keys("fed", at)])
def test_a_naive_time_is_refused(use: object) -> None:
    assert callable(use)
    naive = datetime(2026, 11, 27, 12, 0)  # noqa: DTZ001 - what must be refused
    with pytest.raises(InvalidInput, match=r"published_at: '2026-11-27T12:00:00' is not valid; .* its zone"):
        use(naive)


@pytest.mark.parametrize(
    ("hour", "minute", "neighbours"),
    [
        (0, 0, [YESTERDAY]),
        (5, 59, [YESTERDAY]),
        (6, 0, [YESTERDAY]),
        (6, 1, []),
        (12, 0, []),
        (17, 59, []),
        (18, 0, [TOMORROW]),
        (23, 59, [TOMORROW]),
    ],
)
def test_the_neighbouring_day_counts_within_six_hours_of_midnight(
    hour: int, minute: int, neighbours: list[date]
) -> None:
    published = datetime(2026, 11, 27, hour, minute, tzinfo=UTC)
    assert neighbouring_keys(TEXT, published) == [dedup_key(TEXT, day) for day in neighbours]


def test_midnight_is_that_of_utc() -> None:
    evening_in_new_york = datetime(2026, 11, 27, 20, 0, tzinfo=timezone(timedelta(hours=-5)))  # 01:00 in UTC
    assert neighbouring_keys(TEXT, evening_in_new_york) == [dedup_key(TEXT, DAY)]


def test_the_reach_can_be_chosen() -> None:
    noon = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
    assert neighbouring_keys(TEXT, noon, hours=12) == [dedup_key(TEXT, YESTERDAY), dedup_key(TEXT, TOMORROW)]
    assert neighbouring_keys(TEXT, noon.replace(hour=0), hours=0) == []
    with pytest.raises(InvalidInput, match="hours: 25 is not valid; expected a number of hours from 0 to 24"):
        neighbouring_keys(TEXT, noon, hours=25)


def test_neighbours_with_the_signature_in_their_key_can_be_looked_for() -> None:
    late = datetime(2026, 11, 27, 23, 0, tzinfo=UTC)
    assert neighbouring_keys(TEXT, late, signature="1.5%") == [dedup_key(TEXT, TOMORROW, signature="1.5%")]


def test_the_first_and_the_last_day_have_one_neighbour() -> None:
    assert neighbouring_keys(TEXT, datetime(1, 1, 1, 0, 0, tzinfo=UTC)) == []
    assert neighbouring_keys(TEXT, datetime(9999, 12, 31, 23, 0, tzinfo=UTC)) == []
