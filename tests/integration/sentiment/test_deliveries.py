"""Whatever order, repetition, crash or race the deliveries come in, the counts are those of the mentions."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from boto3.dynamodb.conditions import Key
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sourcebook.records.article import is_analyzed
from sourcebook.sentiment.rollups import SETTLE, Counts, DirtyHours, HourCounts
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.incoming import NOON, incoming
from tests.integration.sentiment.conftest import StaggeredTable, World

STORIES = (
    "Quartzon editor delights developers with a wonderful release",
    "Marbleton fined in terrible fraud case",
    "Quartzon and Marbleton agree on terms",
)
# The same stories from several sources: earlier and later, with other tickers and texts.
WORDS = [
    incoming(
        source,
        article_id=str(story),
        headline=headline,
        published_at=NOON - timedelta(hours=11 * story, minutes=30 * lag, seconds=17),
        crawled_minute=crawled,
        tickers=tickers,
        text=text,
    )
    for story, headline in enumerate(STORIES)
    for source, lag, crawled, tickers, text in (
        ("tiingo", 0, 5, (), ""),
        ("finnhub", 1, 2, ("MRBL",), ""),
        ("wire", 3, 9, (), "Quartzon was praised as great and reliable."),
    )
]


class Crash(Exception):
    """The function is gone."""


def crash() -> None:
    raise Crash


reports = st.tuples(st.just("report"), st.integers(0, len(WORDS) - 1))
works = st.sampled_from([("analyze",), ("refresh",)])
waits = st.tuples(st.just("wait"), st.sampled_from([1, 6, 11]))
simple = st.one_of(reports, reports, works, waits)
disturbed = st.tuples(
    st.sampled_from(["analyze while", "refresh while"]),
    st.integers(1, 9),
    st.lists(st.one_of(reports, works), max_size=3),
)
crashing = st.tuples(st.sampled_from(["analyze crashing", "refresh crashing"]), st.integers(1, 9))


def play(world: World, step: tuple[Any, ...]) -> None:
    kind, *rest = step
    match kind:
        case "report":
            world.report(WORDS[rest[0]])
        case "wait":
            world.wait(minutes=rest[0])
        case "analyze" | "refresh":
            getattr(world, kind)()
        case "analyze while" | "refresh while":
            at_write, others = rest

            def meanwhile() -> None:
                for other in others:
                    play(world, other)

            staggered = StaggeredTable(world.table, at_write, meanwhile)
            getattr(world, kind.split()[0])(staggered)
        case "analyze crashing" | "refresh crashing":
            with suppress(Crash):
                getattr(world, kind.split()[0])(StaggeredTable(world.table, rest[0], crash))


def settle(world: World) -> None:
    world.analyze()
    world.refresh()
    world.wait(minutes=SETTLE.total_seconds() / 60 + 1)
    world.refresh()


def mentions(world: World) -> set[tuple[Any, ...]]:
    return {
        (m["PK"], m["tag"], m["timestamp"], m["label"], m["polarity"])
        for tag in ("quartzon", "MRBL")
        for m in world.mentions(tag)
    }


@settings(
    max_examples=int(os.environ.get("SOURCEBOOK_EXAMPLES", "3")),
    deadline=None,
    # Shrinking would repeat a course of events for minutes.
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(st.one_of(simple, disturbed, crashing), min_size=3, max_size=8))
def test_any_course_of_events_ends_in_the_counts_of_the_plain_one(
    new_table: Callable[[], Table], steps: list[tuple[Any, ...]]
) -> None:
    world = World(new_table())
    for step in steps:
        play(world, step)
    settle(world)
    world.check_cache()
    check_rollups(world)
    assert not marks(world)

    plain = World(new_table())
    for report in (w for w in WORDS if w in world.reported):
        plain.report(report)
    settle(plain)
    assert mentions(world) == mentions(plain)


def check_rollups(world: World) -> None:
    for tool_id in ("quartzon", "MRBL"):
        by_hour: dict[str, list[Any]] = {}
        for mention in world.mentions(tool_id):
            by_hour.setdefault(mention["timestamp"][:13], []).append(mention)
        stored = {
            item["SK"].removeprefix("HOUR#"): HourCounts.read(item["minutes"]).total
            for item in rows(world, tool_id, keys.HOUR_PREFIX)
        }
        assert {h: c for h, c in stored.items() if c.total} == {h: Counts.of(m) for h, m in by_hour.items()}
        for day in rows(world, tool_id, keys.DAY_PREFIX):
            name = day["SK"].removeprefix("DAY#")
            assert day["total_mentions"] == sum(len(m) for hour, m in by_hour.items() if hour[:10] == name)


def rows(world: World, tool_id: str, prefix: str) -> list[dict[str, Any]]:
    return list(
        world.table.query_all(
            Key("PK").eq(keys.subject(tool_id)["PK"]) & Key("SK").begins_with(prefix), consistent=True
        )
    )


def marks(world: World) -> list[dict[str, Any]]:
    return rows(world, "quartzon", keys.DIRTY_PREFIX) + rows(world, "MRBL", keys.DIRTY_PREFIX)


def test_a_mark_that_is_made_while_an_hour_is_counted_is_not_lost(world: World) -> None:
    world.report(WORDS[0])
    world.analyze()
    world.wait(minutes=11)

    def another_delivery() -> None:
        world.report(WORDS[6])
        world.analyze()

    # Its first write comes after it has counted, so this count misses what is told now.
    world.refresh(StaggeredTable(world.table, 1, another_delivery))
    world.wait(minutes=15)
    world.refresh()
    world.check_cache()


def test_a_mention_that_moves_to_another_hour_leaves_the_first(world: World) -> None:
    first_reported, first_published = WORDS[2], WORDS[0]
    world.report(first_reported)
    settle(world)
    [before] = world.mentions("quartzon")
    world.report(first_published)
    settle(world)
    [after] = world.mentions("quartzon")
    assert before["timestamp"][:13] != after["timestamp"][:13]
    world.check_cache()
    check_rollups(world)


def test_an_article_that_another_source_brings_without_news_is_not_analyzed_again(world: World) -> None:
    world.report(WORDS[1])
    world.analyze()
    before = world.everything()
    world.report(
        incoming("late", "9", headline=STORIES[0], published_at=WORDS[1].published_at, crawled_minute=30)
    )
    [article] = [item for item in world.everything() if item["SK"] == "ARTICLE"]
    assert is_analyzed(article)
    mentions_before = [item for item in before if item["SK"] != "ARTICLE"]
    world.analyze()
    assert [item for item in world.everything() if item["SK"] != "ARTICLE"] == mentions_before


def test_mentions_of_an_article_that_gave_way_are_withdrawn(world: World) -> None:
    world.report(WORDS[0])
    world.analyze()
    [dedup_key] = world.keys
    world.table.delete(keys.article(dedup_key))
    world.analyze()
    assert not world.mentions("quartzon")
    settle(world)
    world.check_cache()


def test_an_hour_that_no_window_reaches_is_not_marked(world: World) -> None:
    DirtyHours(world.table, world.clock).mark([("quartzon", "2019-01-01T00"), ("quartzon", "2026-11-01T00")])
    assert [mark["hour"] for mark in marks(world)] == ["2026-11-01T00"]


def test_a_mark_is_made_once_for_many_mentions_of_an_hour(world: World) -> None:
    tokens = iter("abcdef")
    dirty = DirtyHours(world.table, world.clock, new_token=lambda: next(tokens))
    for minutes, token in ((0, "a"), (4, "a"), (2, "b")):
        world.wait(minutes=minutes)
        dirty.mark([("quartzon", "2026-11-27T12")])
        [mark] = rows(world, "quartzon", keys.DIRTY_PREFIX)
        assert mark["token"] == token
