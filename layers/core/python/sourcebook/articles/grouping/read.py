"""Reading events: a list of them, newest first, or one with its articles and ideas.

Nothing here needs pydantic, for the sake of the API's cold start.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.articles.redirects import MOST_REDIRECTS
from sourcebook.records.article import Article
from sourcebook.records.base import View
from sourcebook.records.event import ACTIVE, Event, EventMember, Idea
from sourcebook.schema import DIGEST
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, Position, bad_cursor, fill_page, walk

IDEAS_SHOWN: Final = 50

_ID: Final = re.compile(DIGEST, re.ASCII)
_TIME_LIMIT: Final = 40


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

    def get(self, event_id: str, *, redirects: int = MOST_REDIRECTS) -> EventWithArticles | None:
        """Return an event with its members, oldest first, and its ideas, newest first, or None.

        Of one that a person has merged into another, the other.
        """
        if not _ID.fullmatch(event_id):
            return None
        items = list(self.table.query_all(KeyCondition("PK").eq(keys.event(event_id)["PK"])))
        found = next((item for item in items if item["SK"] == keys.EVENT_SORT_KEY), None)
        if found is None:
            return None
        event = Event.of_item(found)
        if event.merged_into and redirects:
            return self.get(event.merged_into, redirects=redirects - 1)
        members = [EventMember.of_item(item) for item in items if item["SK"].startswith(keys.MEMBER_PREFIX)]
        members = [member for member in members if member.dedup_key not in event.taken_out]
        ideas = [Idea.of_item(item) for item in items if item["SK"].startswith(keys.IDEA_PREFIX)]
        articles = self.table.batch_get(keys.article(member.dedup_key) for member in members)
        return EventWithArticles(
            event,
            sorted(members, key=lambda one: (one.published_at, one.dedup_key)),
            ideas[: -IDEAS_SHOWN - 1 : -1],
            {article.dedup_key: article for article in map(Article.of_item, articles)},
        )

    def _load(self, entries: list[Item]) -> list[Event | None]:
        wanted = [keys.Key(PK=entry["PK"], SK=entry["SK"]) for entry in entries]
        found = {item["PK"]: item for item in self.table.batch_get(wanted)}
        return [Event.of_item(found[entry["PK"]]) if entry["PK"] in found else None for entry in entries]


@dataclass(frozen=True, slots=True)
class EventWithArticles:
    """An event with all that belongs to it.

    Attributes:
        articles: those of its members, by dedup key, that have not expired.
    """

    event: Event
    members: Sequence[EventMember]
    ideas: Sequence[Idea]
    articles: Mapping[str, Article]

    def shown(self) -> View:
        """Return what the API shows of it."""
        return self.event.shown() | {
            "members": [member.shown() | self._now(member.dedup_key) for member in self.members],
            "ideas": [idea.shown() for idea in self.ideas],
        }

    def _now(self, dedup_key: str) -> View:
        """Return what the API shows of a member's article, besides the member; null once it has expired."""
        article = self.articles.get(dedup_key)
        return {
            "sources": list(article.sources) if article else None,
            "sentiment": article.sentiment if article else None,
            "score": article.score if article else None,
        }


def _position(entry: Item) -> Position:
    return (entry["timestamp"], entry["PK"])
