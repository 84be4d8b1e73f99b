from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sourcebook.articles.adapters.intake import crawl_time
from sourcebook.feeds.fetching import (
    address_state,
    document_state,
    validator_state,
    validators_for,
)
from sourcebook.http.response import Headers, HttpResponse
from sourcebook.records.source import Source
from sourcebook.sources.model import parse_spec, state_item

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
OLD = "https://harbor.example/feed"
NEW = "https://news.harbor.example/feed"
YESTERDAY = "Thu, 26 Nov 2026 12:00:00 GMT"


def source(**state: Any) -> Source:
    spec = parse_spec({"source_id": "harbor", "url": OLD})
    known = {"etag": '"a"', "last_modified": YESTERDAY, "body_hash": "0" * 32}
    return Source.of_item({**state_item(spec, now="2026-11-01T12:00:00Z"), **known, **state})


def answer(status: int = 200, permanent_url: str | None = None, **headers: str) -> HttpResponse:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return HttpResponse(status, Headers(named), b"", OLD, permanent_url=permanent_url)


def test_a_feed_is_asked_with_the_validators_it_gave() -> None:
    assert validators_for(source(), NOON) == ('"a"', YESTERDAY)


def test_a_feed_that_is_silent_for_longer_than_its_rhythm_explains_is_asked_once_a_day_without() -> None:
    silent = {"rate": 2.0, "unchanged_since": "2026-11-26T11:00:00Z"}
    assert validators_for(source(**silent), NOON) == (None, None)
    checked = {"full_fetch_at": "2026-11-27T02:00:00Z"}
    assert validators_for(source(**silent, **checked), NOON) == ('"a"', YESTERDAY)
    quiet = {"rate": 0.001, "unchanged_since": "2026-11-26T11:00:00Z"}
    assert validators_for(source(**quiet), NOON) == ('"a"', YESTERDAY)


def test_a_last_modified_in_the_future_is_not_trusted() -> None:
    future = source(last_modified="Sun, 27 Nov 2033 12:00:00 GMT")
    assert validators_for(future, NOON) == (None, None)


def test_a_document_that_changed_under_the_same_etag_ends_the_trust_in_validators() -> None:
    state = document_state(source(), answer(ETag='"a"', Last_Modified=YESTERDAY), "1" * 32, NOON)
    assert state["validators_stuck"] is True
    assert validators_for(source(validators_stuck=True), NOON) == (None, None)
    honest = document_state(source(), answer(ETag='"b"'), "1" * 32, NOON)
    assert "validators_stuck" not in honest


def test_a_new_etag_beside_an_old_date_is_kept_with_it() -> None:
    assert validator_state(source(), answer(ETag='"b"', Last_Modified=YESTERDAY)) == {"etag": '"b"'}


def test_a_304_need_not_repeat_the_validators_and_a_200_without_them_takes_them_away() -> None:
    assert validator_state(source(), answer(304)) == {}
    assert validator_state(source(), answer(200)) == {"etag": None, "last_modified": None}


def test_an_absurdly_long_validator_is_not_kept() -> None:
    assert validator_state(source(), answer(ETag='"' + "x" * 5000 + '"', Last_Modified=YESTERDAY)) == {
        "etag": None
    }


def test_a_permanent_redirect_is_followed_for_good_after_five_times() -> None:
    state: dict[str, Any] = {}
    for count in range(1, 5):
        state = address_state(source(**state), answer(permanent_url=NEW))
        assert state == {"redirect_url": NEW, "redirect_count": count}
    moved = address_state(source(**state), answer(permanent_url=NEW))
    assert moved["url"] == NEW
    assert moved["previous_url"] == OLD
    assert moved["host"] == "news.harbor.example"


@pytest.mark.parametrize("other", [None, "https://portal.example/"])
def test_another_answer_in_between_starts_the_count_again(other: str | None) -> None:
    state = {"redirect_url": NEW, "redirect_count": 4}
    changed = address_state(source(**state), answer(permanent_url=other))
    assert changed["redirect_count"] in (None, 1)
    assert changed["redirect_url"] == other


def test_a_feed_that_is_where_it_was_needs_no_word() -> None:
    assert address_state(source(), answer()) == {}


def test_a_poll_in_the_second_of_the_one_before_has_the_next_second() -> None:
    polled = source(last_success_at="2026-11-27T12:00:00Z")
    half = timedelta(milliseconds=500)
    assert crawl_time(polled, NOON + half) == NOON + timedelta(seconds=1)
    assert crawl_time(polled, NOON - half) == NOON - half
    assert crawl_time(polled, NOON + 3 * half) == NOON + 3 * half
    assert crawl_time(source(), NOON) == NOON
