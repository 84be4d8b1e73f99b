"""Reading events: a list of them, newest first, or one with its articles and ideas.

Nothing here needs pydantic, for the sake of the API's cold start.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sourcebook.articles.redirects import MOST_REDIRECTS
from sourcebook.records.article import Article
from sourcebook.records.base import View
from sourcebook.records.event import ACTIVE, Event, EventMember, Idea
from sourcebook.schema import DIGEST
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.pages import (
    ListedItem,
    Listing,
    Page,
    Partition,
    fill_page,
    list_newest_first,
    merged_position,
)

IDEAS_SHOWN: Final = 50

_ID: Final = re.compile(DIGEST, re.ASCII)


@dataclass(frozen=True, slots=True)
class EventReader:
    """Events in the table, as they are served."""

    table: Table

    def page(self, *, limit: int, cursor: str | None = None) -> Page[Event]:
        """Return one page of the events, the one with the newest article first.

        An event that grows between two pages moves to the front and may be met again, never missed there.

        Raises:
            InvalidInput: if the cursor is not one of this list.
        """
        listing = Listing.of("events", {})
        partitions = [
            Partition(keys.STATUS_INDEX, "status", value, keys.EVENT_SORT_KEY)
            for value in self.table.shards.read(ACTIVE)
        ]
        after = None
        if cursor is not None:
            names = [one.value for one in partitions] if len(partitions) > 1 else ()
            after = merged_position(listing, cursor, names)
        return fill_page(
            list_newest_first(self.table, partitions, after, page_size=limit + 1),
            listing=listing,
            position=lambda entry: entry.position,
            load=self._load,
            limit=limit,
        )

    def get(self, event_id: str, *, redirects: int = MOST_REDIRECTS) -> EventWithArticles | None:
        """Return an event with its members, oldest first, and its ideas, newest first, or None.

        Of one that a person has merged into another, the other.
        """
        if not _ID.fullmatch(event_id):
            return None
        items = list(self.table.items_of(keys.event(event_id)["PK"]))
        found = next((item for item in items if item["SK"] == keys.EVENT_SORT_KEY), None)
        if found is None:
            return None
        event = Event.of_item(found)
        if event.merged_into and redirects:
            return self.get(event.merged_into, redirects=redirects - 1)
        ideas = [Idea.of_item(item) for item in items if item["SK"].startswith(keys.IDEA_PREFIX)]
        articles = map(Article.of_item, self.table.batch_get(map(keys.article, event.members)))
        members = sorted(map(EventMember.of, articles), key=lambda one: (one.published_at, one.dedup_key))
        return EventWithArticles(event, members, ideas[: -IDEAS_SHOWN - 1 : -1])

    def _load(self, entries: list[ListedItem]) -> list[Event | None]:
        wanted = [keys.Key(PK=entry.item["PK"], SK=entry.item["SK"]) for entry in entries if not entry.given]
        found = {item["PK"]: item for item in self.table.batch_get(wanted)}
        items = [None if entry.given else found.get(entry.item["PK"]) for entry in entries]
        return [None if item is None else Event.of_item(item) for item in items]


@dataclass(frozen=True, slots=True)
class EventWithArticles:
    """An event with its articles that have not expired, and its newest ideas."""

    event: Event
    members: Sequence[EventMember]
    ideas: Sequence[Idea]

    def shown(self) -> View:
        """Return what the API shows of it."""
        return self.event.shown() | {
            "members": [member.shown() for member in self.members],
            "ideas": [idea.shown() for idea in self.ideas],
        }
