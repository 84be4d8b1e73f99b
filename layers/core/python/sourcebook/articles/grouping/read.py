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
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, Partition, page_newest_first

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
        return page_newest_first(
            self.table, partitions, listing=listing, cursor=cursor, load=self._load, limit=limit
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

    def _load(self, entries: list[Item]) -> list[Event | None]:
        items = self.table.batch_get(map(keys.key_of, entries))
        found = {item["PK"]: Event.of_item(item) for item in items}
        return [found.get(entry["PK"]) for entry in entries]


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
