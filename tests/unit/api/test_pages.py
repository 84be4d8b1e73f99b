"""Cursors, the order of merged partitions, and how a page is filled."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.errors import InvalidInput
from sourcebook.table import pages
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, Stream, fill_page, merge_newest_first

LISTING = Listing.of("articles", {"status": "pending", "tag": None})
PARTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)


@given(st.lists(PARTS, min_size=1, max_size=3))
def test_a_cursor_gives_back_its_position(parts: list[str]) -> None:
    cursor = LISTING.cursor(tuple(parts))
    assert LISTING.position(cursor, parts=len(parts)) == tuple(parts)
    assert cursor.isascii()
    assert not set(cursor) & set("+/=&?#% ")


@pytest.mark.parametrize(
    "other",
    [
        Listing.of("articles", {"status": "analyzed"}),
        Listing.of("articles", {"tag": "pending"}),
        Listing.of("articles", {"status": "pending", "tag": "x"}),
        Listing.of("feeds", {"status": "pending"}),
    ],
)
def test_a_cursor_continues_no_other_list(other: Listing) -> None:
    cursor = LISTING.cursor(("a", "b"))
    with pytest.raises(InvalidInput) as refused:
        other.position(cursor, parts=2)
    assert refused.value.field == "cursor"


def test_a_filter_that_is_not_set_makes_no_difference() -> None:
    assert Listing.of("articles", {"status": "pending"}) == LISTING


def encoded(content: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "é",
        "!!!!",
        "AAAA",
        "=" * 7,
        encoded(None),
        encoded({}),
        encoded([]),
        encoded([1]),
        encoded([1, LISTING.digest]),
        encoded([1, LISTING.digest, "a"]),
        encoded([1, LISTING.digest, "a", "b", "c"]),
        encoded([1, LISTING.digest, "a", 2]),
        encoded([1, LISTING.digest, "a", None]),
        encoded([1, LISTING.digest, "a", ""]),
        encoded([1, LISTING.digest, "a", "\ud800"]),
        encoded([1, LISTING.digest, "a", "b" * 3000]),
        encoded([2, LISTING.digest, "a", "b"]),
        base64.urlsafe_b64encode(b"[" * 2_900).decode(),
        "a" * 5_000,
    ],
)
def test_what_is_not_a_cursor_is_refused_by_name(cursor: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        LISTING.position(cursor, parts=2)
    assert refused.value.field == "cursor"


@given(st.data())
def test_a_damaged_cursor_is_refused_or_still_a_position(data: st.DataObject) -> None:
    cursor = LISTING.cursor(("2026-11-27T21:56:39Z", "dedup:" + "0" * 32))
    start = data.draw(st.integers(0, len(cursor) - 1))
    stop = data.draw(st.integers(start, len(cursor)))
    damaged = cursor[:start] + data.draw(st.text(max_size=5)) + cursor[stop:]
    try:
        position = LISTING.position(damaged, parts=2)
    except InvalidInput:  # any other error fails the test
        return
    assert len(position) == 2
    assert all(position)


ENTRIES = st.lists(
    st.fixed_dictionaries(
        {"timestamp": st.sampled_from("12345"), "PK": st.text("abcdefgh", min_size=2, max_size=2)}
    ),
    max_size=30,
    unique_by=lambda entry: entry["PK"],
)


def newest_first(entries: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(
        sorted(entries, key=lambda entry: entry["PK"]), key=lambda entry: entry["timestamp"], reverse=True
    )


def stream_of(items: list[dict[str, str]], seed: int) -> Stream:
    """Return a stream that gives items of one timestamp in an order of its own."""

    def place(timestamp: str, key: str) -> tuple[str, str]:
        return timestamp, hashlib.sha256(f"{seed} {key}".encode()).hexdigest()

    def read(first: str | None, last: str | None, after: str | None) -> Iterator[Item]:
        for item in sorted(items, key=lambda item: place(item["timestamp"], item["PK"]), reverse=True):
            own = place(item["timestamp"], item["PK"])
            if (first or "") <= own[0] <= (last or "~") and (
                last is None or after is None or own < place(last, after)
            ):
                yield dict(item)

    return read


def streams_of(entries: list[dict[str, str]], data: st.DataObject) -> dict[str, Stream]:
    parts: list[list[dict[str, str]]] = [[], [], []]
    for entry in entries:
        parts[data.draw(st.integers(0, 2))].append(entry)
    return {name: stream_of(part, seed) for seed, (name, part) in enumerate(zip("xyz", parts, strict=True))}


@given(ENTRIES, st.data())
def test_partitions_merge_into_one_order_whatever_order_equal_times_come_in(
    entries: list[dict[str, str]], data: st.DataObject
) -> None:
    streams = streams_of(entries, data)

    assert [entry.item for entry in merge_newest_first(streams, None)] == newest_first(entries)


@given(ENTRIES.filter(bool), st.data())
def test_a_merge_continues_after_a_position_even_if_that_entry_has_moved(
    entries: list[dict[str, str]], data: st.DataObject
) -> None:
    order = newest_first(entries)
    cut = data.draw(st.integers(0, len(order) - 1))
    after = (order[cut]["timestamp"], order[cut]["PK"])
    streams = streams_of(entries, data)

    assert [entry.item for entry in merge_newest_first(streams, after)] == order[cut + 1 :]


@given(ENTRIES, st.integers(1, 4), st.integers(1, 4), st.data())
def test_a_merge_of_very_many_of_one_time_is_continued_from_a_key(
    entries: list[dict[str, str]], most: int, later: int, data: st.DataObject
) -> None:
    streams = streams_of(entries, data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "SORTED_AT_MOST", most)
        whole = list(merge_newest_first(streams, None))
        assert sorted(e.item["PK"] for e in whole) == sorted(e["PK"] for e in entries)
        times = [entry.item["timestamp"] for entry in whole]
        assert times == sorted(times, reverse=True)
        # From any place, whether there are more or fewer of its time by then.
        patch.setattr(pages, "SORTED_AT_MOST", later)
        for place, entry in enumerate(whole):
            rest = [other.item for other in merge_newest_first(streams, entry.position) if not other.given]
            assert sorted(item["PK"] for item in rest) == sorted(e.item["PK"] for e in whole[place + 1 :])


def test_an_entry_seen_in_two_partitions_at_once_is_given_once() -> None:
    entry = {"timestamp": "1", "PK": "a"}
    streams = {"x": stream_of([entry], 0), "y": stream_of([dict(entry)], 1)}
    assert [found.item for found in merge_newest_first(streams, None)] == [entry]


def numbers_after(place: int, count: int) -> Iterator[int]:
    return iter(range(place + 1, count))


def read_page(count: int, cursor: str | None, *, keep: set[int], limit: int, weight: int = 0) -> Page[int]:
    place = int(LISTING.position(cursor, parts=1)[0]) if cursor else -1
    return fill_page(
        numbers_after(place, count),
        listing=LISTING,
        position=lambda number: (str(number),),
        load=lambda numbers: [number if number in keep else None for number in numbers],
        limit=limit,
        weight=lambda _number: weight,
    )


@given(st.integers(0, 60), st.sets(st.integers(0, 60)), st.integers(1, 20))
def test_pages_hold_every_row_once_and_end(count: int, keep: set[int], limit: int) -> None:
    wanted = [number for number in range(count) if number in keep]
    found: list[int] = []
    cursor = None
    for _ in range(count + 1):
        page = read_page(count, cursor, keep=keep, limit=limit)
        assert len(page.items) <= limit
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
        assert len(page.items) == limit, "only a full page has a cursor while nothing bounds it"
    assert cursor is None
    assert found == wanted


def test_a_rare_row_ends_the_page_early_with_a_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "READ_AT_MOST", 10)
    keep = {3, 25}
    first = read_page(30, None, keep=keep, limit=5)
    assert first.items == [3]
    second = read_page(30, first.next_cursor, keep=keep, limit=5)
    assert second.items == []
    third = read_page(30, second.next_cursor, keep=keep, limit=5)
    assert third.items == [25]
    assert third.next_cursor is None


def test_heavy_rows_make_a_page_short_and_the_next_one_continues() -> None:
    heavy = pages.WEIGHT_AT_MOST // 2 - 1
    found: list[list[int]] = []
    cursor = None
    while not found or cursor:
        page = read_page(5, cursor, keep=set(range(5)), limit=10, weight=heavy)
        found.append([*page.items])
        cursor = page.next_cursor
    assert found == [[0, 1], [2, 3], [4]]


def test_one_row_heavier_than_a_page_is_still_given() -> None:
    page = read_page(2, None, keep={0, 1}, limit=10, weight=pages.WEIGHT_AT_MOST + 1)
    assert page.items == [0]
    assert page.next_cursor is not None


def test_a_full_page_looks_at_one_entry_more_and_no_further() -> None:
    entries = numbers_after(-1, 100)
    fill_page(
        entries,
        listing=LISTING,
        position=lambda number: (str(number),),
        load=lambda numbers: numbers,
        limit=10,
    )
    assert next(entries) == 11


@pytest.mark.parametrize(
    ("every", "loaded"),
    [
        (1, [10]),
        (2, [10, 10]),
        (5, [10, 40]),
        (60, [10, 90, 100, 100, 100, 100, 56]),
        (10_000, [10, 90, *[100] * 9]),
    ],
)
def test_no_more_is_loaded_than_the_share_of_rows_found_so_far_suggests(
    every: int, loaded: list[int]
) -> None:
    sizes: list[int] = []

    def load(numbers: list[int]) -> list[int | None]:
        sizes.append(len(numbers))
        return [number if number % every == 0 else None for number in numbers]

    fill_page(
        numbers_after(-1, 5_000), listing=LISTING, position=lambda number: (str(number),), load=load, limit=10
    )

    assert sizes == loaded
