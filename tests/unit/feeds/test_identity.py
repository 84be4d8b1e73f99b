from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sourcebook.feeds.marks import marks_of
from sourcebook.feeds.model import FeedEntry

ENTRY = FeedEntry(
    link="https://news.example/1",
    title="Ferry late",
    published=datetime(2026, 11, 27, 21, 56, tzinfo=UTC),
    updated=None,
    id="n-1",
    summary="<p>The ferry is late.</p>",
)


def identity_of(entry: FeedEntry) -> str:
    (mark,) = marks_of([entry])
    return mark.identity


def content_of(entry: FeedEntry) -> str:
    (mark,) = marks_of([entry])
    return mark.content


def test_the_ladder_goes_from_guid_to_link_to_title_and_content() -> None:
    assert identity_of(ENTRY) == "id:n-1"
    assert identity_of(ENTRY._replace(id="")) == "link:https://news.example/1"
    assert identity_of(ENTRY._replace(id="", link="")).startswith("content:")


def test_the_enclosure_identifies_an_item_without_link() -> None:
    entry = ENTRY._replace(id="", link="", enclosure="https://news.example/1.mp3")

    assert identity_of(entry) == "link:https://news.example/1.mp3"


def test_an_item_listed_twice_is_one() -> None:
    first, second = marks_of([ENTRY, ENTRY])

    assert first.identity == second.identity == "id:n-1"


def test_shared_guids_and_links_fall_to_title_and_content() -> None:
    entries = [ENTRY._replace(id="same", link="https://news.example/", title=title) for title in ("a", "b")]

    first, second = marks_of(entries)

    assert first.identity != second.identity
    assert first.identity.startswith("content:")


def test_a_shared_link_is_no_alias() -> None:
    entries = [ENTRY._replace(id=guid, link="https://news.example/", title=guid) for guid in ("a", "b")]

    assert [mark.identity for mark in marks_of(entries)] == ["id:a", "id:b"]
    assert not any(alias.startswith("link:") for mark in marks_of(entries) for alias in mark.aliases)


def test_a_shared_guid_is_found_again_when_only_one_item_is_left() -> None:
    entries = [ENTRY._replace(id="same", link=f"https://news.example/{n}", title=f"t{n}") for n in range(3)]

    stored = {mark.identity for mark in marks_of(entries)}
    (later,) = marks_of(entries[:1])

    assert stored & {later.identity, *later.aliases}


def test_short_texts_identify_nothing() -> None:
    (mark,) = marks_of([ENTRY])

    assert mark.aliases == ("link:https://news.example/1",)


def test_the_fingerprint_ignores_dates_markup_and_campaigns() -> None:
    polled = ENTRY._replace(
        link="https://news.example/1?utm_source=rss#top",
        published=datetime(2026, 11, 27, 22, 1, tzinfo=UTC),
        summary='<p class="x">The  ferry is late.</p><img src="/pixel?7">',
    )

    assert content_of(polled) == content_of(ENTRY)


@pytest.mark.parametrize(
    "age",
    [
        "3 hours ago",
        "vor 3 Stunden",
        "il y a 2 jours",
        "hace 5 minutos",
        "10:30",
        "2026-11-28T10:00Z",
        "2026-11-28 10:00:01+01:00",
        "9:05 p.m. EST",
    ],
)
def test_the_fingerprint_sees_no_times_of_day_and_no_ages(age: str) -> None:
    now, later = (ENTRY._replace(summary=f"The ferry is late. {words} Delays last.") for words in (age, ""))
    assert content_of(now) == content_of(later)


@pytest.mark.parametrize("words", ["In favor 7 dead", "Chicago: 7 dead", "A ratio of 7:1", "ago 7"])
def test_the_fingerprint_sees_other_numbers(words: str) -> None:
    before, after = (ENTRY._replace(summary=text) for text in (words, words.replace("7", "5")))
    assert content_of(before) != content_of(after)


def test_the_fingerprint_is_the_same_with_and_without_empty_parts() -> None:
    title, text = (ENTRY._replace(summary="", content=content) for content in ("", "  "))
    assert content_of(title) == content_of(text)


def test_the_fingerprint_sees_title_text_and_content() -> None:
    fingerprints = {
        content_of(entry)
        for entry in (
            ENTRY,
            ENTRY._replace(title="Ferry off"),
            ENTRY._replace(summary="The ferry is off."),
            ENTRY._replace(content="More."),
            ENTRY._replace(link="https://news.example/2"),
        )
    }

    assert len(fingerprints) == 5
