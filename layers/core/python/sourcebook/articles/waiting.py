"""New articles that still wait for their analysis enter by_status, where lists and healing find them.

Most articles are analyzed seconds after they have come. So the item of a new one is in no index, which saves
the two units of an entry that comes and goes. The table's stream holds each of them for a day, and whoever
reads it, every three minutes, enters those that were not analyzed by then (docs/decisions/0476).
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Final

from sourcebook.errors import Retryable, Terminal
from sourcebook.records.article import Status
from sourcebook.table.client import Change, Table, TableForbidden
from sourcebook.table.keys import ARTICLE_SORT_KEY, Key

_IS_NEW: Final = {"status": None, "sentiment": None}
_IN_A_ROW: Final = 500
"""Articles that are entered request after request. In a jam, several such rows are entered side by side."""
_SIDE_BY_SIDE: Final = 8


def list_as_pending(table: Table, partitions: Iterable[str]) -> dict[str, str]:
    """Enter the articles of these partition keys into by_status, but for those that are analyzed by now.

    Returns:
        Those that the table will never enter, with the reason.

    Raises:
        Retryable: if the table is not able to answer now. Entering them all again is harmless.
        TableForbidden: if a permission is missing.
    """
    wanted = list(partitions)
    changes = [
        Change(Key(PK=partition, SK=ARTICLE_SORT_KEY), {"status": Status.PENDING.value}, _IS_NEW)
        for partition in wanted
    ]
    rows = [changes[at : at + _IN_A_ROW] for at in range(0, len(changes), _IN_A_ROW)]
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as threads:
        results = list(chain.from_iterable(threads.map(table.update_many, rows)))
    refused: dict[str, str] = {}
    for partition, result in zip(wanted, results, strict=True):
        if isinstance(result, Retryable | TableForbidden):
            raise result
        if isinstance(result, Terminal):
            refused[partition] = str(result)
    return refused
