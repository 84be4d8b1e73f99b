"""Walking a table: page after page, in parts at the same time, with no more in memory than a few pages."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from sourcebook.table.client import QueryPage, Table
from sourcebook.table.codec import Item


def pages_of(
    table: Table, segments: int, limit: int | None = None, index: str | None = None
) -> Iterator[list[Item]]:
    """Yield every item of a table, or of an index of it, a page at a time.

    Args:
        table: what is read, consistently.
        segments: parts of it that are read at the same time.
        limit: items of a page at most; 1 MB when None.
        index: name of the index.

    Raises:
        TableBusy: if the table is not able to answer now.
    """
    with ThreadPoolExecutor(segments) as pool:

        def read(segment: int, start: Item | None) -> Future[QueryPage]:
            return pool.submit(
                table.scan, segment=segment, segments=segments, start=start, limit=limit, index=index
            )

        coming = {read(segment, None): segment for segment in range(segments)}
        while coming:
            done, _ = wait(coming, return_when=FIRST_COMPLETED)
            for future in done:
                segment, page = coming.pop(future), future.result()
                if page.next_key is not None:
                    coming[read(segment, page.next_key)] = segment
                yield page.items
