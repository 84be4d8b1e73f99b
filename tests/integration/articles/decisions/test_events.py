"""A person takes articles out of events and merges events, while grouping goes on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from sourcebook.articles.decisions.events import EventDecisions
from sourcebook.articles.decisions.undo import undo
from sourcebook.errors import DoesNotFit, NotThere
from sourcebook.records.decision import Decision
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.integration.articles.decisions.world import World, world, wrong
from tests.integration.articles.grouping.test_flow import EDITED, ELSEWHERE, STORY
from tests.moto_table import Dying, DyingTable, WatchedTable

__all__ = ["world"]

ABROAD = "Globex closes its Riga brewery after a century, 300 jobs go"


def event_of(world: World, *articles: str) -> str:
    (event_id,) = {world.article(key)["event_id"] for key in articles}
    return str(event_id)


def grouped(world: World) -> tuple[str, list[str]]:
    """Return an event and its three articles."""
    stored = [
        world.take_in(STORY, source="wire", tickers=["ORBQ"]),
        world.take_in(EDITED, source="ledger", crawled_minute=1),
        world.take_in(f"{STORY} on Tuesday", source="review", crawled_minute=2),
    ]
    world.grouper().run("run-1")
    return event_of(world, *stored), stored


def two_events(world: World) -> tuple[str, str, list[str], list[str]]:
    into, ours = grouped(world)
    theirs = [
        world.take_in(ELSEWHERE, source="wire"),
        world.take_in(ABROAD, source="ledger", crawled_minute=3),
    ]
    world.grouper().run("run-2")
    return into, event_of(world, *theirs), ours, theirs


def members(world: World, event_id: str) -> set[str]:
    shown = world.shown(event_id)
    found = {member["dedup_key"] for member in shown["members"]}
    assert shown["member_count"] == len(found)
    return found


def listed(world: World) -> set[str]:
    return {event.event_id for event in world.reader.page(limit=9).items}


def take_back(world: World, decision: Decision) -> Decision:
    people = world.people()
    return undo(decision.decision_id, world.by("After all."), world.articles(), people, world.decisions)


def test_what_is_taken_out_stays_out(world: World) -> None:
    event_id, (one, two, three) = grouped(world)
    warm = world.grouper()
    warm.run("run-2")
    decision = world.people().take_out(two, world.by("Another lander."))
    assert decision.about == (two, event_id)
    assert members(world, event_id) == {one, three}
    assert "event_id" not in world.article(two)
    # It is analyzed again, at once and after the window; another tells it once more.
    for later in (timedelta(minutes=1), timedelta(days=4)):
        world.now += later
        world.table.update(keys.article(two), assign={"status": "pending"}, increment={"revision": 1})
        world.analyzer.analyze([two])
        for grouper in (warm, world.grouper()):
            grouper.run("run-3")
        assert "event_id" not in world.article(two)
        assert world.waiting() == 0
    assert members(world, event_id) == {one, three}


def test_newcomers_are_not_compared_with_what_was_taken_out(world: World) -> None:
    key = world.take_in(STORY, source="wire")
    other = world.take_in(EDITED, source="ledger")
    world.grouper().run("run-1")
    event_id = event_of(world, key, other)
    world.people().take_out(key, world.by())
    assert listed(world) == set(), "one article is no event"
    late = world.take_in(f"{STORY} on Tuesday", source="review", crawled_minute=9)
    world.grouper().run("run-2")
    assert event_of(world, other, late) == event_id
    assert members(world, event_id) == {other, late}
    assert listed(world) == {event_id}


def test_a_take_out_is_taken_back(world: World) -> None:
    event_id, (one, two, three) = grouped(world)
    before = world.shown(event_id)
    decision = world.people().take_out(one, world.by())
    assert world.shown(event_id)["headline"] == EDITED
    assert world.people().take_out(one, world.by()) == decision
    undone = take_back(world, decision)
    assert take_back(world, decision) == undone
    after = world.shown(event_id)
    for name in ("headline", "member_count", "members", "first_published_at", "last_published_at", "tickers"):
        assert after[name] == before[name], name
    assert event_of(world, one, two, three) == event_id
    late = world.take_in(f"{STORY} in Sweden", source="late", crawled_minute=9)
    world.grouper().run("run-2")
    assert event_of(world, late) == event_id


def test_merged_events_are_one_for_readers_and_newcomers(world: World) -> None:
    into, other, ours, theirs = two_events(world)
    warm = world.grouper()
    warm.run("run-3")
    decision = world.people().merge(into, other, world.by("One bankruptcy."))
    assert world.people().merge(into, other, world.by()) == decision
    assert members(world, into) == members(world, other) == {*ours, *theirs}
    assert event_of(world, *ours, *theirs) == into
    assert listed(world) == {into}
    late = world.take_in(f"{ELSEWHERE} of brewing", source="late", crawled_minute=9)
    warm.run("run-4")
    assert event_of(world, late) == into
    assert members(world, into) == {*ours, *theirs, late}


def test_a_merge_is_taken_back_and_what_came_since_stays_with_the_event_that_took_it(world: World) -> None:
    into, other, ours, theirs = two_events(world)
    before = world.shown(other)
    decision = world.people().merge(into, other, world.by())
    late = world.take_in(f"{STORY} in Sweden", source="late", crawled_minute=9)
    world.grouper().run("run-4")
    take_back(world, decision)
    assert members(world, into) == {*ours, late}
    assert members(world, other) == {*theirs}
    assert event_of(world, *theirs) == other
    assert listed(world) == {into, other}
    for name in ("headline", "first_published_at", "last_published_at", "tickers"):
        assert world.shown(other)[name] == before[name], name


def test_a_joined_article_leaves_its_event_and_comes_back(world: World) -> None:
    event_id, (one, two, three) = grouped(world)
    decision = world.articles().join(one, two, world.by())
    assert members(world, event_id) == {one, three}
    world.grouper().run("run-2")
    assert world.waiting() == 0
    take_back(world, decision)
    assert members(world, event_id) == {one, two, three}
    assert event_of(world, one, two, three) == event_id
    assert wrong(world) == []


def test_decisions_that_do_not_fit_are_refused(world: World) -> None:
    into, other, _ours, _theirs = two_events(world)
    third = world.take_in("Aster Bank raises its dividend after a strong year", source="wire")
    people = world.people()
    refused: list[tuple[Callable[[], Any], type[DoesNotFit | NotThere]]] = [
        (lambda: people.take_out(third, world.by()), DoesNotFit),
        (lambda: people.take_out("0" * 32, world.by()), NotThere),
        (lambda: people.merge(into, into, world.by()), DoesNotFit),
        (lambda: people.merge(into, "0" * 32, world.by()), NotThere),
        (
            lambda: undo(
                "20261127T130000000Z-00000000", world.by(), world.articles(), people, world.decisions
            ),
            NotThere,
        ),
    ]
    for decide, error in refused:
        with pytest.raises(error):
            decide()
    decision = people.merge(into, other, world.by())
    undone = take_back(world, decision)
    with pytest.raises(DoesNotFit):
        take_back(world, undone)


# One transaction; a merge also has the members, each article, and, taken back, the deletion of members.
@pytest.mark.parametrize(
    ("action", "writes", "after"),
    [("take_out", 0, False), ("take_out", 0, True)]
    + [(action, writes, False) for action in ("merge", "part") for writes in range(4)],
)
def test_a_process_that_dies_at_any_write_is_completed_by_asking_again(
    world: World, action: str, writes: int, after: bool
) -> None:
    into, other, ours, theirs = two_events(world)
    merged = world.people().merge(into, other, world.by()) if action == "part" else None

    def decide(people: EventDecisions) -> Decision:
        if merged:
            return undo(merged.decision_id, world.by(), world.articles(), people, world.decisions)
        if action == "merge":
            return people.merge(into, other, world.by())
        return people.take_out(ours[0], world.by())

    try:
        decide(world.people(DyingTable(world.table, writes, after=after)))
    except Dying:
        decide(world.people())
    world.grouper().run("run-9")
    assert len(world.decisions.page(about=None, limit=9).items) == (2 if merged else 1)
    expected = {
        "take_out": ({*ours[1:]}, {*theirs}),
        "merge": ({*ours, *theirs}, {*ours, *theirs}),
        "part": ({*ours}, {*theirs}),
    }[action]
    assert (members(world, into), members(world, other)) == expected
    for key in (*ours, *theirs):
        place = world.article(key).get("event_id")
        assert place == (None if key not in members(world, into) | {*theirs} else place)
        assert place is None or key in members(world, place)
    assert wrong(world) == []


# The first write is the decision; then each article follows.
@pytest.mark.parametrize("writes", [1, 2])
@pytest.mark.parametrize("action", ["merge", "part"])
def test_verify_finds_members_that_have_not_followed_and_lets_them_follow(
    world: World, action: str, writes: int
) -> None:
    into, other, ours, theirs = two_events(world)
    merged = world.people().merge(into, other, world.by()) if action == "part" else None
    dying = world.people(DyingTable(world.table, writes))
    with pytest.raises(Dying):
        dying.undo(merged, world.by()) if merged else dying.merge(into, other, world.by())
    assert [line for line in wrong(world, repair=True) if "event" in line or "missing" in line]
    assert wrong(world) == []
    rightful = into if action == "merge" else other
    assert {world.article(key)["event_id"] for key in theirs} == {rightful}
    assert {*theirs} <= members(world, rightful)
    assert {*ours} <= members(world, into)


class Overtaken(WatchedTable):
    """A table on which a person decides right before a run of grouping writes for the n-th time."""

    def __init__(self, table: Table, number: int, happens: Callable[[], object]) -> None:
        super().__init__(table.name, table.client, shards=table.shards)
        self.left, self.happens = number, happens

    def _write(self, write: Callable[[], Any]) -> Any:
        self.left -= 1
        if self.left == -1:
            self.happens()
        return write()


@pytest.mark.parametrize("number", [0, 1, 3, 5])
@pytest.mark.parametrize("action", ["take_out", "merge"])
def test_a_decision_in_the_middle_of_a_run_of_grouping_holds(world: World, action: str, number: int) -> None:
    into, other, ours, theirs = two_events(world)

    def decide() -> None:
        if action == "take_out":
            world.people().take_out(ours[0], world.by())
        else:
            world.people().merge(into, other, world.by())

    late = world.take_in(f"{STORY} in Sweden", source="late", crawled_minute=8)
    later = world.take_in(f"{ELSEWHERE} of brewing", source="late", crawled_minute=9)
    world.grouper(Overtaken(world.table, number, decide)).run("run-3")
    world.grouper().run("run-4")
    if action == "take_out":
        assert members(world, into) == {*ours[1:], late}
        assert "event_id" not in world.article(ours[0])
    else:
        assert members(world, into) == {*ours, *theirs, late, later}
        assert event_of(world, *ours, *theirs, late, later) == into
    assert wrong(world) == []
