"""Reading events: a list of them, newest first, or one with its articles and ideas.

Nothing here needs pydantic, for the sake of the API's cold start.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, Position, bad_cursor, fill_page, walk

ACTIVE: Final = "active"
"""Status of every event; a test holds it against the one that grouping writes."""

PUBLIC_FIELDS: Final = (
    "event_id",
    "headline",
    "tickers",
    "member_count",
    "first_published_at",
    "last_published_at",
    "created_at",
    "updated_at",
    "idea",
)
"""Fields of an event as it is served."""
MEMBER_FIELDS: Final = (
    "dedup_key",
    "headline",
    "published_at",
    "tickers",
    "sources",
    "sentiment",
    "score",
)
"""Fields of a member as it is served; the last three are null once its article has expired."""
IDEA_FIELDS: Final = (
    "time",
    "subjects",
    "direction",
    "score",
    "independent_sources",
    "articles",
    "velocity",
    "why",
)
"""Fields of an idea on its event."""
IDEAS_SHOWN: Final = 50

_ID: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)
_TIME_LIMIT: Final = 40


@dataclass(frozen=True, slots=True)
class EventReader:
    """Events in the table, as they are served."""

    table: Table

    def page(self, *, limit: int, cursor: str | None = None) -> Page[dict[str, Any]]:
        """Return one page of the events, the one with the newest article first.

        An event that grows between two pages moves to the front and may be met again, never missed there.

        Raises:
            InvalidInput: if the cursor is not one of this list.
        """
        listing = Listing.of("events", {})
        start: dict[str, str] | None = None
        if cursor is not None:
            timestamp, partition = listing.position(cursor, parts=2)
            if len(timestamp) > _TIME_LIMIT:
                raise bad_cursor(cursor)
            start = {"status": ACTIVE, "timestamp": timestamp, "PK": partition, "SK": keys.EVENT_SORT_KEY}
        entries = walk(
            self.table,
            KeyCondition("status").eq(ACTIVE),
            index=keys.STATUS_INDEX,
            newest_first=True,
            start=start,
            page_size=limit + 1,
        )
        return fill_page(
            (entry for entry in entries if entry["SK"] == keys.EVENT_SORT_KEY),
            listing=listing,
            position=_position,
            load=self._load,
            limit=limit,
        )

    def get(self, event_id: str) -> dict[str, Any] | None:
        """Return an event with its members, oldest first, and its ideas, newest first, or None."""
        if not _ID.fullmatch(event_id):
            return None
        items = list(self.table.query_all(KeyCondition("PK").eq(keys.event(event_id)["PK"])))
        event = next((item for item in items if item["SK"] == keys.EVENT_SORT_KEY), None)
        if event is None:
            return None
        members = [item for item in items if item["SK"].startswith(keys.MEMBER_PREFIX)]
        ideas = [item for item in items if item["SK"].startswith(keys.IDEA_PREFIX)]
        articles = {
            item["dedup_key"]: item
            for item in self.table.batch_get(keys.article(member["dedup_key"]) for member in members)
        }
        return {
            **public(event),
            "members": [
                _member(member, articles.get(member["dedup_key"], {}))
                for member in sorted(members, key=lambda one: (one["published_at"], one["dedup_key"]))
            ],
            "ideas": [
                {"engine": idea["engine"], **{name: idea.get(name) for name in IDEA_FIELDS}}
                for idea in reversed(ideas[-IDEAS_SHOWN:])
            ],
        }

    def _load(self, entries: list[Item]) -> list[dict[str, Any] | None]:
        wanted = [keys.Key(PK=entry["PK"], SK=entry["SK"]) for entry in entries]
        found = {item["PK"]: item for item in self.table.batch_get(wanted)}
        return [public(found[entry["PK"]]) if entry["PK"] in found else None for entry in entries]


def public(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event as it is served in lists."""
    shown = {name: event.get(name) for name in PUBLIC_FIELDS}
    idea = event.get("idea")
    return shown | {
        "last_published_at": event["timestamp"],
        "idea": {name: idea.get(name) for name in IDEA_FIELDS} if idea else None,
    }


def _member(member: Mapping[str, Any], article: Mapping[str, Any]) -> dict[str, Any]:
    shown = {name: member.get(name) for name in ("dedup_key", "headline", "published_at")}
    now = {name: article.get(name) for name in ("sources", "sentiment", "score")}
    return shown | {"tickers": member.get("tickers") or []} | now


def _position(entry: Item) -> Position:
    return (entry["timestamp"], entry["PK"])
