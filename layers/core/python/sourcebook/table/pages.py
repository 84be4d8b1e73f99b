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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Final, Generic, TypeAlias, TypeVar

from boto3.dynamodb.conditions import ConditionBase

from sourcebook.errors import InvalidInput
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

Position: TypeAlias = tuple[str, ...]
"""Place of an entry in the order of its list."""

READ_AT_MOST: Final = 1_000
"""Entries looked at for one page. A rare filter gets a short page and a cursor instead of a long wait."""
WEIGHT_AT_MOST: Final = 4_000_000
"""Bytes of one page: a Lambda function's answer must stay below 6 MB."""

_BATCH: Final = 100
"""Entries loaded at a time, as many as one BatchGet takes."""
_VERSION: Final = 1
_CURSOR_LIMIT: Final = 4_096
_PART_LIMIT: Final = 2_048
"""Bytes of a partition key, the longest part that a position can have."""
_EXPECTED: Final = "the next_cursor of the page before, unchanged, with the same filters"

EntryT = TypeVar("EntryT")
RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True)
class Page(Generic[RowT]):
    """One page of a list.

    Attributes:
        items: what is on it.
        next_cursor: continues the list, also from a page that is short or empty; None at its end.
    """

    items: list[RowT]
    next_cursor: str | None


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

    def position(self, cursor: str, *, parts: int) -> Position:
        """Return the position that a cursor holds.

        Args:
            cursor: as a client sent it.
            parts: how many parts a position of this list has.

        Raises:
            InvalidInput: if it is not a cursor of this listing. That its parts are a place in the list is
                for the list to check.
        """
        try:
            version, digest, *position = _content(cursor)
        except ValueError as error:
            raise bad_cursor(cursor) from error
        if version != _VERSION or digest != self.digest or len(position) != parts:
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


def walk(
    table: Table,
    condition: ConditionBase,
    *,
    index: str | None = None,
    newest_first: bool = False,
    start: Mapping[str, object] | None = None,
    page_size: int,
) -> Iterator[Item]:
    """Yield the items of a query after `start`.

    The first request asks for `page_size` items, which is usually enough, and each further one for four
    times as many; it is only made when it is needed.
    """
    while True:
        page = table.query(condition, index=index, newest_first=newest_first, limit=page_size, start=start)
        yield from page.items
        if (start := page.next_key) is None:
            return
        page_size = min(4 * page_size, READ_AT_MOST)


def merge_newest_first(streams: Sequence[Iterable[Item]], after: Position | None) -> Iterator[Item]:
    """Yield the items of several index partitions in one order: newest first, then by PK.

    Within one partition DynamoDB gives items of one timestamp in an order of its own, so all of them are
    read and sorted before the first is given. Then an item has the same place whatever partition it is
    in, and one that moves to another partition between two pages is neither given twice nor lost.

    Args:
        streams: each newest first, with `timestamp` and `PK`.
        after: position (timestamp, PK) of the last item given before. The streams may still hold the other
            items of that timestamp.
    """
    in_order = heapq.merge(*streams, key=lambda item: str(item["timestamp"]), reverse=True)
    for timestamp, group in groupby(in_order, key=lambda item: str(item["timestamp"])):
        # An item on its way from one partition to another may for a moment be seen in both.
        by_key = {str(item["PK"]): item for item in group}
        for key in sorted(by_key):
            if after is None or timestamp != after[0] or key > after[1]:
                yield by_key[key]


def fill_page(
    entries: Iterator[EntryT],
    *,
    listing: Listing,
    position: Callable[[EntryT], Position],
    load: Callable[[list[EntryT]], Sequence[RowT | None]],
    limit: int,
    weight: Callable[[RowT], int] = lambda _row: 0,
) -> Page[RowT]:
    """Return the next page: entries are taken until enough of them have become rows.

    It ends early, with a cursor, when `READ_AT_MOST` entries were looked at or the rows weigh
    `WEIGHT_AT_MOST`. A page with at least one entry left to look at has a cursor, the last one has none.

    Args:
        entries: the rest of the list, in order.
        listing: what the cursor will belong to.
        position: tells the place of an entry.
        load: turns up to 100 entries into rows, one for each; None for an entry that the filters leave out.
        limit: rows of a full page, at most 100.
        weight: bytes that a row adds to the answer.
    """
    rows: list[RowT] = []
    weighed = looked_at = 0
    place: Position = ()
    ahead = list(islice(entries, 1))
    while ahead and looked_at < READ_AT_MOST:
        wanted = min(_likely_enough(limit, len(rows), looked_at), READ_AT_MOST - looked_at)
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
