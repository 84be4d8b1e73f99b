"""A person joins articles and splits them, while sources go on telling their stories."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from sourcebook.articles.decisions.articles import ArticleDecisions
from sourcebook.articles.heal import Healer
from sourcebook.articles.ingest import Outcome
from sourcebook.articles.read import ArticleFilter, ArticleReader
from sourcebook.errors import DoesNotFit, NotThere
from sourcebook.records.article import Status
from sourcebook.records.decision import DecisionAction
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.incoming import NOON, incoming
from tests.integration.articles.decisions.world import World, world, wrong
from tests.integration.articles.grouping.test_flow import EDITED, ELSEWHERE, STORY
from tests.moto_table import Dying, DyingTable, MotoTable

__all__ = ["world"]


def shown(world: World) -> list[str]:
    """Return the dedup keys of all articles that are listed."""
    page = ArticleReader(world.table).page(ArticleFilter(), limit=50)
    return [article.shown()["dedup_key"] for article in page.items]


def two(world: World) -> tuple[str, str]:
    """Return an article of two sources, and another of one."""
    one = world.take_in(STORY, source="wire", tickers=["ORBQ"])
    world.poll("review", "r1", 2, headline=STORY)
    world.announce([one])
    other = world.take_in(EDITED, source="ledger", crawled_minute=5, tickers=["MOON"])
    return one, other


def test_a_joined_article_leads_to_the_one_that_has_all_words(world: World) -> None:
    one, other = two(world)
    decision = world.articles().join(one, other, world.by())
    article = world.read(one)
    assert article.sources == ("wire", "review", "ledger")
    assert article.headline == STORY
    assert article.status is Status.ANALYZED
    assert {"MOON", "ORBQ"} <= {*article.tags} & world.mentions(one)
    assert not world.mentions(other)
    assert shown(world) == [one]
    for key in (other, f"dedup:{other}", f"ledger:{EDITED}"):
        found = ArticleReader(world.table).get(key)
        assert found is not None
        assert found.shown()["dedup_key"] == one
    assert decision.shown() == {
        "decision_id": decision.decision_id,
        "action": "join_articles",
        "about": [one, other],
        "source": None,
        "reason": "They are one.",
        "decided_by": "Ada",
        "caller": "token:1",
        "decided_at": "2026-11-27T13:00:00.000Z",
        "undoes": None,
        "undone_by": None,
    }


def test_what_a_source_says_later_goes_to_the_joined_article(world: World) -> None:
    one, other = two(world)
    world.articles().join(one, other, world.by())
    assert world.poll("ledger", EDITED, 9, headline=f"{EDITED}!") == one
    assert world.read(one).source_attribution["ledger"].original_headline == f"{EDITED}!"
    # Another source tells the other story for the first time.
    assert world.poll("late", "l1", 10, headline=EDITED) == one
    assert world.poll("late", "l1", 11, headline=EDITED) == one
    assert world.read(one).sources == ("wire", "review", "ledger", "late")
    assert world.read(other).joined_into == one


def test_joining_again_changes_nothing(world: World) -> None:
    one, other = two(world)
    first = world.articles().join(one, other, world.by())
    before = world.article(one), world.article(other)
    assert world.articles().join(one, other, world.by()) == first
    assert (world.article(one), world.article(other)) == before
    assert len(world.decisions.page(about=one, limit=5).items) == 1


def test_a_join_that_is_taken_back_leaves_both_as_they_were_with_what_came_since(world: World) -> None:
    one, other = two(world)
    before, other_before = world.read(one), world.read(other)
    decision = world.articles().join(one, other, world.by())
    world.poll("late", "l1", 10, headline=EDITED)
    world.poll("early", "e1", 11, headline=STORY)
    world.announce([one])
    undone = world.articles().undo(decision, world.by("They are two."))
    assert (undone.action, undone.undoes) == (DecisionAction.UNDO, decision.decision_id)
    article, back = world.read(one), world.read(other)
    assert article.sources == ("wire", "review", "early")
    assert back.sources == ("ledger", "late")
    for now, then in ((article, before), (back, other_before)):
        assert now.status is Status.ANALYZED
        for name in ("headline", "timestamp", "tags", "text_for_analysis", "sentiment", "ttl_timestamp"):
            assert getattr(now, name) == getattr(then, name), name
        assert world.mentions(now.dedup_key) == {*now.all_tags}
    assert world.poll("ledger", EDITED, 12, headline=EDITED) == other
    assert {*shown(world)} == {one, other}
    standing = world.decisions.get(decision.decision_id)
    assert standing is not None
    assert standing.undone_by == undone.decision_id


def test_one_source_that_reported_both_has_both_again_when_they_are_separated(world: World) -> None:
    one = world.take_in(STORY, source="wire", article_id="1")
    other = world.take_in(EDITED, source="wire", article_id="2", crawled_minute=3)
    decision = world.articles().join(one, other, world.by())
    assert world.read(one).source_attribution["wire"].article_id == "1"
    world.articles().undo(decision, world.by())
    assert world.read(one).source_attribution["wire"].original_headline == STORY
    assert world.read(other).source_attribution["wire"].original_headline == EDITED


def test_a_source_that_is_split_off_keeps_its_own_article(world: World) -> None:
    one, _ = two(world)
    decision = world.articles().split(one, "review", world.by("Another company."))
    own = decision.about[1]
    assert world.read(one).sources == ("wire",)
    assert world.read(own).sources == ("review",)
    assert world.read(own).status is Status.ANALYZED
    assert world.mentions(own) == {*world.read(own).all_tags}
    # The same entry, edited, under another id, and once more.
    assert world.poll("review", "r1", 20, headline=f"{STORY} ") == own
    assert world.poll("review", "r2", 21, headline=STORY) == own
    assert world.poll("wire", STORY, 22, headline=STORY) == one
    assert world.poll("later", "x", 23, headline=STORY) == one
    assert "review" not in world.read(one).sources
    found = ArticleReader(world.table).get("review:r1")
    assert found is not None
    assert found.shown()["dedup_key"] == own


def test_a_split_that_is_taken_back_is_one_article_again_and_may_be_split_again(world: World) -> None:
    one, _ = two(world)
    decision = world.articles().split(one, "review", world.by())
    own = decision.about[1]
    world.articles().undo(decision, world.by())
    assert world.read(one).sources == ("wire", "review")
    assert world.poll("review", "r1", 20, headline=STORY) == one
    assert shown(world).count(one) == 1
    assert own not in shown(world)
    again = world.articles().split(one, "review", world.by())
    assert again.about == (one, own)
    assert world.poll("review", "r1", 21, headline=f"{STORY}!") == own
    assert world.read(own).joined_into is None


def test_the_first_source_may_be_split_off(world: World) -> None:
    one, _ = two(world)
    own = world.articles().split(one, "wire", world.by()).about[1]
    assert world.read(one).sources == ("review",)
    assert world.read(own).headline == STORY
    assert world.poll("wire", STORY, 20, headline=f"{STORY}!") == own


def test_decisions_that_do_not_fit_are_refused(world: World) -> None:
    one, other = two(world)
    third = world.take_in(ELSEWHERE)
    people = world.articles()
    refused: list[tuple[Callable[[], Any], type[DoesNotFit | NotThere]]] = [
        (lambda: people.join(one, one, world.by()), DoesNotFit),
        (lambda: people.join(one, "0" * 32, world.by()), NotThere),
        (lambda: people.split(other, "ledger", world.by()), DoesNotFit),
        (lambda: people.split(one, "nobody", world.by()), DoesNotFit),
    ]
    for decide, error in refused:
        with pytest.raises(error):
            decide()
    decision = people.join(one, other, world.by())
    with pytest.raises(DoesNotFit, match="joined to"):
        people.join(third, other, world.by())
    with pytest.raises(DoesNotFit, match="joined to"):
        people.join(other, third, world.by())
    people.join(third, one, world.by())
    with pytest.raises(DoesNotFit):
        people.undo(decision, world.by())
    assert world.poll("ledger", EDITED, 9, headline=f"{EDITED}!") == third


def test_what_was_split_off_may_be_joined_by_another_way_without_a_circle(world: World) -> None:
    one, other = two(world)
    people = world.articles()
    own = people.split(one, "review", world.by()).about[1]
    people.join(other, own, world.by())
    people.join(one, other, world.by())
    assert world.poll("review", "r1", 30, headline=f"{STORY}!") == one
    assert {*world.read(one).sources} == {"wire", "review", "ledger"}


def test_a_joined_article_outlives_nothing(world: World) -> None:
    one, other = two(world)
    world.articles().join(one, other, world.by())
    assert world.read(other).ttl_timestamp == world.read(one).ttl_timestamp
    world.table.delete(keys.article(one))
    assert world.poll("ledger", EDITED, 9, headline=EDITED) == one
    assert world.read(one).sources == ("ledger",)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("action", ["join", "split", "undo"])
def test_a_process_that_dies_at_any_write_is_completed_by_asking_again(
    world: World, action: str, after: bool
) -> None:
    one, other = two(world)
    joined = world.articles().join(one, other, world.by()) if action == "undo" else None

    def decide(people: ArticleDecisions) -> Any:
        if joined:
            return people.undo(joined, world.by())
        if action == "join":
            return people.join(one, other, world.by())
        return people.split(one, "review", world.by())

    try:
        decide(world.articles(DyingTable(world.table, 0, after=after), announce=False))
    except Dying:
        try:
            decide(world.articles())
        except DoesNotFit:
            assert joined, "what was taken back stands no more"
    # What was not announced is, within an hour: healing finds what is pending.
    world.now += timedelta(hours=2)
    world.announce(Healer(world.table, None, lambda: world.now)._forgotten())  # type: ignore[arg-type]
    world.announce([one, other])
    assert len(world.decisions.page(about=one, limit=9).items) == (2 if joined else 1)
    assert wrong(world) == []


class Interleaved(MotoTable):
    """A table on which a source is polled right before the first transaction."""

    def __init__(self, table: Table, happens: Any) -> None:
        super().__init__(table.name, table.client, shards=table.shards)
        self.happens = iter([happens])

    def transact(self, *args: Any, **kwargs: Any) -> None:
        if happens := next(self.happens, None):
            happens()
        super().transact(*args, **kwargs)


def test_a_poll_at_the_same_moment_loses_no_word(world: World) -> None:
    one, other = two(world)
    busy = Interleaved(world.table, lambda: world.poll("late", "l1", 10, headline=EDITED))
    world.articles(busy).join(one, other, world.by())
    assert world.read(one).sources == ("wire", "review", "ledger", "late")
    busy = Interleaved(world.table, lambda: world.poll("fast", "f1", 11, headline=STORY))
    own = world.articles(busy).split(one, "review", world.by()).about[1]
    assert world.read(one).sources == ("wire", "ledger", "late", "fast")
    assert world.read(own).sources == ("review",)


class JoinedMeanwhile(MotoTable):
    """A table on which a person decides between a poll's reading and its merge."""

    happens: Any = None

    def update_many(self, changes: Any) -> Any:
        happens, self.happens = self.happens, None
        if happens:
            happens()
        return super().update_many(changes)


def test_a_decision_in_the_middle_of_a_poll_is_followed(world: World) -> None:
    one, other = two(world)
    table = JoinedMeanwhile(world.table.name, world.table.client)
    table.happens = lambda: world.articles().join(one, other, world.by())
    stored = type(world.store)(table).store(incoming("late", "l1", 10, headline=EDITED, published_at=NOON))
    assert (stored.outcome, stored.dedup_key, stored.announce) == (Outcome.MERGED, one, False)
    assert "late" in world.read(one).sources
