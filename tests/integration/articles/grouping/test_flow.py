"""From analyzed articles to events and ideas, on a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from threading import Lock
from typing import Any

import boto3
import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.articles.adapters.intake import Intake
from sourcebook.articles.analysis import Analyzer
from sourcebook.articles.announce import Announcer
from sourcebook.articles.bus import EventBus, EventRefused
from sourcebook.articles.grouping.grouper import Grouper
from sourcebook.articles.grouping.ideas import IdeaWriter, WeighingEngine
from sourcebook.articles.grouping.log import GroupingLog
from sourcebook.articles.grouping.read import EventReader
from sourcebook.articles.grouping.ungrouped import (
    GroupingTrigger,
    Line,
    articles_of,
    ungrouped_items,
    waiting_marks,
)
from sourcebook.articles.ingest import ArticleStore
from sourcebook.errors import InvalidInput
from sourcebook.events import ArticlesNew, GenerateIdeas, GroupHeadlines, read_message
from sourcebook.sentiment.engines.lexicon import LexiconEngine
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.pages import walk_shards
from tests.incoming import NOON, incoming
from tests.moto_table import Dying, DyingTable, MotoTable

STORY = "Orbita wins lunar lander contract from Esrange"
EDITED = "Orbita wins lunar lander contract from Esrange for $2bn"
ELSEWHERE = "Globex closes its Riga brewery after a century"


class Bus:
    """EventBridge as far as putting events goes, with refusals on demand."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.refuse: list[set[int]] = []

    def put_events(self, *, Entries: Sequence[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        assert 1 <= len(Entries) <= 10
        refused = self.refuse.pop(0) if self.refuse else set()
        self.sent += [entry for n, entry in enumerate(Entries) if n not in refused]
        return {
            "FailedEntryCount": len(refused),
            "Entries": [
                {"ErrorCode": "ThrottlingException"} if n in refused else {"EventId": str(n)}
                for n in range(len(Entries))
            ],
        }

    def details(self, detail_type: str) -> list[dict[str, Any]]:
        return [json.loads(sent["Detail"]) for sent in self.sent if sent["DetailType"] == detail_type]


class News:
    """The parts of grouping on one table, with a clock that the test turns."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.now = NOON + timedelta(hours=1)
        self.bus = Bus()
        self.events = EventBus(self.bus, "news", sleep=lambda _seconds: None)  # type: ignore[arg-type]
        self.store = ArticleStore(table)
        self.analyzer = Analyzer(table, LexiconEngine(), lambda: self.now, workers=1)
        self.trigger = GroupingTrigger(table, self.events, lambda: self.now)
        self.writer = IdeaWriter(table, WeighingEngine())
        self.reader = EventReader(table)

    def shown(self, event_id: str) -> dict[str, Any]:
        found = self.reader.get(event_id)
        assert found is not None
        return found.shown()

    def grouper(self, table: Table | None = None) -> Grouper:
        """Return what a fresh process would have."""
        table = table or self.table
        return Grouper(table, GroupingLog(table, lambda: self.now), self.events, lambda: self.now, workers=1)

    def take_in(self, headline: str, source: str = "wire", article_id: str = "", **fields: Any) -> str:
        """Store one source's word and have it analyzed."""
        sent = incoming(source, article_id or headline, headline=headline, **fields)
        key = self.store.store(sent).dedup_key
        self.analyzer.analyze([key])
        return key

    def article(self, key: str) -> dict[str, Any]:
        item = self.table.get(keys.article(key))
        assert item is not None
        return item

    def waiting(self) -> int:
        return sum(len(articles_of(mark)) for mark in waiting_marks(self.table, 1_000))

    def everything(self) -> dict[tuple[str, str], dict[str, Any]]:
        events = {
            item["PK"]
            for item in walk_shards(self.table, "status", "active", index="by_status", page_size=100)
        }
        return {
            (item["PK"], item["SK"]): {n: v for n, v in item.items() if n not in {"updated_at", "revision"}}
            for partition in sorted(events)
            for item in self.table.query_all(Key("PK").eq(partition))
        }


@pytest.fixture
def news(table: Table) -> News:
    return News(table)


def test_articles_of_one_story_become_an_event_with_an_idea(news: News) -> None:
    one = news.take_in(STORY, tickers=["ORBQ"])
    two = news.take_in(
        EDITED, source="ledger", tickers=["ORBQ"], crawled_minute=5, published_at=NOON + timedelta(minutes=5)
    )
    alone = news.take_in(ELSEWHERE)
    done = news.grouper().run("run-1")
    assert (done.articles, done.linked, len(done.events)) == (3, 2, 1)
    (event_id,) = done.events
    assert news.article(one)["event_id"] == news.article(two)["event_id"] == event_id
    assert "event_id" not in news.article(alone)
    assert news.waiting() == 0
    (asked,) = news.bus.details("processing.generate_ideas")
    assert read_message(GenerateIdeas, json.dumps(asked)).event_ids == (event_id,)
    idea = news.writer.write(event_id)
    assert idea is not None
    assert (idea.subjects, idea.independent_sources, idea.articles) == (("ORBQ",), 2, 2)
    shown = news.shown(event_id)
    assert [member["dedup_key"] for member in shown["members"]] == [one, two]
    assert [idea["direction"] for idea in shown["ideas"]] == ["up"]
    assert shown["idea"]["why"] == idea.why
    (listed,) = news.reader.page(limit=5).items
    assert listed.shown() == {
        name: value for name, value in shown.items() if name not in {"members", "ideas"}
    }


def test_a_later_article_joins_the_event_and_renews_the_idea(news: News) -> None:
    news.take_in(STORY)
    news.take_in(EDITED, source="ledger")
    grouper = news.grouper()
    (event_id,) = grouper.run("run-1").events
    news.writer.write(event_id)
    news.now += timedelta(minutes=10)
    news.take_in(f"{STORY} on Tuesday", source="review")
    assert grouper.run("run-2").events == {event_id}
    assert news.writer.write(event_id) is not None
    shown = news.shown(event_id)
    assert (shown["member_count"], len(shown["ideas"])) == (3, 2)
    assert shown["ideas"][0]["articles"] == 3


def test_being_asked_twice_changes_nothing(news: News) -> None:
    news.take_in(STORY)
    news.take_in(EDITED, source="ledger")
    (event_id,) = news.grouper().run("run-1").events
    assert news.writer.write(event_id) is not None
    before = news.everything()
    assert news.grouper().run("run-1").articles == 0
    assert news.writer.write(event_id) is None
    assert news.everything() == before
    assert news.writer.write("0" * 32) is None


def test_an_article_that_is_analyzed_again_stays_in_its_event_and_renews_the_idea(news: News) -> None:
    key = news.take_in(STORY)
    news.take_in(EDITED, source="ledger")
    (event_id,) = news.grouper().run("run-1").events
    news.writer.write(event_id)
    for later in (timedelta(minutes=1), timedelta(days=4)):
        news.now += later
        news.table.update(keys.article(key), assign={"status": "pending"}, increment={"revision": 1})
        news.analyzer.analyze([key])
        assert news.grouper().run("run-2").events == {event_id}
        assert news.article(key)["event_id"] == event_id


# The log, the members, three articles, the event, the marks.
@pytest.mark.parametrize("writes", range(7))
def test_a_run_that_dies_at_any_write_is_completed_by_the_next(news: News, writes: int) -> None:
    news.take_in(STORY)
    news.grouper().run("run-0")
    keys_of = [news.take_in(EDITED, source="ledger"), news.take_in(f"{STORY} on Tuesday", source="review")]
    with pytest.raises(Dying):
        news.grouper(DyingTable(news.table, writes)).run("run-1")
    news.take_in(f"{STORY} in Sweden", source="late")
    news.grouper().run("run-2")
    ids = {news.article(key)["event_id"] for key in keys_of}
    assert len(ids) == 1
    (event_id,) = ids
    shown = news.shown(event_id)
    assert shown["member_count"] == len(shown["members"]) == 4
    assert {news.article(member["dedup_key"])["event_id"] for member in shown["members"]} == ids
    assert news.waiting() == 0
    assert any(event_id in sent["event_ids"] for sent in news.bus.details("processing.generate_ideas"))


class Interleaved(MotoTable):
    """A table in which something happens right before the first conditional creation."""

    def __init__(self, table: Table, happens: Callable[[], object]) -> None:
        super().__init__(table.name, table.client, shards=table.shards)
        self.happens: Iterator[Callable[[], object]] = iter([happens])

    def create(self, item: Any) -> Any:
        if happens := next(self.happens, None):
            happens()
        return super().create(item)


def test_runs_at_the_same_moment_neither_split_nor_double_an_event(news: News) -> None:
    one = news.take_in(STORY)
    two = ""

    def overtake() -> None:
        nonlocal two
        two = news.take_in(EDITED, source="ledger")
        assert news.grouper().run("faster").articles == 2

    done = news.grouper(Interleaved(news.table, overtake)).run("slower")
    assert done.conflicts == 1
    assert done.articles == 0, "the other run has decided on all of them"
    assert news.article(one)["event_id"] == news.article(two)["event_id"]
    assert len(news.reader.page(limit=5).items) == 1


class Atomic(MotoTable):
    """A table that looks at a condition and writes in one step, as DynamoDB does and moto does not."""

    step = Lock()

    def create(self, item: Any) -> Any:
        with self.step:
            return super().create(item)

    def update(self, *args: Any, **kwargs: Any) -> Any:
        with self.step:
            return super().update(*args, **kwargs)


def told_by_five(news: News, stories: int) -> list[set[str]]:
    """Take in stories that five sources tell; return the dedup keys of each."""
    names = ("Orbita", "Acme", "Initech", "Umbrella", "Hooli", "Globex", "Vandelay", "Wonka")
    return [
        {
            news.take_in(f"{name} wins {name} lander contract from Esrange{more}", source=source)
            for source, more in (
                ("wire", ""),
                ("ledger", " today"),
                ("review", " in Kiruna"),
                ("late", " at last"),
                ("sun", " for test"),
            )
        }
        for name in names[:stories]
    ]


def test_four_lines_side_by_side_find_the_events_of_one(news: News) -> None:
    stories = told_by_five(news, 8)
    held = [sum(Line(n, 4).holds(mark) for mark in waiting_marks(news.table, 100)) for n in range(4)]
    assert sum(held) == 40
    assert all(held)
    groupers = [news.grouper(Atomic(news.table.name, news.table.client)) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(one.run, "run", [Line(n, 4)]) for n, one in enumerate(groupers)]
        done = [run.result() for run in runs]
    assert sum(one.articles for one in done) >= 40, "and those whose event was found by a later one"
    assert news.waiting() == 0
    found = {frozenset(one["dedup_key"] for one in news.shown(event)["members"]) for event in _events(news)}
    assert found == {frozenset(story) for story in stories}


def _events(news: News) -> list[str]:
    return [event.event_id for event in news.reader.page(limit=50).items]


@pytest.mark.parametrize("writes", range(7))
def test_a_line_that_dies_at_any_write_is_completed_by_one_of_another_number(news: News, writes: int) -> None:
    (story,) = told_by_five(news, 1)
    with suppress(Dying):
        news.grouper(DyingTable(news.table, writes)).run("run-1", [Line(0, 2)])
    news.grouper().run("run-2", [Line(2, 3), Line(0, 3), Line(1, 3)])
    assert news.waiting() == 0
    (event_id,) = {news.article(key)["event_id"] for key in story}
    assert {member["dedup_key"] for member in news.shown(event_id)["members"]} == story


def test_each_line_in_which_articles_wait_is_asked_for(news: News) -> None:
    told_by_five(news, 3)
    trigger = GroupingTrigger(news.table, news.events, lambda: news.now, lines=4)
    asked = trigger.check("tick")
    assert [(one.line, one.lines) for one in asked] == [(n, 4) for n in range(4)]
    sent = news.bus.details("processing.group_headlines")
    assert [read_message(GroupHeadlines, json.dumps(one)) for one in sent] == asked
    news.grouper().run("run-1", [Line(0, 4), Line(2, 4)])
    news.now += timedelta(minutes=5)
    assert [one.line for one in trigger.check("tick")] == [1, 3]


def test_a_warm_process_sees_what_another_has_decided(news: News) -> None:
    warm = news.grouper()
    news.take_in(ELSEWHERE)
    warm.run("run-1")
    news.take_in(STORY)
    news.grouper().run("elsewhere")
    key = news.take_in(EDITED, source="ledger")
    assert len(warm.run("run-2").events) == 1
    assert news.article(key)["event_id"]


def test_grouping_is_asked_for_at_ten_articles_or_after_five_minutes(news: News) -> None:
    assert news.trigger.check("tick") == []
    for number in range(9):
        news.take_in(f"Globex closes brewery number {number} of Riga")
    assert news.trigger.check("tick") == []
    news.take_in(STORY)
    [sent] = news.trigger.check("tick")
    assert (sent.trigger_reason, sent.ungrouped_count) == ("threshold_reached", 10)
    news.grouper().run("run-1")
    news.take_in(EDITED, source="ledger")
    assert news.trigger.check("tick") == []
    news.now += timedelta(minutes=5)
    [later] = news.trigger.check("tick")
    assert (later.trigger_reason, later.ungrouped_count) == ("interval_elapsed", 1)
    first = news.bus.details("processing.group_headlines")[0]
    assert read_message(GroupHeadlines, json.dumps(first)) == sent
    assert {entry["Source"] for entry in news.bus.sent} == {"sourcebook"}


def test_an_article_whose_analysis_died_after_its_mark_waits_for_its_analysis(news: News) -> None:
    key = news.take_in(STORY)
    news.table.update(keys.article(key), assign={"status": "pending"})
    assert news.grouper().run("run-1").articles == 0
    assert news.waiting() == 1
    news.analyzer.analyze([key])
    assert news.grouper().run("run-2").articles == 1
    assert news.waiting() == 0


def test_a_mark_of_several_keeps_those_that_are_not_analyzed_yet(news: News) -> None:
    articles = [news.take_in(f"Globex closes brewery number {number} of Riga") for number in range(23)]
    news.grouper().run("run-1")
    marks = ungrouped_items(articles, news.now)
    assert [len(articles_of(mark)) for mark in marks] == [20, 3]
    news.table.put_many(marks)
    for key in (articles[4], articles[5]):
        news.table.update(keys.article(key), assign={"status": "pending"})
    news.table.delete(keys.article(articles[5]))
    news.grouper().run("run-2")
    [left] = waiting_marks(news.table, 100)
    assert articles_of(left) == [articles[4]]
    news.table.update(keys.article(articles[4]), assign={"status": "analyzed"})
    news.grouper().run("run-3")
    assert news.waiting() == 0


def test_articles_that_are_analyzed_together_share_a_mark_of_less_than_a_kilobyte(news: News) -> None:
    stored = [
        news.store.store(incoming("wire", str(n), headline=f"Globex closes brewery {n}")) for n in range(12)
    ]
    news.analyzer.analyze([one.dedup_key for one in stored])
    [mark] = waiting_marks(news.table, 100)
    assert len(articles_of(mark)) == 12
    [sent] = news.trigger.check("tick")
    assert (sent.trigger_reason, sent.ungrouped_count) == ("threshold_reached", 10)
    [full] = ungrouped_items([f"{n:032x}" for n in range(20)], news.now)
    assert sum(len(name) + len(str(value)) for name, value in full.items()) < 1_000


def test_marks_of_an_earlier_version_are_taken_too(news: News) -> None:
    key, other = news.take_in(STORY), news.take_in(EDITED, source="ledger")
    for mark in list(waiting_marks(news.table, 100)):
        news.table.delete(keys.Key(PK=mark["PK"], SK=mark["SK"]))
    since = "2026-11-27T12:00:00.000Z"
    for one in (key, other):
        place = {"PK": keys.UNGROUPED_ONE_BY_ONE, "SK": f"{since}#{one}"}
        news.table.put({**place, "entity_type": "Ungrouped", "dedup_key": one, "since": since})
    [sent] = news.trigger.check("tick")
    assert sent.ungrouped_count == 2
    news.grouper().run("run-1")
    assert news.waiting() == 0
    assert news.article(key)["event_id"] == news.article(other)["event_id"]


def test_the_mark_of_an_article_that_is_gone_goes(news: News) -> None:
    news.table.delete(keys.article(news.take_in(STORY)))
    assert news.grouper().run("run-1").articles == 0
    assert news.waiting() == 0


def test_new_articles_go_on_the_bus_in_batches_and_refused_ones_are_sent_again(news: News) -> None:
    sns = boto3.client("sns")
    announcer = Announcer(sns, sns.create_topic(Name="articles")["TopicArn"])
    intake = Intake(news.store, announcer, "run-1", news.events)
    news.bus.refuse = [{0, 2}, {1}]
    words = [
        incoming("wire", str(n), headline=f"Globex closes brewery number {n} of Riga") for n in range(230)
    ]
    intake.take(words)
    sent = [read_message(ArticlesNew, json.dumps(detail)) for detail in news.bus.details("articles.new")]
    assert sorted(event.count for event in sent) == [30, 100, 100]
    assert len({key for event in sent for key in event.article_ids}) == 230
    assert {(event.source_id, event.correlation_id) for event in sent} == {("wire", "run-1")}
    news.table.update(keys.article(sent[0].article_ids[0]), assign={"status": "analyzed"})
    before = len(news.bus.sent)
    intake.take([incoming("ledger", "x", headline="Globex closes brewery number 7 of Riga")])
    assert len(news.bus.sent) == before, "another source's word makes no article new"


def test_a_bus_that_keeps_refusing_is_an_error_that_comes_back(news: News) -> None:
    news.take_in(STORY)
    news.take_in(EDITED, source="ledger")
    news.bus.refuse = [{0}] * 5
    with pytest.raises(EventRefused, match="refused 1 of 1 entries 5 times: ThrottlingException"):
        news.grouper().run("run-1")
    assert news.waiting() == 2, "the marks stay until the bus has been told"
    assert len(news.grouper().run("run-2").events) == 1


def test_pages_of_events_follow_one_another(news: News) -> None:
    for number, name in enumerate(("Orbita", "Acme", "Initech", "Umbrella", "Hooli")):
        for source in ("wire", "ledger"):
            more = " this summer" if source == "ledger" else ""
            news.take_in(
                f"{name} wins lunar lander contract from Esrange{more}",
                source=source,
                crawled_minute=number,
                published_at=NOON + timedelta(minutes=number),
            )
    news.grouper().run("run-1")
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = news.reader.page(limit=2, cursor=cursor)
        seen += [event.headline.split()[0] for event in page.items]
        if (cursor := page.next_cursor) is None:
            break
    assert seen == ["Hooli", "Umbrella", "Initech", "Acme", "Orbita"]
    with pytest.raises(InvalidInput, match="cursor"):
        news.reader.page(limit=2, cursor="xyz")
    assert news.reader.get("no-such-event") is None
    assert news.reader.get("0" * 32) is None
