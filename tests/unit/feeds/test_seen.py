from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from sourcebook.feeds.seen import EntryMark, Freshness, Recognized, SeenEntries, article_id_of

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
AT_ONCE = datetime(2026, 11, 27, 11, 41, 7, tzinfo=UTC)
STORM = EntryMark("id:https://harbor.example/storm", "Storm closes the harbour")


def after(*documents: Sequence[EntryMark], now: datetime = NOON) -> SeenEntries:
    """Return what is remembered after these documents, as it is read back from the table."""
    seen = SeenEntries()
    for marks in documents:
        seen = seen.compare(marks, now).after
        seen = SeenEntries(seen.packed, seen.packed_names)
    return seen


def known(seen: SeenEntries, *marks: EntryMark, now: datetime = NOON) -> list[Recognized]:
    return seen.compare(marks, now).entries


def freshness(seen: SeenEntries, *marks: EntryMark) -> list[Freshness]:
    return [entry.freshness for entry in known(seen, *marks)]


def slug(words: str, *, content: str = "", published: datetime | None = AT_ONCE, text: str = "") -> EntryMark:
    """Return an entry whose guid is its link, and both are made of its headline."""
    aliases = (f"text:{text}",) if text else ()
    return EntryMark(f"id:https://harbor.example/2026/11/{words}", content or words, aliases, published)


def test_an_entry_is_new_until_its_document_was_taken_in() -> None:
    assert freshness(SeenEntries(), STORM) == [Freshness.NEW]
    assert freshness(after([STORM]), STORM) == [Freshness.KNOWN]


def test_an_entry_whose_content_changed_is_edited() -> None:
    edited = EntryMark(STORM.identity, "Storm closes two harbours")
    assert freshness(after([STORM]), edited) == [Freshness.EDITED]


def test_the_time_an_entry_was_first_seen_stays() -> None:
    seen = after([STORM])
    later = seen.compare([EntryMark(STORM.identity, "edited")], NOON + timedelta(hours=1)).after
    [entry] = known(later, STORM, now=NOON + timedelta(days=1))
    assert entry.first_seen == NOON


def test_an_entry_that_left_the_document_is_still_known_when_it_comes_back() -> None:
    other = EntryMark("id:https://harbor.example/calm", "Calm")
    assert freshness(after([STORM], [other]), STORM) == [Freshness.KNOWN]


def test_an_entry_that_a_document_lists_twice_is_taken_once() -> None:
    again = EntryMark(STORM.identity, "Storm, told otherwise")
    assert freshness(SeenEntries(), STORM, again) == [Freshness.NEW, Freshness.KNOWN]
    assert freshness(after([STORM, again]), STORM, again) == [Freshness.KNOWN, Freshness.KNOWN]


def test_entries_that_left_long_ago_are_forgotten_so_that_the_item_stays_small() -> None:
    seen = after(*([EntryMark(f"entry {n}", "")] for n in range(1_000)))
    assert len(seen.packed) == 301 * 18
    assert freshness(seen, EntryMark("entry 999", "")) == [Freshness.KNOWN]
    assert freshness(seen, EntryMark("entry 998", "")) == [Freshness.KNOWN]
    assert freshness(seen, EntryMark("entry 0", "")) == [Freshness.NEW]


def test_an_unchanged_document_leaves_nothing_to_write() -> None:
    marks = [slug(f"the-harbour-{n}", text=f"text {n}") for n in range(50)]
    seen = after(marks)
    for later in (timedelta(minutes=15), timedelta(days=1), timedelta(days=30)):
        assert seen.compare(marks, NOON + later).after is seen
    assert len(seen.packed) < 1024
    assert len(seen.packed_names) < 4096


def test_a_text_that_carries_the_time_of_day_leaves_nothing_to_write() -> None:
    seen = after([slug("the-harbour", text="as of 11:41")])
    assert seen.compare([slug("the-harbour", text="as of 11:56")], NOON).after is seen


def test_a_huge_document_is_remembered_within_what_an_item_may_hold() -> None:
    marks = [slug(f"{n}-{'x' * 250}", text=f"text {n}") for n in range(20_000)]
    seen = after(marks)
    assert len(seen.packed) + len(seen.packed_names) < 350_000


def test_what_was_remembered_without_names_is_read() -> None:
    seen = SeenEntries(after([STORM]).packed)
    assert known(seen, STORM) == [Recognized(Freshness.KNOWN, NOON, "https://harbor.example/storm")]


# Guids and links that are made of headlines.

LATE = slug("ferry-to-the-island-late", text="The ferry was due at noon.")
OFF = slug("ferry-to-the-island-off", text="The ferry was due at noon.")
CALM = slug("calm-sea-tomorrow", published=AT_ONCE - timedelta(hours=3))


def test_an_entry_that_comes_back_under_a_new_guid_is_an_edit_of_its_article() -> None:
    [_, entry] = known(after([CALM, LATE]), CALM, OFF)
    assert (entry.freshness, entry.article_id) == (Freshness.EDITED, article_id_of(LATE.identity))


def test_it_stays_one_article_through_every_further_edit() -> None:
    sunk = slug("island-ferry-sunk", text="The ferry was due at noon.")
    seen = after([CALM, LATE], [CALM, OFF], [CALM, sunk])
    assert freshness(seen, CALM, sunk) == [Freshness.KNOWN, Freshness.KNOWN]
    edited = EntryMark(sunk.identity, "another text", (), sunk.published)
    [entry] = known(seen, edited)
    assert (entry.freshness, entry.article_id) == (Freshness.EDITED, article_id_of(LATE.identity))
    [entry] = known(seen, LATE)
    assert (entry.freshness, entry.article_id) == (Freshness.EDITED, article_id_of(LATE.identity))


def test_the_article_of_a_renamed_entry_is_known_as_long_as_the_entry() -> None:
    seen = after([CALM, LATE], [CALM, OFF])
    month = NOON + timedelta(days=30)
    seen = seen.compare([CALM, OFF, STORM], month).after
    [entry] = known(SeenEntries(seen.packed, seen.packed_names), EntryMark(OFF.identity, "x"), now=month)
    assert (entry.first_seen, entry.article_id) == (NOON, article_id_of(LATE.identity))


def test_an_entry_that_is_still_there_has_become_no_other() -> None:
    assert freshness(after([LATE]), LATE, OFF) == [Freshness.KNOWN, Freshness.NEW]


def test_one_entry_becomes_only_one() -> None:
    twins = [slug("ferry-one", text="The ferry was due at noon."), OFF]
    assert sorted(freshness(after([LATE]), *twins)) == [Freshness.EDITED, Freshness.NEW]


def test_without_a_text_the_second_of_publication_and_the_words_of_the_slug_tell() -> None:
    late, off = slug("ferry-to-the-island-late"), slug("ferry-to-the-island-off")
    [entry] = known(after([late]), off)
    assert (entry.freshness, entry.article_id) == (Freshness.EDITED, article_id_of(late.identity))


@pytest.mark.parametrize(
    "other",
    [
        slug("storm-over-the-cape"),
        slug("ferry-to-the-island-off", published=AT_ONCE + timedelta(seconds=1)),
        slug("ferry-to-the-island-off", published=None),
        slug("ferry-to-the-island-late-2"),
        EntryMark("id:https://other.example/17", "a number", (), AT_ONCE),
    ],
)
def test_what_only_resembles_an_entry_that_left_is_new(other: EntryMark) -> None:
    assert freshness(after([slug("ferry-to-the-island-late")]), other) == [Freshness.NEW]


def test_a_whole_hour_identifies_nothing_without_a_text() -> None:
    late, off = (slug(f"ferry-to-the-island-{word}", published=NOON) for word in ("late", "off"))
    assert freshness(after([late]), off) == [Freshness.NEW]


def test_entries_published_in_one_second_are_not_distinguished_by_it() -> None:
    late, full = slug("ferry-to-the-island-late"), slug("ferry-to-the-island-full")
    off, out = slug("ferry-to-the-island-off"), slug("ferry-to-the-island-out")
    assert freshness(after([late, full]), off) == [Freshness.NEW]
    assert freshness(after([late]), off, out) == [Freshness.NEW, Freshness.NEW]


def test_a_new_guid_on_a_known_link_is_the_same_article() -> None:
    link = ("link:https://harbor.example/1",)
    seen = after([EntryMark("id:late", "Ferry late", link, AT_ONCE)])
    [entry] = known(seen, EntryMark("id:off", "Ferry off", link, AT_ONCE))
    assert (entry.freshness, entry.article_id) == (Freshness.EDITED, "late")


def test_a_page_that_every_story_links_to_is_no_name_when_the_dates_differ() -> None:
    link = ("link:https://harbor.example/today",)
    seen = after([EntryMark("id:monday", "Monday", link, AT_ONCE)])
    tuesday = EntryMark("id:tuesday", "Tuesday", link, AT_ONCE + timedelta(days=1))
    assert freshness(seen, tuesday) == [Freshness.NEW]


def test_a_feed_that_begins_to_give_guids_repeats_nothing() -> None:
    before = [EntryMark(f"link:https://harbor.example/{n}", f"{n}") for n in range(30)]
    now = [EntryMark(f"id:{n}", f"{n}", (f"link:https://harbor.example/{n}",)) for n in range(30)]
    entries = known(after(before), *now)
    assert {entry.freshness for entry in entries} == {Freshness.KNOWN}
    assert [entry.article_id for entry in entries] == [f"https://harbor.example/{n}" for n in range(30)]
    [entry] = known(after(before, now), EntryMark("id:7", "edited"))
    assert (entry.freshness, entry.article_id) == (Freshness.EDITED, "https://harbor.example/7")


def test_names_of_old_entries_are_dropped_when_something_is_written_anyway() -> None:
    seen = after([LATE])
    week = NOON + timedelta(days=7)
    later = seen.compare([LATE, STORM], week).after
    assert len(later.packed) > len(seen.packed)
    assert freshness(SeenEntries(later.packed, later.packed_names), STORM, OFF) == [
        Freshness.KNOWN,
        Freshness.NEW,
    ]


def test_an_id_that_is_too_long_for_a_key_is_hashed() -> None:
    assert article_id_of("id:short") == "short"
    assert article_id_of("link:" + "é" * 200).startswith("sha256-")
