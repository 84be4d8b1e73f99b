"""All feeds of the shared folder are read; agreement and speed are measured by bench/parse_feeds.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sourcebook.feeds.marks import marks_of
from sourcebook.feeds.model import ParsedFeed
from sourcebook.feeds.parse import parse_feed

_ROOT = Path(__file__).parents[3]
_FEEDS = Path(os.environ.get("SOURCEBOOK_SHARED", _ROOT.parent / "shared")) / "data" / "feeds"


@pytest.fixture(scope="module")
def feeds() -> dict[str, ParsedFeed]:
    if not _FEEDS.is_dir():
        pytest.skip(f"the feeds to test with are not at {_FEEDS}; set SOURCEBOOK_SHARED to their folder")
    files = [path for path in sorted(_FEEDS.iterdir()) if path.name not in ("index.json", "README.md")]
    return {path.name: parse_feed(path.read_bytes(), url="https://news.example/feed") for path in files}


def test_every_real_feed_is_read_without_the_fallback(feeds: dict[str, ParsedFeed]) -> None:
    assert len(feeds) >= 150
    assert {feed.parser for feed in feeds.values()} == {"expat", "json"}
    assert all(feed.entries for feed in feeds.values())


def test_every_entry_of_a_real_feed_can_be_stored(feeds: dict[str, ParsedFeed]) -> None:
    for name, feed in feeds.items():
        for entry in feed.entries:
            (mark,) = marks_of([entry])
            assert mark.identity, name
            assert entry.title, name
            assert all(
                moment is None or moment.tzinfo is not None for moment in (entry.published, entry.updated)
            ), name
            (entry.title + entry.summary + entry.content + entry.id + entry.link).encode()


def test_entries_of_a_real_feed_do_not_fall_together(feeds: dict[str, ParsedFeed]) -> None:
    for name, feed in feeds.items():
        identities = [mark.identity for mark in marks_of(feed.entries)]
        distinct = {(entry.id, entry.address, entry.title) for entry in feed.entries}
        assert len(set(identities)) == len(distinct), name
