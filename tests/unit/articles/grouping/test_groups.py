"""Which articles become one event."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from sourcebook.articles.grouping.groups import MOST_MEMBERS, Compared, Entry, Window, event_id_of
from sourcebook.articles.grouping.members import new_event, of_members, with_members
from sourcebook.records.event import ACTIVE, DISSOLVED, Event
from tests.unit.articles.grouping.articles import entry

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORT = "Orbita wins lunar lander contract from Esrange"
LONG = "Orbita wins lunar lander contract from Esrange for $2bn"
OTHER = "Orbita wins lunar lander contract from Esrange for $3bn"
ELSE = "Globex closes its Riga brewery"


def events(entries: Iterable[Entry]) -> dict[str, str | None]:
    return {one.dedup_key[-2:]: one.event_id for one in entries}


def test_the_second_article_of_a_story_founds_an_event_named_after_the_first() -> None:
    window = Window()
    first = entry(1, SHORT)
    assert events(window.decide([first])) == {"01": None}
    decided = window.decide([entry(2, LONG, 30), entry(3, ELSE, 30)])
    wanted = event_id_of(first.dedup_key)
    assert events(decided) == {"01": wanted, "02": wanted, "03": None}
    assert {one.dedup_key for one in window.members(wanted)} == {entry(1, SHORT).dedup_key, f"{2:032x}"}


def test_the_event_has_the_same_name_whichever_article_came_first() -> None:
    found = set()
    for order in ([1, 2], [2, 1]):
        window = Window()
        for key in order:
            window.decide([entry(key, SHORT if key == 1 else LONG, key)])
        found.add(window.entries[f"{1:032x}"].event_id)
    assert found == {event_id_of(f"{1:032x}")}


def test_an_article_that_contradicts_a_member_stays_out() -> None:
    window = Window()
    window.decide([entry(1, SHORT), entry(2, LONG, 1)])
    window.decide([entry(3, OTHER, 2)])
    assert window.entries[f"{3:032x}"].event_id is None


def test_articles_two_days_apart_are_of_no_common_event() -> None:
    window = Window()
    window.decide([entry(1, SHORT), entry(2, SHORT, 48 * 60 + 1)])
    assert {one.event_id for one in window.entries.values()} == {None}
    window.decide([entry(3, SHORT, 48 * 60 - 1)])
    assert window.entries[f"{3:032x}"].event_id is not None


def test_the_next_edition_of_a_column_is_no_news_and_a_reprint_elsewhere_is() -> None:
    headline = "The Quayside Five: what to watch before the bell"
    window = Window()
    window.decide([entry(1, headline), entry(2, headline, 24 * 60)])
    assert {one.event_id for one in window.entries.values()} == {None}
    elsewhere = {"review": {"source_name": "Review"}}
    window.decide([entry(3, headline, 13 * 60, source_attribution=elsewhere)])
    assert window.entries[f"{3:032x}"].event_id is not None


def test_an_article_is_decided_once() -> None:
    window = Window()
    window.decide([entry(1, SHORT)])
    assert window.decide([entry(1, SHORT)]) == []


NEWS = [
    entry(key, f"{name} wins lunar lander contract from {place}{more}", key)
    for key, (name, place, more) in enumerate(
        (name, place, more)
        for name in ("Orbita", "Acme")
        for place in ("Esrange", "Kiruna")
        for more in ("", " today", " for $2bn", " for $3bn")
    )
]


@given(st.permutations(NEWS), st.integers(0, 6), st.integers(7, 14))
def test_a_run_that_is_overtaken_decides_again_as_if_it_had_come_later(
    order: list[Entry], first: int, second: int
) -> None:
    def fresh(entries: Iterable[Entry]) -> list[Entry]:
        return [Entry.from_log(one.to_log()) for one in entries]

    before, faster, slower = order[:first], order[first:second], order[second:]
    undisturbed, overtaken = Window(), Window()
    for chunk in (before, faster, slower):
        undisturbed.decide(fresh(chunk))
    overtaken.decide(fresh(before))
    ours: list[Entry] = fresh(slower)
    compared: Compared = {}
    overtaken.decide(ours, compared)
    overtaken.take_back()
    overtaken.decide(fresh(faster))
    overtaken.decide(ours, compared)
    assert overtaken.entries == undisturbed.entries
    for index in ("_by_word", "_members"):
        ours_, theirs = (getattr(window, index) for window in (overtaken, undisturbed))
        assert {key: value for key, value in ours_.items() if value} == theirs


def test_an_event_that_is_full_takes_no_more() -> None:
    window = Window()
    window.decide(entry(key, SHORT, key / 60) for key in range(MOST_MEMBERS + 5))
    sizes = sorted(len(members) for members in window._members.values())
    assert sizes[-1] == MOST_MEMBERS


def test_a_word_that_stands_everywhere_finds_no_candidates_and_rare_ones_still_do() -> None:
    window = Window()
    window.decide(entry(key, f"Orbita wins prize number {key} of the year zx{key}", 0) for key in range(700))
    decided = window.decide([entry(1001, "Orbita wins prize zebra quagga", 1)])
    assert [one.event_id for one in decided] == [None]
    window.decide([entry(1002, "Orbita wins prize zebra quagga", 2)])
    assert window.entries[f"{1002:032x}"].event_id is not None


def test_what_the_log_keeps_is_what_was_decided() -> None:
    window = Window()
    decided = window.decide([entry(1, SHORT), entry(2, LONG, 1, matched_tickers=["ORBQ"]), entry(3, ELSE, 2)])
    again = Window()
    for one in decided:
        again.add(Entry.from_log(one.to_log()))
    assert events(again.entries.values()) == events(window.entries.values())
    assert again.entries[f"{2:032x}"] == window.entries[f"{2:032x}"]
    joined = again.decide([entry(4, LONG, 3)])
    assert joined[0].event_id == window.entries[f"{1:032x}"].event_id


MEMBERS = [entry(key, SHORT, minutes=key, matched_tickers=[f"T{key}"]) for key in range(8)]


@given(
    st.lists(st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=4), min_size=1, max_size=8), st.randoms()
)
def test_an_event_is_the_same_whatever_order_its_members_are_written_in(
    writes: list[list[Entry]], random_: random.Random
) -> None:
    def written(order: list[list[Entry]]) -> Event:
        event = new_event("e" * 32, "2026-11-27T12:00:00Z")
        for entries in order:
            event = with_members(event, entries)
        return event

    shuffled = [*writes, *random_.choices(writes, k=3)]
    random_.shuffle(shuffled)
    assert written(shuffled) == written(writes)
    event = written(writes)
    assert with_members(event, writes[0]) == event
    assert event.status == ACTIVE
    whole = [one for entries in writes for one in entries]
    assert of_members(event, whole).status == (ACTIVE if event.member_count > 1 else DISSOLVED)
    assert replace(of_members(event, whole), status=ACTIVE) == event
