from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sourcebook.feeds.seen import EntryMark, Freshness, SeenEntries

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
STORM = EntryMark("https://harbor.example/storm", "Storm closes the harbour")


def test_an_entry_is_new_until_its_document_was_taken_in() -> None:
    seen = SeenEntries()
    assert seen.freshness(STORM) is Freshness.NEW
    assert SeenEntries(seen.after([STORM], NOON)).freshness(STORM) is Freshness.KNOWN


def test_an_entry_whose_content_changed_is_edited() -> None:
    seen = SeenEntries(SeenEntries().after([STORM], NOON))
    assert seen.freshness(EntryMark(STORM.identity, "Storm closes two harbours")) is Freshness.EDITED


def test_the_time_an_entry_was_first_seen_stays() -> None:
    seen = SeenEntries(SeenEntries().after([STORM], NOON))
    later = SeenEntries(seen.after([EntryMark(STORM.identity, "edited")], NOON + timedelta(hours=1)))
    assert later.first_seen(STORM, NOON + timedelta(days=1)) == NOON


def test_an_entry_that_left_the_document_is_still_known_when_it_comes_back() -> None:
    other = EntryMark("https://harbor.example/calm", "Calm")
    packed = SeenEntries(SeenEntries().after([STORM], NOON)).after([other], NOON)
    assert SeenEntries(packed).freshness(STORM) is Freshness.KNOWN


def test_entries_that_left_long_ago_are_forgotten_so_that_the_item_stays_small() -> None:
    packed = b""
    for n in range(1_000):
        packed = SeenEntries(packed).after([EntryMark(f"entry {n}", "")], NOON)
    assert len(packed) == 301 * 18
    assert SeenEntries(packed).freshness(EntryMark("entry 999", "")) is Freshness.KNOWN
    assert SeenEntries(packed).freshness(EntryMark("entry 998", "")) is Freshness.KNOWN
    assert SeenEntries(packed).freshness(EntryMark("entry 0", "")) is Freshness.NEW


def test_an_unchanged_document_leaves_the_fingerprints_as_they_are() -> None:
    marks = [EntryMark(f"entry {n}", "text") for n in range(50)]
    packed = SeenEntries().after(marks, NOON)
    assert SeenEntries(packed).after(marks, NOON + timedelta(days=1)) == packed
    assert len(packed) < 1024
