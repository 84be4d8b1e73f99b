"""Shards of the indexes: lists merge them, `verify` knows them, `migrate` moves items, beside all writers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.articles.analysis import Analysis, Analyzer
from sourcebook.articles.grouping.read import EventReader
from sourcebook.articles.heal import retry_failed
from sourcebook.articles.ingest import ArticleStore
from sourcebook.articles.read import ArticleFilter, ArticleReader
from sourcebook.articles.reanalysis import Reanalyzer
from sourcebook.articles.reanalysis_messages import DayOfArticles
from sourcebook.clock import isoformat
from sourcebook.integrity.shards import ItemsStandInTheirShards, has_strangers, move_to_shards, step
from sourcebook.integrity.verify import Verifier
from sourcebook.migrations.steps import Migrations
from sourcebook.records.article import Sentiment, Status
from sourcebook.records.subject import Subject
from sourcebook.sentiment.engines.lexicon import LexiconEngine
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.sources.registry import SourceRegistry
from sourcebook.spectra.sweep import due_spectra
from sourcebook.table import keys
from sourcebook.table.client import Change, Table, TableBusy, TableRefused
from sourcebook.table.keys import Shards
from sourcebook.table.pages import all_items, walk_shards
from tests.incoming import NOON, incoming, list_new_articles
from tests.moto_table import MotoTable
from tests.unit.api.stored import put_source

TOWNS = [
    one + end for one in ("Ald", "Bor", "Cal", "Dun", "Esk", "Fen") for end in ("ham", "ton", "wick", "mere")
]
ARTICLES = len(TOWNS)
MOODS = ("celebrate a great success", "mourn a terrible loss", "meet on a Tuesday")
"""Words after which the lexicon finds each sentiment."""


def with_shards(table: Table, number: int, before: int = 0) -> MotoTable:
    return MotoTable(table.name, table.client, shards=Shards(number, before))


def store(table: Table, numbers: range = range(ARTICLES)) -> list[str]:
    """Store articles of three moods, four a minute; analyze all but each fifth. Return their dedup keys."""
    found = ArticleStore(table).store_many(
        [
            incoming(
                "wire",
                str(number),
                headline=f"Markets of {TOWNS[number]} {MOODS[number % 3]}",
                published_at=NOON + timedelta(minutes=number // 4),
            )
            for number in numbers
        ]
    )
    stored = [result.dedup_key for _, result in found]  # type: ignore[union-attr]
    judged = [key for number, key in enumerate(stored) if number % 5]
    analyze(table, judged)
    list_new_articles(table)
    return stored


def analyze(table: Table, dedup_keys: list[str]) -> dict[str, Any]:
    return Analyzer(table, LexiconEngine(), clock=lambda: NOON, workers=1).analyze(dedup_keys)


def standing(table: Table, attribute: str, index: str) -> dict[str, str]:
    """Return under which stored value of an index each item stands, by PK."""
    rows = table.scan(index=index).items
    return {row["PK"]: keys.in_shard(row[attribute], keys.shard_in(row[attribute])) for row in rows}


def places(table: Table) -> dict[str, str]:
    return standing(table, "status", keys.STATUS_INDEX) | standing(table, "sentiment", keys.SENTIMENT_INDEX)


def listed(table: Table, limit: int = 7, **wanted: Any) -> list[str]:
    reader = ArticleReader(table)

    def page(cursor: str | None) -> Any:
        return reader.page(ArticleFilter(**wanted), limit=limit, cursor=cursor)

    return [article.dedup_key for article in all_items(page)]


def by_time(table: Table, dedup_keys: list[str]) -> list[str]:
    items = {item["dedup_key"]: item for item in table.batch_get(map(keys.article, dedup_keys))}
    return [items[key]["timestamp"] for key in dedup_keys]


@pytest.mark.parametrize("number", [1, 8])
def test_lists_are_the_same_whatever_the_number_of_shards(table: Table, number: int) -> None:
    table = with_shards(table, number)
    stored = store(table)
    shards = Counter(place.partition("#")[2] for place in places(table).values())
    assert len(shards) == min(number, len(shards))
    assert len(shards) > number // 2
    bounds: dict[str, Any] = {"since": NOON + timedelta(minutes=1), "until": NOON + timedelta(minutes=4)}
    for wanted in (bounds, {}):
        found = listed(table, **wanted)
        assert len(found) == len(set(found))
        assert by_time(table, found) == sorted(by_time(table, found), reverse=True)
    assert set(listed(table)) == set(stored)
    assert set(listed(table, status="pending")) == set(stored[::5])
    of_sentiments = [key for one in Sentiment for key in listed(table, sentiment=one.value)]
    assert sorted(of_sentiments) == sorted(listed(table, status="analyzed"))
    assert listed(table, 5, status="analyzed") == listed(table, 100, status="analyzed")


def test_raising_the_number_needs_no_pause_and_lowering_it_is_found(table: Table) -> None:
    one = with_shards(table, 1)
    stored = store(one)
    lists: tuple[dict[str, Any], ...] = ({"status": "pending"}, {"sentiment": "neutral"})
    expected = [sorted(listed(one, 20, **wanted)) for wanted in lists]
    for number, before in ((8, 0), (2, 8), (1, 2)):
        chosen = with_shards(table, number, before)
        assert [sorted(listed(chosen, 20, **wanted)) for wanted in lists] == expected, "before migrating"
        assert has_strangers(chosen)
        moved = move_to_shards(chosen)
        assert 0 < moved <= ARTICLES
        assert not has_strangers(chosen)
        assert move_to_shards(chosen) == 0
        # What came before is not needed any more.
        alone = with_shards(table, number)
        assert [sorted(listed(alone, 20, **wanted)) for wanted in lists] == expected
        assert all(
            place.partition("#")[2] == str(alone.shards.of(key) or "") for key, place in places(alone).items()
        )
    assert "#" not in "".join(places(table).values())
    assert len(stored) == ARTICLES


def test_events_are_listed_from_all_shards(table: Table) -> None:
    events = {f"{number:032x}": f"2026-11-27T12:{number % 6:02}:00Z" for number in range(20)}
    for number, (event_id, timestamp) in enumerate(events.items()):
        with_shards(table, 1 if number % 2 else 8).put(
            {
                **keys.event(event_id),
                "entity_type": "Event",
                "event_id": event_id,
                "status": "active",
                "timestamp": timestamp,
                "revision": 1,
            }
        )
    reader = EventReader(with_shards(table, 8))
    found = [event.event_id for event in all_items(lambda cursor: reader.page(limit=3, cursor=cursor))]
    assert sorted(found) == sorted(events)
    times = [events[event_id] for event_id in found]
    assert times == sorted(times, reverse=True)


class _Interrupted(MotoTable):
    """Calls somebody else before its n-th change."""

    def __init__(self, table: Table, before: dict[int, Callable[[], object]], *, number: int = 8) -> None:
        super().__init__(table.name, table.client, shards=Shards(number))
        self.before, self.changes = before, 0

    def update_many(self, changes: Sequence[Change]) -> list[bool | TableBusy | TableRefused]:
        done: list[bool | TableBusy | TableRefused] = []
        for change in changes:
            self.changes += 1
            self.before.get(self.changes, lambda: None)()
            done += super().update_many([change])
        return done


class _Killed(Exception):
    """The process is gone."""


def _die() -> None:
    raise _Killed


def test_a_migration_that_was_killed_goes_on_where_it_was(table: Table) -> None:
    store(with_shards(table, 1))
    eight = with_shards(table, 8)
    expected = sorted(listed(eight))
    with pytest.raises(_Killed):
        move_to_shards(_Interrupted(table, {9: _die}))
    half = places(table)
    assert any("#" in place for place in half.values())
    assert has_strangers(eight)
    assert sorted(listed(eight)) == expected
    assert move_to_shards(eight) > 0
    assert not has_strangers(eight)
    assert sorted(listed(eight)) == expected


@pytest.mark.parametrize("number", [1, 8])
def test_whoever_writes_while_it_moves_is_not_overwritten(table: Table, number: int) -> None:
    """A source's word comes, then the analysis, right before the item is moved; by either deployment."""
    keys_of = store(with_shards(table, 1))
    others = with_shards(table, number)
    pending = keys_of[::5]

    def merge_and_analyze() -> None:
        again = [
            incoming(
                "other",
                str(n),
                headline=f"Markets of {TOWNS[n]} {MOODS[n % 3]}",
                published_at=NOON + timedelta(minutes=n // 4),
                tags=("new",),
            )
            for n in range(0, ARTICLES, 5)
        ]
        assert all(not isinstance(result, Exception) for _, result in ArticleStore(others).store_many(again))
        assert set(analyze(others, pending).values()) == {Analysis.ANALYZED}

    def fail_one() -> None:
        others.change(keys.article(pending[0]), assign={"status": Status.ERROR.value})

    migrating = _Interrupted(table, {1: merge_and_analyze, 4: fail_one})
    moved = move_to_shards(migrating)
    assert moved > 0
    eight = with_shards(table, 8)
    move_to_shards(eight)
    assert not has_strangers(eight)
    items = {item["dedup_key"]: item for item in eight.batch_get(map(keys.article, pending))}
    assert all(items[key]["sources"] == ["other", "wire"] for key in pending)
    assert items[pending[0]]["status"] == "error"
    assert all("status" not in items[key] for key in pending[1:])
    assert sorted(listed(eight)) == sorted(keys_of)
    assert listed(eight, status="error") == [pending[0]]
    assert retry_failed(with_shards(table, number), pending[0])


def test_a_function_of_before_meets_what_one_of_now_has_written(table: Table) -> None:
    """While a deployment is under way, functions with one shard and with eight write the same articles."""
    one, eight = with_shards(table, 1), with_shards(table, 8)
    first = incoming("wire", headline="Markets of pearl celebrate a great success")
    made = ArticleStore(eight).store(first)
    assert ArticleStore(one).store(first.model_copy(update={"source": "other"})).outcome == "merged"
    assert analyze(one, [made.dedup_key]) == {made.dedup_key: Analysis.ANALYZED}
    assert analyze(eight, [made.dedup_key]) == {made.dedup_key: Analysis.ALREADY}
    assert listed(eight, status="analyzed") == [made.dedup_key]


def test_verify_finds_what_stands_elsewhere_and_mends_it(table: Table) -> None:
    store(with_shards(table, 1))
    eight = with_shards(table, 8)
    expected = sum(eight.shards.of(key) != 0 for key in places(table))
    verifier = Verifier(eight, [ItemsStandInTheirShards(eight)], patience=0)
    reports = list(verifier.run(repair=True))
    assert len(reports) == expected > 0
    assert all("it stands in shard 0 of by_s" in report.finding.problem for report in reports)
    assert {report.mended.value for report in reports} == {"mended"}
    assert not has_strangers(eight)
    assert list(Verifier(eight, [ItemsStandInTheirShards(eight)], patience=0).run()) == []


def test_sources_move_to_their_shards_and_a_disabled_one_stays_disabled(table: Table) -> None:
    one, eight = with_shards(table, 1), with_shards(table, 8)
    names = [f"feed-{number:02d}" for number in range(20)]
    for name in names:
        put_source(one, name, "2026-11-27T12:00:00Z")
    put_source(one, "off", "2026-11-27T12:00:00Z", enabled=False)
    assert move_to_shards(eight) == sum(eight.shards.of(keys.source(name)["PK"]) != 0 for name in names)
    assert not has_strangers(eight)
    assert sorted(SourceRegistry(eight).list_ids()) == [*names, "off"]
    stored = eight.get(keys.source("off")) or {}
    assert stored["GSI1PK"] == keys.DISABLED_SOURCES
    # What the migration would do that had read it before it was disabled.
    late = Change(keys.source("off"), {"GSI1PK": keys.DUE_SOURCES}, {"GSI1PK": keys.DUE_SOURCES})
    assert eight.update_many([late]) == [False]


def test_the_step_runs_each_time_and_is_recorded_never(table: Table) -> None:
    store(with_shards(table, 1))
    seen = Counter[str]()
    for number in (8, 8, 1):
        watched = step(lambda entries: seen.update(entries=entries))
        migrations = Migrations(with_shards(table, number), steps=(watched,))
        needed = number != 8 or not seen
        assert [(one.applied_at, one.needed) for one in migrations.status()] == [(None, needed)]
        [applied] = migrations.run()
        assert (applied.ran, applied.changed > 0) == (True, needed)
    assert seen["entries"] >= 3 * ARTICLES
    assert not list(table.query_all(Key("PK").eq(keys.MIGRATIONS)))


def test_what_is_worked_off_comes_from_all_shards_oldest_first(table: Table) -> None:
    eight = with_shards(table, 8)
    times = [isoformat(NOON + timedelta(minutes=7 * number % 20)) for number in range(20)]
    for number, time in enumerate(times):
        article = {**keys.article(f"{number:032x}"), "status": "pending", "timestamp": time}
        spectrum = {**keys.spectrum(f"nova-{number}", "ESO", "x"), "status": "ACQUIRE", "timestamp": time}
        eight.put_many([article, spectrum])
    found = [row["timestamp"] for row in due_spectra(eight, NOON + timedelta(minutes=9), page_size=2)]
    assert found == sorted(times)[:10]
    waiting = walk_shards(eight, "status", "pending", index=keys.STATUS_INDEX, page_size=3)
    assert [row["timestamp"] for row in waiting] == sorted(times)


def test_all_analyzed_articles_are_analyzed_anew_whatever_their_shard(table: Table) -> None:
    eight = with_shards(table, 8)
    store(eight)
    SubjectRegistry(eight).register([Subject("harbor", "Harbor", "topic")])
    expected = set(listed(eight, 100, status="analyzed"))
    analyzer = Analyzer(eight, LexiconEngine(), clock=lambda: NOON, workers=1)
    # As little time as there may be: each run does one page, and the next goes on from its place.
    reanalyzer = Reanalyzer(eight, analyzer, seconds_left=lambda: 0)
    part = DayOfArticles("harbor", 0, NOON + timedelta(hours=1), scope="all")
    analyzed, runs = 0, 0
    while True:
        progress = reanalyzer.run(part)
        analyzed, runs = analyzed + progress.analyzed, runs + 1
        if progress.done:
            break
        part = replace(part, next=progress.next)
    assert analyzed == len(expected)
    assert runs == 3 * 8
    items = eight.batch_get(map(keys.article, expected))
    assert {item["revision"] for item in items} == {2}
