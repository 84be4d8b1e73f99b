"""Reading feeds: one, a list of them by due time, and the history of one.

As in `sourcebook.articles.read`, nothing here needs pydantic; a test holds the names against the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from boto3.dynamodb.conditions import ConditionBase
from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, bad_cursor, fill_page, walk

FEED: Final = "feed"
"""Kind of the sources that are read here."""

SLOW: Final = 5.0
"""Seconds after which a fetch is a slow one."""

HEALTHS: Final = ("new", "healthy", "failing", "disabled")
"""Values of `Health`."""

PUBLIC_FIELDS: Final = (
    "url",
    "name",
    "kind",
    "priority",
    "tags",
    "enabled",
    "interval_minutes",
    "created_at",
    "next_fetch_time",
    "last_fetch_at",
    "last_success_at",
    "last_change_at",
    "last_cause",
    "last_error",
    "unchanged_since",
    "previous_url",
)
"""Fields of a feed as it is served, besides `feed_id`, `health` and the counts; null when it has none."""

SOURCE_FIELDS: Final = (
    "kind",
    "name",
    "url",
    "enabled",
    "priority",
    "created_at",
    "next_fetch_time",
    "last_fetch_at",
    "last_success_at",
    "last_change_at",
    "last_cause",
    "last_error",
)
"""Fields of a source of any kind as it is served, besides its id, `health` and the counts."""

COUNTS: Final = (
    "consecutive_errors",
    "unchanged_count",
    "fetch_count",
    "last_entries",
    "created_total",
    "merged_total",
    "rate",
    "hint_minutes",
)
"""Counts of a feed as they are served; 0 before there is anything to count."""

FETCH_FIELDS: Final = (
    "fetched_at",
    "verdict",
    "cause",
    "message",
    "http_status",
    "entries",
    "created",
    "merged",
    "updated",
    "rejected",
    "rejections",
    "dropped",
    "warnings",
    "duration_ms",
)
"""Fields of one fetch in a feed's history, besides `due_at`; null when the fetch has none."""

_POSITION_LIMIT: Final = 200
_HOURS_OF_A_WEEK: Final = 168
_ID_LIMIT: Final = 63
_POLLED, _DISABLED = "polled", "disabled"
_PARTITIONS: Final = {_POLLED: keys.DUE_SOURCES, _DISABLED: keys.DISABLED_SOURCES}


@dataclass(frozen=True, slots=True)
class FeedReader:
    """Feeds in the table, as they are served."""

    table: Table

    def get(self, feed_id: str) -> dict[str, Any] | None:
        """Return a feed, or None if there is none with this id."""
        item = self._state(feed_id)
        return public(item) if item else None

    def page(
        self, *, health: str | None = None, limit: int, cursor: str | None = None
    ) -> Page[dict[str, Any]]:
        """Return one page of the feeds: those polled by due time, then the disabled ones by probe time.

        A feed that is polled between two pages moves to its new due time and may be met again there.

        Args:
            health: one of `HEALTHS`, or None for all.
            limit: feeds of a full page.
            cursor: the `next_cursor` of the page before.

        Raises:
            InvalidInput: if the cursor is not one of this list with this filter.
        """
        listing = Listing.of("feeds", {"health": health})
        return self._page(listing, public, (FEED, health), limit, cursor)

    def sources(
        self, *, kind: str | None = None, health: str | None = None, limit: int, cursor: str | None = None
    ) -> Page[dict[str, Any]]:
        """Return one page of the sources of every kind, in the order of `page`.

        Args:
            kind: only sources of this kind.
            health: one of `HEALTHS`, or None for all.
            limit: sources of a full page.
            cursor: the `next_cursor` of the page before.

        Raises:
            InvalidInput: if the cursor is not one of this list with these filters.
        """
        listing = Listing.of("sources", {"kind": kind, "health": health})
        return self._page(listing, public_source, (kind, health), limit, cursor)

    def _page(
        self,
        listing: Listing,
        shown: Callable[[Mapping[str, Any]], dict[str, Any]],
        wanted: tuple[str | None, str | None],
        limit: int,
        cursor: str | None,
    ) -> Page[dict[str, Any]]:
        kind, health = wanted
        names = [_DISABLED] if health == "disabled" else [_POLLED] if health else [_POLLED, _DISABLED]
        after = ""
        if cursor is not None:
            name, after = listing.position(cursor, parts=2)
            if name not in names or len(after) > _POSITION_LIMIT:
                raise bad_cursor(cursor)
            names = names[names.index(name) :]

        def entries(name: str, after: str) -> Iterator[Item]:
            condition: ConditionBase = KeyCondition("GSI1PK").eq(_PARTITIONS[name])
            if after:
                condition = condition & KeyCondition("GSI1SK").gt(after)
            return walk(self.table, condition, index=keys.ELIGIBILITY_INDEX, page_size=limit + 1)

        def load(entries: list[Item]) -> list[dict[str, Any] | None]:
            chosen = [keys.source(entry["source_id"]) for entry in entries if kind in {None, entry["kind"]}]
            states = {item["source_id"]: shown(item) for item in self.table.batch_get(chosen)}
            feeds = [states.get(entry["source_id"]) for entry in entries]
            return [feed if feed and health in {None, feed["health"]} else None for feed in feeds]

        return fill_page(
            chain(entries(names[0], after), *(entries(name, "") for name in names[1:])),
            listing=listing,
            position=lambda entry: (
                _POLLED if entry["GSI1PK"] == keys.DUE_SOURCES else _DISABLED,
                entry["GSI1SK"],
            ),
            load=load,
            limit=limit,
        )

    def history(self, feed_id: str, *, limit: int, cursor: str | None = None) -> Page[dict[str, Any]] | None:
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
            walk(self.table, fetches, newest_first=True, start=start, page_size=limit + 1),
            listing=listing,
            position=lambda item: (_due_at(item),),
            load=lambda items: [_fetch(item) for item in items],
            limit=limit,
        )

    def _state(self, feed_id: str) -> Item | None:
        if not feed_id or len(feed_id) > _ID_LIMIT:
            return None
        item = self.table.get(keys.source(feed_id))
        return item if item and item["kind"] == FEED else None


def health_of(state: Mapping[str, Any]) -> str:
    """Return how a source is doing; the same rule as `Source.health`."""
    if not state.get("enabled", True):
        return "disabled"
    if state.get("consecutive_errors"):
        return "failing"
    return "healthy" if state.get("last_success_at") else "new"


def public(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a feed as it is served, given its STATE item."""
    known = {name: state.get(name) for name in PUBLIC_FIELDS} | {name: state.get(name, 0) for name in COUNTS}
    known["name"] = shown_name(state)
    articles = state.get("created_total", 0) + state.get("merged_total", 0)
    known["avg_articles_per_fetch"] = articles_per_fetch(articles, state.get("fetch_count", 0))
    known["publications_by_hour"] = publications_by_hour(state.get("histogram"))
    return {"feed_id": state["source_id"], "health": health_of(state)} | known


def public_source(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a source of any kind as it is served, given its STATE item."""
    return {
        "source_id": state["source_id"],
        "health": health_of(state),
        **{name: state.get(name) for name in SOURCE_FIELDS},
        "name": shown_name(state),
        "consecutive_errors": state.get("consecutive_errors", 0),
        "fetch_count": state.get("fetch_count", 0),
        "articles": state.get("created_total", 0) + state.get("merged_total", 0),
    }


def shown_name(state: Mapping[str, Any]) -> str | None:
    """Return the name that a source was given, else what it calls itself; None without either."""
    return state.get("name") or state.get("title") or None


def articles_per_fetch(articles: int, fetches: int) -> float:
    """Return how many articles a fetch has brought on average, to two decimals; 0 before the first fetch."""
    return round(articles / fetches, 2) if fetches else 0.0


def publications_by_hour(histogram: bytes | None) -> list[int]:
    """Return how many entries were published in each hour of the day (UTC), 24 numbers.

    Older entries weigh less, so it is the proportion of the numbers that says something.
    """
    counts = bytes(histogram or b"")
    if len(counts) != _HOURS_OF_A_WEEK:
        counts = bytes(_HOURS_OF_A_WEEK)
    return [sum(counts[hour::24]) for hour in range(24)]


def _fetch(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"due_at": _due_at(item)} | {name: item.get(name) for name in FETCH_FIELDS}


def _due_at(item: Mapping[str, Any]) -> str:
    return str(item["SK"]).removeprefix(keys.FETCH_PREFIX)
