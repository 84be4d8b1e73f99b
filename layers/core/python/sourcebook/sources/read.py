"""Reading feeds: one, a list of them, and the history of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.http.urls import hide_query
from sourcebook.records.base import View
from sourcebook.records.source import Fetch, Health, Source
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, bad_cursor, eligible_position, fill_page, walk_eligible

FEED: Final = "feed"
"""Kind of the sources that are read here."""

HEALTHS: Final = tuple(health.value for health in Health)

_POSITION_LIMIT: Final = 200
_ID_LIMIT: Final = 63


@dataclass(frozen=True, slots=True)
class FeedReader:
    """Feeds in the table, as they are served.

    Attributes:
        whole: whether addresses are served with the values of their queries.
    """

    table: Table
    whole: bool = True

    def get(self, feed_id: str) -> View | None:
        """Return a feed, or None if there is none with this id."""
        item = self._state(feed_id)
        return self._served(Source.of_item(item).shown()) if item else None

    def _served(self, source: View) -> View:
        if self.whole:
            return source
        shown = ("url", "previous_url")
        return source | {name: hide_query(source[name]) for name in shown if source.get(name)}

    def page(self, *, health: str | None = None, limit: int, cursor: str | None = None) -> Page[View]:
        """Return one page of the feeds; otherwise as `sources`."""
        listing = Listing.of("feeds", {"health": health})
        return self._page(listing, Source.shown, (FEED, health), limit, cursor)

    def sources(
        self, *, kind: str | None = None, health: str | None = None, limit: int, cursor: str | None = None
    ) -> Page[View]:
        """Return one page of the sources: those polled by the day they are due, then the disabled ones.

        Those of one day are in the order of their ids, and the disabled ones in that of their probes. One
        that is polled between two pages is met again if it moves to another day by that.

        Args:
            kind: only sources of this kind.
            health: one of `HEALTHS`, or None for all.
            limit: sources of a full page.
            cursor: the `next_cursor` of the page before.

        Raises:
            InvalidInput: if the cursor is not one of this list with these filters.
        """
        listing = Listing.of("sources", {"kind": kind, "health": health})
        return self._page(listing, Source.shown_in_short, (kind, health), limit, cursor)

    def _page(
        self,
        listing: Listing,
        shown: Callable[[Source], View],
        wanted: tuple[str | None, str | None],
        limit: int,
        cursor: str | None,
    ) -> Page[View]:
        kind, health = wanted
        polled = [] if health == Health.DISABLED else [keys.DUE_SOURCES]
        disabled = [] if polled and health else [keys.DISABLED_SOURCES]

        def load(entries: list[Item]) -> list[View | None]:
            chosen = [keys.source(entry["source_id"]) for entry in entries if kind in {None, entry["kind"]}]
            sources = map(Source.of_item, self.table.batch_get(chosen))
            states = {source.source_id: self._served(shown(source)) for source in sources}
            feeds = [states.get(entry["source_id"]) for entry in entries]
            return [feed if feed and health in {None, feed["health"]} else None for feed in feeds]

        return fill_page(
            walk_eligible(self.table, polled + disabled, listing, cursor, page_size=limit + 1),
            listing=listing,
            position=eligible_position,
            load=load,
            limit=limit,
        )

    def history(self, feed_id: str, *, limit: int, cursor: str | None = None) -> Page[View] | None:
        """Return one page of a feed's fetches that changed something or failed, newest first.

        Returns:
            None if there is no feed with this id.

        Raises:
            InvalidInput: if the cursor is not one of this feed's history.
        """
        listing = Listing.of("history", {"feed_id": feed_id})
        start = None
        if cursor is not None:
            (due_at,) = listing.position(cursor, parts=1)
            if len(due_at) > _POSITION_LIMIT:
                raise bad_cursor(cursor)
            start = keys.source_fetch(feed_id, due_at)
        if self._state(feed_id) is None:
            return None
        partition = KeyCondition("PK").eq(keys.source(feed_id)["PK"])
        fetches = partition & KeyCondition("SK").begins_with(keys.FETCH_PREFIX)
        return fill_page(
            self.table.query_all(fetches, newest_first=True, start=start, page_size=limit + 1),
            listing=listing,
            position=lambda item: (_due_at(item),),
            load=lambda items: [{"due_at": _due_at(item)} | Fetch.of_item(item).shown() for item in items],
            limit=limit,
        )

    def _state(self, feed_id: str) -> Item | None:
        if not feed_id or len(feed_id) > _ID_LIMIT:
            return None
        item = self.table.get(keys.source(feed_id))
        return item if item and item["kind"] == FEED else None


def _due_at(item: Item) -> str:
    return str(item["SK"]).removeprefix(keys.FETCH_PREFIX)
