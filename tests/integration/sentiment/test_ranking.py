"""Subjects ranked by mentions and by change, counted from the mentions that were put there."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sourcebook.records.subject import Subject
from sourcebook.sentiment import ranking
from sourcebook.sentiment.ranking import SubjectRanking
from sourcebook.sentiment.subjects import SubjectRegistry
from tests.integration.sentiment.conftest import World
from tests.integration.sentiment.test_refresh import mention

pytestmark = pytest.mark.integration


def test_subjects_are_ranked_by_mentions_and_by_change(world: World) -> None:
    SubjectRegistry(world.table, world.clock).register([Subject("quiet", "Quiet", "tool")])
    now, number = world.now, 0

    def put(tool_id: str, hours: float, polarity: float) -> None:
        nonlocal number
        number += 1
        mention(world, tool_id, number, now - timedelta(hours=hours), polarity=polarity)

    for hours in (1, 2, 3):
        put("quartzon", hours, 0.5)
    put("quartzon", 30, 0.25)
    put("quartzon", 49, -1.0)  # before both windows
    for hours in (4, 5):
        put("MRBL", hours, -0.5)
    put("MRBL", 25, 0.5)
    put("quiet", 30, 0.5)  # not in the window

    by_mentions = SubjectRanking(world.table, world.clock).rank(24, "mentions")
    assert [(r["tool_id"], r["total_mentions"], r["mentions_before"]) for r in by_mentions["items"]] == [
        ("quartzon", 3, 1),
        ("MRBL", 2, 1),
    ]
    by_change = SubjectRanking(world.table, world.clock).rank(24, "change")
    assert [(r["tool_id"], r["change"]) for r in by_change["items"]] == [("MRBL", -1.0), ("quartzon", 0.25)]
    assert by_change["left_out"] is False
    # Without mentions before there is no change, and the subject stands last.
    two = SubjectRanking(world.table, world.clock).rank(2, "change")
    assert [(r["tool_id"], r["change"]) for r in two["items"]] == [("quartzon", 0.0)]
    one = SubjectRanking(world.table, world.clock).rank(10, "change")
    assert [(r["tool_id"], r["average_before"], r["change"]) for r in one["items"]] == [
        ("MRBL", None, None),
        ("quartzon", None, None),
    ]


def test_a_ranking_says_that_there_are_more_subjects(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "SUBJECTS_AT_MOST", 1)
    mention(world, "MRBL", 1, world.now - timedelta(hours=1))
    found = SubjectRanking(world.table, world.clock).rank(24, "mentions")
    assert (found["left_out"], len(found["items"])) == (True, 1)
