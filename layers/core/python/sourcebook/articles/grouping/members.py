"""What follows for an event from its members: its headline, its tickers, its times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sourcebook.articles.grouping.groups import Entry
from sourcebook.clock import epoch_seconds, parse_iso
from sourcebook.records.article import RETENTION
from sourcebook.records.event import ACTIVE, DISSOLVED, Event

_TICKERS_KEPT: Final = 20
"""Ticker symbols of one event."""


def new_event(event_id: str, now: str) -> Event:
    """Return an event that has no members yet."""
    return Event(
        event_id=event_id,
        headline="",
        tickers=(),
        member_count=0,
        members=(),
        first_member="",
        first_published_at="",
        created_at=now,
        updated_at=now,
        timestamp="",
        ttl_timestamp=0,
    )


def with_members(event: Event, added: Sequence[Entry]) -> Event:
    """Return an event with these members too, in whatever order and however often they come."""
    if not added:
        return event
    first = min(added, key=lambda one: one.place)
    members = tuple(sorted({*event.members, *(one.dedup_key for one in added)}))
    tickers = sorted({*event.tickers, *(ticker for one in added for ticker in one.tickers)})
    timestamp = max(event.timestamp, *(one.timestamp for one in added))
    after = replace(
        event,
        members=members,
        member_count=len(members),
        status=ACTIVE if len(members) > 1 else event.status,
        tickers=tuple(tickers[:_TICKERS_KEPT]),
        timestamp=timestamp,
        ttl_timestamp=epoch_seconds(parse_iso(timestamp) + RETENTION),
    )
    if event.members and first.place >= (event.first_published_at, event.first_member):
        return after
    return replace(
        after, first_published_at=first.timestamp, first_member=first.dedup_key, headline=first.headline
    )


def of_members(event: Event, members: Sequence[Entry]) -> Event:
    """Return an event of these members and no others; one of fewer than two is dissolved."""
    without = replace(event, members=(), member_count=0, status=DISSOLVED)
    return with_members(replace(without, tickers=(), timestamp=""), members) if members else without
