"""Pages of a list: where one ended, written as an opaque cursor, and how the next one is filled.

A position is the place of the last entry looked at in the list's order, never a count, so entries that
come or go between two pages shift nothing. A cursor holds the position together with a digest of the list
and its filters: it continues the list it was made for and no other.
"""

from __future__ import annotations

import base64
import hashlib
import heapq
import json
import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from typing import Any, Final, Generic, TypeAlias, TypeVar

from boto3.dynamodb.conditions import ConditionBase
from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.clock import parse_iso
from sourcebook.errors import InvalidInput
from sourcebook.table import keys
from sourcebook.table.client import CONNECTIONS, Table
from sourcebook.table.codec import Item

Position: TypeAlias = tuple[str, ...]
"""Place of an entry in the order of its list."""

READ_AT_MOST: Final = 1_000
"""Entries looked at for one page. A rare filter gets a short page and a cursor instead of a long wait."""
WEIGHT_AT_MOST: Final = 4_000_000
"""Bytes of one page: a Lambda function's answer must stay below 6 MB."""

SORTED_AT_MOST: Final = 500
"""Items of one timestamp that are read and sorted for a page."""

_BATCH: Final = 100
"""Entries loaded at a time, as many as one BatchGet takes."""
_VERSION: Final = 1
_CURSOR_LIMIT: Final = 4_096
_PLAIN: Final = 2
"""Parts of the position (timestamp, PK)."""
_PART_LIMIT: Final = 2_048
"""Bytes of a partition key, the longest part that a position can have."""
_SORT_KEY_LIMIT: Final = 1_024
_EXPECTED: Final = "the next_cursor of the page before, unchanged, with the same filters"

EntryT = TypeVar("EntryT")
RowT = TypeVar("RowT")
ItemT_co = TypeVar("ItemT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Page(Generic[ItemT_co]):
    """One page of a list.

    Attributes:
        items: what is on it.
        next_cursor: continues the list, also from a page that is short or empty; None at its end.
    """

    items: Sequence[ItemT_co]
    next_cursor: str | None


def all_items(page: Callable[..., Page[RowT]]) -> Iterator[RowT]:
    """Yield what is on all pages of a list; `page` returns the one that continues after `cursor`."""
    cursor: str | None = None
    while True:
        found = page(cursor=cursor)
        yield from found.items
        if (cursor := found.next_cursor) is None:
            return


@dataclass(frozen=True, slots=True)
class Listing:
    """One list with one set of filters: what a cursor belongs to."""

    digest: str

    @classmethod
    def of(cls, name: str, filters: Mapping[str, str | None]) -> Listing:
        """Return the listing with this name and these filters; a filter that is None is not set."""
        chosen = {key: value for key, value in filters.items() if value is not None}
        text = json.dumps([name, chosen], sort_keys=True)
        return cls(hashlib.sha256(text.encode()).hexdigest()[:16])

    def cursor(self, position: Position) -> str:
        """Return the cursor that continues after this position."""
        text = json.dumps([_VERSION, self.digest, *position], separators=(",", ":"), ensure_ascii=False)
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def position(self, cursor: str, *, parts: int | Container[int]) -> Position:
        """Return the position that a cursor holds.

        Args:
            cursor: as a client sent it.
            parts: how many parts a position of this list has, or may have.

        Raises:
            InvalidInput: if it is not a cursor of this listing. That its parts are a place in the list is
                for the list to check.
        """
        try:
            version, digest, *position = _content(cursor)
        except ValueError as error:
            raise bad_cursor(cursor) from error
        numbers = (parts,) if isinstance(parts, int) else parts
        if version != _VERSION or digest != self.digest or len(position) not in numbers:
            raise bad_cursor(cursor)
        if not all(_could_be_key(part) for part in position):
            raise bad_cursor(cursor)
        return tuple(position)


def bad_cursor(cursor: str) -> InvalidInput:
    """Return the error for a cursor that does not continue the list it was sent for."""
    return InvalidInput("cursor", cursor, _EXPECTED)


def _content(cursor: str) -> list[Any]:
    if len(cursor) > _CURSOR_LIMIT or not cursor.isascii():
        raise ValueError("not a cursor")
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        content = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except RecursionError as error:
        raise ValueError("nested too deeply for a cursor") from error
    if not isinstance(content, list):
        raise ValueError("not a cursor")  # noqa: TRY004 - it is the value from outside that is wrong
    return content


def _could_be_key(part: object) -> bool:
    """Whether DynamoDB could hold this as a key: text that is not empty, not too long, and true Unicode."""
    if not isinstance(part, str) or not part:
        return False
    try:
        return len(part.encode()) <= _PART_LIMIT
    except UnicodeEncodeError:
        return False


Stream: TypeAlias = Callable[[str | None, str | None, str | None], Iterator[Item]]
"""Reads a partition of an index newest first: from the first timestamp to the last, None for no bound.

The third is the `PK` of the item of the last timestamp that the reading continues after, whether it is still
there or not; None to begin.
"""


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of an index that a list is read from; the index's sort key is `timestamp`.

    Attributes:
        attribute: the index's partition key.
        value: of the partition, as it is stored, in its shard.
        sort_key: SK of the items that count; others may share the partition.
    """

    index: str
    attribute: str
    value: str
    sort_key: str

    def newest_first(
        self, table: Table, page_size: int, first: str | None, last: str | None, after: str | None
    ) -> Iterator[Item]:
        """Yield the items that count, as a `Stream` does, `page_size` of them with the first request."""
        if first and last and first > last:
            return iter(())
        start = None
        if last and after:
            start = {self.attribute: self.value, "timestamp": last, "PK": after, "SK": self.sort_key}
        items = table.query_all(
            in_partition(self.attribute, self.value, between(first, last)),
            index=self.index,
            newest_first=True,
            start=start,
            page_size=page_size,
        )
        return (item for item in items if item["SK"] == self.sort_key)


def in_partition(attribute: str, value: str, bounds: ConditionBase | None) -> ConditionBase:
    """Return the condition that an index's key is in a partition, and its sort key within bounds if any."""
    partition = KeyCondition(attribute).eq(value)
    return partition if bounds is None else partition & bounds


def between(first: str | None, last: str | None) -> ConditionBase | None:
    """Return the condition on `timestamp` that holds between two of them, None for no bound."""
    timestamp = KeyCondition("timestamp")
    if first and last:
        return timestamp.between(first, last)
    if first:
        return timestamp.gte(first)
    return timestamp.lte(last) if last else None


def walk_shards(
    table: Table,
    attribute: str,
    value: str,
    bounds: ConditionBase | None = None,
    *,
    index: str,
    sort_key: str = "timestamp",
    page_size: int,
) -> Iterator[Item]:
    """Yield the items that have a value of an index, from all its shards, in the index's order.

    Args:
        table: where they are.
        attribute: the index's partition key.
        value: as whoever reads an item sees it.
        bounds: condition on the sort key, if there is one.
        index: name of the index.
        sort_key: of the index.
        page_size: items that are probably wanted.
    """
    shards = list(table.shards.read(value)) if keys.is_sharded(attribute, value) else [value]
    size = _share_of(page_size, len(shards))
    walks = [
        table.query_all(in_partition(attribute, shard, bounds), index=index, page_size=size)
        for shard in shards
    ]
    if len(walks) == 1:
        return walks[0]
    return heapq.merge(*_begun(walks), key=lambda item: str(item[sort_key]))


def walk_eligible(
    table: Table, partitions: Sequence[str], listing: Listing, cursor: str | None, *, page_size: int
) -> Iterator[Item]:
    """Yield what partitions of EligibilityIndex have, one after another, after the place of a cursor.

    A position of such a list is (partition, sort key), see `eligible_position`.

    Raises:
        InvalidInput: if the cursor does not hold one of these partitions.
    """
    beyond: ConditionBase | None = None
    if cursor is not None:
        partition, after = listing.position(cursor, parts=2)
        if partition not in partitions or len(after.encode()) > _SORT_KEY_LIMIT:
            raise bad_cursor(cursor)
        partitions = partitions[partitions.index(partition) :]
        beyond = KeyCondition("GSI1SK").gt(after)
    for partition in partitions:
        yield from walk_shards(
            table,
            "GSI1PK",
            partition,
            beyond,
            index=keys.ELIGIBILITY_INDEX,
            sort_key="GSI1SK",
            page_size=page_size,
        )
        beyond = None


def eligible_position(item: Item) -> Position:
    """Return the place of an item in a list of partitions of EligibilityIndex."""
    return item["GSI1PK"], item["GSI1SK"]


def _share_of(page_size: int, shards: int) -> int:
    """Return how many items to ask each shard for so that a page is probably full: chance is uneven."""
    return page_size if shards == 1 else min(page_size, 2 * page_size // shards + 2)


def _begun(walks: Sequence[Iterator[Item]]) -> list[Iterator[Item]]:
    """Send the first request of each walk at the same time."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - most deployments have one shard

    with ThreadPoolExecutor(min(len(walks), CONNECTIONS)) as threads:
        beginnings = list(threads.map(lambda walk: list(islice(walk, 1)), walks))
    return [chain(beginning, rest) for beginning, rest in zip(beginnings, walks, strict=True)]


@dataclass(frozen=True, slots=True)
class ListedItem:
    """An item of an index in the order of a list.

    Attributes:
        item: with `timestamp` and `PK`.
        position: its place.
        given: whether it was given before. It is looked at once more, so that a page knows what it has read.
    """

    item: Item
    position: Position
    given: bool = False


def merged_position(listing: Listing, cursor: str, streams: Container[str]) -> Position:
    """Return the position in a list that `merge_newest_first` has merged from these streams.

    Raises:
        InvalidInput: if the cursor does not hold one.
    """
    position = listing.position(cursor, parts=(2, 3, 4))
    try:
        parse_iso(position[0])
    except (ValueError, OverflowError) as error:  # the first year has no time in UTC east of Greenwich
        raise bad_cursor(cursor) from error
    if len(position) > _PLAIN and position[_PLAIN] not in streams:
        raise bad_cursor(cursor)
    return position


def merge_newest_first(
    streams: Mapping[str, Stream], after: Position | None, *, side_by_side: bool = False
) -> Iterator[ListedItem]:
    """Yield the items of several index partitions in one order: newest first.

    Within one partition DynamoDB gives items of one timestamp in an order of its own. Up to
    `SORTED_AT_MOST` of them are read and sorted by PK before the first is given. Then an item has the same
    place whatever partition it is in, and one that moves to another partition between two pages is neither
    given twice nor lost. More of them would have to be read again for each page. So these are given in the
    order of the partitions and in DynamoDB's own, which a key continues: one that moves to a later partition
    may be given once more, and none is lost.

    Args:
        streams: by name, in the order in which items move from one to another.
        after: position of the last entry given before: (timestamp, PK) where the timestamp was sorted,
            (timestamp, PK, stream) where it was not, with the last PK that was given in the sorted order
            behind it where the timestamp was sorted before it had so many.
        side_by_side: whether the first request of each is made at the same time.
    """
    last = None
    if after is not None:
        last = after[0]
        if len(after) > _PLAIN:
            yield from _unsorted(streams, last, after)
            after, last = None, _just_before(last)
    while True:
        read = [stream(None, last, None) for stream in streams.values()]
        if side_by_side:
            read = _begun(read)
        in_order = heapq.merge(*read, key=lambda item: str(item["timestamp"]), reverse=True)
        for timestamp, group in groupby(in_order, key=lambda item: str(item["timestamp"])):
            items = list(islice(group, SORTED_AT_MOST + 1))
            given = after[1] if after is not None and after[0] == timestamp else ""
            if len(items) > SORTED_AT_MOST:
                yield from _unsorted(streams, timestamp, (timestamp, given) if given else None)
                last = _just_before(timestamp)
                break
            # An item on its way from one partition to another may for a moment be seen in both.
            by_key = {str(item["PK"]): item for item in items}
            for key in sorted(by_key):
                if key > given:
                    yield ListedItem(by_key[key], (timestamp, key))
        else:
            return


def _unsorted(streams: Mapping[str, Stream], timestamp: str, after: Position | None) -> Iterator[ListedItem]:
    """Yield the items of one timestamp, one partition after another, after a position of either shape."""
    _, key, name, given = (*(after or ()), *("",) * 4)[:4]
    if after is not None and len(after) == _PLAIN:
        key, given = "", key
    names = list(streams)
    for current in names[names.index(name) if name else 0 :]:
        for item in streams[current](timestamp, timestamp, key or None):
            place = (timestamp, str(item["PK"]), current, *((given,) if given else ()))
            yield ListedItem(item, place, given=place[1] <= given)
        key = ""


def _just_before(timestamp: str) -> str:
    """Return what sorts before a timestamp and after every earlier one: those of one kind are as long."""
    return timestamp[:-1] + chr(max(0, ord(timestamp[-1]) - 1))


def fill_page(
    entries: Iterator[EntryT],
    *,
    listing: Listing,
    position: Callable[[EntryT], Position],
    load: Callable[[list[EntryT]], Sequence[RowT | None]],
    limit: int,
    weight: Callable[[RowT], int] = lambda _row: 0,
    looked_at_most: int | None = None,
) -> Page[RowT]:
    """Return the next page: entries are taken until enough of them have become rows.

    It ends early, with a cursor, when `looked_at_most` entries were looked at or the rows weigh
    `WEIGHT_AT_MOST`. A page with at least one entry left to look at has a cursor, the last one has none.

    Args:
        entries: the rest of the list, in order.
        listing: what the cursor will belong to.
        position: returns the place of an entry.
        load: turns up to 100 entries into rows, one for each; None for an entry that the filters leave out.
        limit: rows of a full page, at most 100.
        weight: bytes that a row adds to the answer.
        looked_at_most: entries looked at for one page; `READ_AT_MOST` if None.
    """
    most = READ_AT_MOST if looked_at_most is None else looked_at_most
    rows: list[RowT] = []
    weighed = looked_at = 0
    place: Position = ()
    ahead = list(islice(entries, 1))
    while ahead and looked_at < most:
        wanted = min(_likely_enough(limit, len(rows), looked_at), most - looked_at)
        taken = ahead + list(islice(entries, wanted - 1))
        ahead = list(islice(entries, 1))
        for number, (entry, row) in enumerate(zip(taken, load(taken), strict=True), start=1):
            if row is not None:
                weighed += weight(row)
                if rows and weighed > WEIGHT_AT_MOST:  # this row begins the next page
                    return Page(rows, listing.cursor(place))
                rows.append(row)
            place = position(entry)
            if len(rows) == limit:
                more = bool(ahead) or number < len(taken)
                return Page(rows, listing.cursor(place) if more else None)
        looked_at += len(taken)
    return Page(rows, listing.cursor(place) if ahead else None)


def _likely_enough(limit: int, found: int, looked_at: int) -> int:
    """Return how many more entries to load, going by the share of those looked at that became rows."""
    if not looked_at:
        return limit
    return min(math.ceil((limit - found) * looked_at / found), _BATCH) if found else _BATCH


def page_newest_first(
    table: Table,
    partitions: Sequence[Partition],
    *,
    listing: Listing,
    cursor: str | None,
    load: Callable[[list[Item]], Sequence[RowT | None]],
    limit: int,
    first: str | None = None,
    last: str | None = None,
    weight: Callable[[RowT], int] = lambda _row: 0,
) -> Page[RowT]:
    """Return one page of the items of one or several partitions of an index, newest first.

    Args:
        table: where they are.
        partitions: in the order in which items move from one to another.
        listing: what the cursor belongs to.
        cursor: of the page before.
        load: turns items of the index into rows, as that of `fill_page`.
        limit: rows of a full page, at most 100.
        first: the earliest timestamp, None for no bound.
        last: the latest one.
        weight: bytes that a row adds to the answer.

    Raises:
        InvalidInput: if the cursor is not one of this list.
    """
    merged = len(partitions) > 1
    after = None
    if cursor is not None:
        after = merged_position(listing, cursor, [place.value for place in partitions] if merged else ())
        # DynamoDB refuses a start outside of the condition.
        if (first and after[0] < first) or (last and after[0] > last):
            raise bad_cursor(cursor)
    # That a timestamp has no more items is known by the first of the next one.
    size = _share_of(limit + 2, table.shards.count) if merged else limit + 1

    def stream(place: Partition) -> Stream:
        return lambda earliest, latest, key: place.newest_first(
            table, size, earliest or first, latest or last, key
        )

    if merged:
        streams = {place.value: stream(place) for place in partitions}
        entries = merge_newest_first(streams, after, side_by_side=table.shards.count > 1)
    else:
        items = stream(partitions[0])(None, *(after or (None, None)))
        entries = (ListedItem(item, (item["timestamp"], item["PK"])) for item in items)

    def rows_of(entries: list[ListedItem]) -> list[RowT | None]:
        rows = iter(load([entry.item for entry in entries if not entry.given]))
        return [None if entry.given else next(rows) for entry in entries]

    return fill_page(
        entries,
        listing=listing,
        position=lambda entry: entry.position,
        load=rows_of,
        limit=limit,
        weight=weight,
    )
