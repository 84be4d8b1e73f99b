"""What people have decided of the articles that newcomers are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.articles.grouping.groups import WINDOW, Entry, Window
from sourcebook.articles.grouping.log import GroupingLog
from sourcebook.articles.redirects import MOST_REDIRECTS
from sourcebook.records.decision import Decision, DecisionAction, id_begins
from sourcebook.table import keys
from sourcebook.table.client import Table


def recent_decisions(table: Table, now: datetime) -> list[Decision]:
    """Return what people have decided in the last days, the oldest first."""
    since = keys.decision(id_begins(now - 2 * WINDOW))["SK"]
    rows = table.query_all(
        KeyCondition("PK").eq(keys.DECISIONS) & KeyCondition("SK").gte(since), consistent=True
    )
    return [Decision.of_item(row) for row in rows]


def window_of(log: GroupingLog, decisions: Sequence[Decision]) -> Window:
    """Return the window of a log as people have decided of its articles.

    What stands on articles and events is respected in any case. Besides, newcomers are not compared with what
    a person has taken out. A decision that was taken back is forgotten by reading the log again.
    """
    undone = frozenset(one.decision_id for one in decisions if one.undone_by)
    window = log.window()
    if undone - window.undone:
        log.forget()
        window = log.window()
    window.undone = undone
    window.merged = {}
    for one in decisions:
        if one.decision_id in undone:
            continue
        if one.action is DecisionAction.MERGE_EVENTS:
            window.merged[one.about[1]] = one.about[0]
        elif one.action is DecisionAction.TAKE_OUT:
            window.leave(one.about[0])
        elif one.action is DecisionAction.JOIN_ARTICLES:
            window.leave(one.about[1])
    return window


def as_merged(events: Mapping[str, list[Entry]], window: Window) -> dict[str, list[Entry]]:
    """Return the members to write by event, those of a merged event by the one that answers for it."""
    found: dict[str, list[Entry]] = {}
    for event_id, entries in events.items():
        place = event_id
        for _ in range(MOST_REDIRECTS):
            place = window.merged.get(place, place)
        found.setdefault(place, []).extend(entries)
    return found
