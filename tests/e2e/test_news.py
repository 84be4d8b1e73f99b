"""News from several sources on the deployed stack: one record for each story, events, ideas, and trouble.

On a cloud of its own, so that its counts are of its own articles alone. SOURCEBOOK_LOAD=full makes the load
test a whole day of 10,000 articles; without it, it is an hour of 600.
"""

from __future__ import annotations

import json
import logging
import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.articles.announce import Announcer
from sourcebook.articles.bus import EventBus
from sourcebook.articles.grouping.grouper import Grouper
from sourcebook.articles.grouping.log import GroupingLog
from sourcebook.articles.grouping.ungrouped import ungrouped_items
from sourcebook.articles.ingest import ArticleStore, Outcome
from sourcebook.clock import utc_now
from sourcebook.records.source import Source
from sourcebook.sources.model import SourceSpec
from sourcebook.table import keys
from sourcebook.table.client import Table, aws_config
from sourcebook_local.folder import start_server
from sourcebook_local.samples import (
    API_KEYS,
    COMPANIES,
    expected,
    sample_api_sources,
    sample_sources,
    secret_name,
)
from tests.e2e.conftest import deployed
from tests.e2e.sources import (
    articles_of,
    ask_for_grouping,
    everything,
    fetch,
    group_now,
    keys_by_status,
    register,
    registry,
    stage,
    statuses,
    wait_for_fetches,
)
from tests.e2e.stack import Stack, invoke, wait_until
from tests.incoming import incoming

if TYPE_CHECKING:
    from sourcebook_local.cloud import LocalCloud

LOG = logging.getLogger(__name__)
FULL = os.environ.get("SOURCEBOOK_LOAD") == "full"
ROUNDS = 24 if FULL else 3
ENTRIES = 140 if FULL else 50
"""Entries of each of three sources in one round: 10,080 in a day."""


@pytest.fixture(scope="module")
def stack(new_cloud: Callable[[str], LocalCloud]) -> Iterator[Stack]:
    # Never in the cloud that is kept: its counts are of its own articles alone.
    cloud = new_cloud("news")
    with deployed(cloud) as found:
        yield found
    cloud.stop()


@pytest.fixture(scope="module")
def samples(stack: Stack, home: Path) -> dict[str, Source]:
    """The sample feeds and news APIs, fetched once with the keys in their secrets."""
    secrets = stack.session.client("secretsmanager")
    for kind, key in API_KEYS.items():
        secrets.put_secret_value(SecretId=secret_name(kind), SecretString=key)
    url = start_server(home).url
    return fetch(stack, register(stack, [*sample_sources(url), *sample_api_sources(url)]))


def table_of(stack: Stack) -> Table:
    return Table(stack.outputs.table_name, stack.session.client("dynamodb", config=aws_config()))


def listed_events(stack: Stack) -> list[dict[str, Any]]:
    answer = stack.api.get("/events", params={"limit": 100})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def test_feeds_and_news_apis_together_come_to_exactly_what_the_samples_hold(
    stack: Stack, samples: dict[str, Source]
) -> None:
    wanted = expected(tiingo=sorted(COMPANIES), finnhub=sorted(COMPANIES))
    assert {source.last_cause for source in samples.values()} == {"ok"}
    assert {id_: source.last_entries for id_, source in samples.items()} == wanted.per_source
    items = articles_of(stack, samples)
    assert len(items) == wanted.articles
    assert statuses(items) == {"analyzed"}
    carried = Counter(frozenset(item["source_attribution"]["M"]) for item in items)
    assert carried == Counter(wanted.carriers.values())
    assert sum(source.merged_total for source in samples.values()) == wanted.merges
    batches = [item for item in everything(stack).values() if item["entity_type"]["S"] == "IngestionBatch"]
    metrics = [batch["metrics"]["M"] for batch in batches]
    assert sum(int(m["collisions_detected"]["N"]) for m in metrics) == wanted.merges
    assert sum(int(m["articles_stored"]["N"]) for m in metrics) == wanted.articles


def test_stories_in_other_words_become_events_with_ideas(stack: Stack, samples: dict[str, Source]) -> None:
    # Asked for by the clock or by the new articles themselves, all the way over the bus.
    def with_ideas() -> list[dict[str, Any]]:
        found = [event for event in listed_events(stack) if event["idea"]]
        return found if len(found) >= 3 else []

    events = wait_until(with_ideas, 120, "three events with ideas", interval=1)
    by_ticker = {ticker: event for event in events for ticker in event["tickers"]}
    assert {"VRDM", "GLWG", "TDWE", "BRSL"} <= by_ticker.keys()
    event = stack.api.get(f"/events/{by_ticker['VRDM']['event_id']}").json()
    assert event["member_count"] == len(event["members"]) >= 2
    assert all("48,000" in member["headline"] for member in event["members"])
    idea = event["ideas"][0]
    assert idea["subjects"] == ["VRDM"]
    assert idea["independent_sources"] >= 2
    assert "independent sources tell of VRDM" in idea["why"]
    for member in event["members"]:
        article = stack.api.get(f"/articles/{member['dedup_key']}").json()
        assert article["event_id"] == event["event_id"]
    for path, status in (("/events/nonsense", 404), (f"/events/{'0' * 32}", 404), ("/events?limit=0", 400)):
        assert stack.api.get(path).status_code == status


def test_being_asked_again_for_grouping_and_ideas_changes_nothing(
    stack: Stack, samples: dict[str, Source]
) -> None:
    group_now(stack)

    def events() -> dict[tuple[str, str], dict[str, Any]]:
        return {key: item for key, item in everything(stack).items() if key[0].startswith("EVENT#")}

    ids = sorted({item["event_id"]["S"] for item in events().values()})
    body = json.dumps({"correlation_id": "test", "event_ids": ids})
    ask = {"Records": [{"messageId": "1", "body": body}]}
    invoke(stack.session, "SourcebookPipeline-generate_ideas", ask)
    before = events()
    for _ in range(2):
        assert invoke(stack.session, "SourcebookPipeline-generate_ideas", ask) == {"batchItemFailures": []}
        ask_for_grouping(stack)
    assert events() == before


def test_a_story_from_all_sources_at_once_is_one_article_with_every_word(stack: Stack) -> None:
    store = ArticleStore(table_of(stack))
    sources = ("here", "there", "elsewhere")
    rng = random.Random(7)
    made: list[str] = []
    with ThreadPoolExecutor(len(sources) * 2) as pool:
        for story in range(40 if FULL else 20):
            start = threading.Barrier(len(sources) * 2)
            pauses = [rng.choice((0, 0, 0.002, 0.01)) for _ in range(len(sources) * 2)]

            def report(
                teller: int,
                story: int = story,
                start: threading.Barrier = start,
                pauses: list[float] = pauses,
            ) -> Any:
                # Each source tells it twice, as a repeated message would make it.
                source = sources[teller % len(sources)]
                start.wait(timeout=30)
                threading.Event().wait(pauses[teller])
                suffix = " - Reuters" if source == "there" else ""
                headline = f"Interleaved story {chr(97 + story % 26)}{story} is told at once{suffix}"
                return store.store(incoming(source, f"{story}", crawled_minute=teller % 3, headline=headline))

            results = list(pool.map(report, range(len(sources) * 2)))
            assert len({result.dedup_key for result in results}) == 1
            assert [result.outcome for result in results].count(Outcome.CREATED) == 1
            item = table_of(stack).get(keys.article(results[0].dedup_key), consistent=True)
            assert item is not None
            assert item["sources"] == ["here", "there", "elsewhere"]
            assert set(item["source_attribution"]) == set(sources)
            made.append(results[0].dedup_key)
    topic = stack.session.client("sns", config=aws_config())
    Announcer(topic, stack.outputs.article_topic_arn).announce(made, "test")
    wait_until(lambda: not keys_by_status(stack, "pending"), 60, "their analysis", interval=0.5)


def test_grouping_runs_at_once_agree(stack: Stack) -> None:
    table = table_of(stack)
    store = ArticleStore(table)
    words = [
        incoming(source, f"{n}", headline=f"{name} wins lunar lander contract from Esrange{more}")
        for n, name in enumerate(
            ("Zorbit", "Quandle", "Vexor", "Plumbus", "Grommet", "Wibble", "Snark", "Jub")
        )
        for source, more in (("one", ""), ("two", " for $2bn"), ("three", " this summer"))
    ]
    stored = [result.dedup_key for _, result in store.store_many(words) if hasattr(result, "dedup_key")]
    analyzed = {"status": "analyzed", "sentiment": "neutral", "score": 0.5, "polarity": 0.0}
    items = [table.update(keys.article(key), assign=analyzed) for key in stored]
    bus_name = "SourcebookPipeline-news"

    def run(number: int) -> int:
        client = stack.session.client("events", config=aws_config())
        return Grouper(table, GroupingLog(table), EventBus(client, bus_name)).run(f"run-{number}").articles

    group_now(stack)  # what other tests have left
    for item in items:
        table.put_many(ungrouped_items([item["dedup_key"]], utc_now()))
    with ThreadPoolExecutor(4) as pool:
        decided = list(pool.map(run, range(4)))
    # The deployed function may have come in between; nothing is decided twice.
    assert sum(decided) <= len(words)
    group_now(stack)
    items = table.batch_get((keys.article(key) for key in stored), consistent=True)
    by_company: dict[str, set[str]] = {}
    for item in items:
        by_company.setdefault(item["headline"].split()[0], set()).add(item["event_id"])
    assert all(len(ids) == 1 for ids in by_company.values()), by_company
    assert len({id_ for ids in by_company.values() for id_ in ids}) == len(by_company) == 8
    for ids in by_company.values():
        event = stack.api.get(f"/events/{next(iter(ids))}").json()
        assert event["member_count"] == len(event["members"]) == 3


@dataclass(frozen=True)
class Day:
    """Three sources that tell the same in three of ten entries.

    Attributes:
        folder: where their feeds lie.
        begun: when the day began.
    """

    folder: Path
    begun: datetime

    SOURCES = ("alder", "birch", "cedar")

    def write(self, round_: int) -> int:
        """Write what the sources have in one round, and return how many stories that are."""
        feeds: dict[str, list[str]] = {source: [] for source in self.SOURCES}
        blocks = 3 * ENTRIES // 10
        stories = 0
        for block in range(blocks):
            # Of ten entries, three tell one story, two another, five have theirs alone: seven stories.
            for size in (3, 2, 1, 1, 1, 1, 1):
                tellers = sorted(feeds, key=lambda source: (len(feeds[source]), source))[:size]
                for teller in tellers:
                    feeds[teller].append(self._entry(round_, block, stories, teller))
                stories += 1
        for source, items in feeds.items():
            head = f"<title>{source.capitalize()} News</title><link>https://{source}.example/</link>"
            (self.folder / f"{source}.rss").write_text(
                f'<rss version="2.0"><channel>{head}<description>A load test</description>'
                f"{''.join(items)}</channel></rss>"
            )
        assert sum(map(len, feeds.values())) == 10 * blocks
        return stories

    def _entry(self, round_: int, block: int, story: int, source: str) -> str:
        words = random.Random(f"{round_}/{story}")
        name = "".join(words.choice("bdfgklmnprstvz") + words.choice("aeiou") for _ in range(4)).capitalize()
        what = " ".join(
            "".join(words.choice("bdfgklmnprstvz") + words.choice("aeiou") for _ in range(3))
            for _ in range(5)
        )
        headline = f"{name} {what}"
        if source == "birch":
            headline += " - Birch News"
        elif source == "cedar":
            headline = f"UPDATE 1-{headline.upper()}!"
        # One hour of the day for all who tell it, away from midnight.
        moment = self.begun + timedelta(minutes=round_ * 20 + block % 20)
        return (
            f"<item><title>{headline}</title><link>https://{source}.example/{round_}/{story}</link>"
            f"<guid>{source}-{round_}-{story}</guid>"
            f"<pubDate>{moment:%a, %d %b %Y %H:%M:%S} GMT</pubDate></item>"
        )


def wait_until_more_than(stack: Stack, day: Day, stored: int) -> None:
    sources = [f"load-{source}" for source in day.SOURCES]
    wait_until(
        lambda: len(articles_of(stack, sources)) > stored, 60, "the first articles of a round", interval=0.05
    )


def refuse_announcements(stack: Stack, *, refuse: bool) -> None:
    """Let SNS refuse what fetch_sources announces, or let it through again."""
    function = stack.session.client("lambda").get_function_configuration(
        FunctionName=stack.outputs.fetch_function_name
    )
    role = function["Role"].rpartition("/")[2]
    iam = stack.session.client("iam")
    if not refuse:
        iam.delete_role_policy(RoleName=role, PolicyName="Trouble")
        return
    actions = ["sns:Publish", "sns:PublishBatch"]
    statement = {"Effect": "Deny", "Action": actions, "Resource": "*"}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    iam.put_role_policy(RoleName=role, PolicyName="Trouble", PolicyDocument=json.dumps(document))


def test_a_day_of_three_overlapping_sources_loses_nothing_in_trouble(
    stack: Stack, home: Path, tmp_path: Path
) -> None:
    day = Day(tmp_path, utc_now().replace(hour=3, minute=0, second=0, microsecond=0) - timedelta(days=1))
    day.write(0)
    url = start_server(home, tmp_path).url
    specs = [
        SourceSpec(source_id=f"load-{s}", url=f"{url}/feeds/{s}.rss", name=f"{s.capitalize()} News")
        for s in day.SOURCES
    ]
    stories = 0
    sources = register(stack, specs)
    killed_in, refused_in = 1, 2
    begun = utc_now()
    for round_ in range(ROUNDS):
        stories += day.write(round_)
        sources = registry(stack).get_many(sources)
        if round_ == refused_in:
            refuse_announcements(stack, refuse=True)
        if round_ == killed_in:
            # One feed answers late, so that the function is still at work when the others are stored.
            stage(url, {"path": "/feeds/cedar.rss", "times": 1, "delay": 5})
        stack.invoke("dispatch_sources", {"source_ids": list(sources)})
        if round_ == killed_in:
            wait_until_more_than(stack, day, stories - 7 * (3 * ENTRIES // 10) + 5)
            assert stack.kill_function_workers("fetch_sources")
            assert len(articles_of(stack, sources)) < stories, "it was killed too late to prove anything"
            stack.invoke("dispatch_sources", {"source_ids": list(sources)})
        if round_ == refused_in:
            wait_until(
                lambda: any("AnnouncementRefused" in line for line in stack.logs("fetch_sources")),
                60,
                "SNS to refuse",
                interval=0.5,
            )
            refuse_announcements(stack, refuse=False)
            # Of the round before, a feed may count twice: committed just before the kill, and asked again.
            now = registry(stack).get_many(sources)
            assert {s: now[s].fetch_count for s in now} == {s: sources[s].fetch_count for s in sources}
            stack.invoke("dispatch_sources", {"source_ids": list(sources)})
        wait_for_fetches(stack, sources, timeout=240)
    fetched = (utc_now() - begun).total_seconds()
    items = articles_of(stack, sources)
    reported = sum(len(item["source_attribution"]["M"]) for item in items)
    wanted = ROUNDS * 3 * ENTRIES
    LOG.info("%d told, %d stored and analyzed in %.0f s", reported, len(items), fetched)
    assert reported == wanted, "nothing is lost and nothing is made twice"
    assert len(items) == stories
    assert (reported - len(items)) / reported == pytest.approx(0.3, abs=0.001)
    assert statuses(items) == {"analyzed"}
    assert not keys_by_status(stack, "error")
    after = registry(stack).get_many(sources)
    assert sum(source.created_total for source in after.values()) <= stories
    rates = [
        float(item["metrics"]["M"]["collision_rate"]["N"])
        for item in everything(stack).values()
        if item["entity_type"]["S"] == "IngestionBatch"
        and "load-alder" in json.dumps(item["sources_queried"])
    ]
    undisturbed = sorted(rates)[len(rates) // 2]
    assert 0.05 <= undisturbed <= 0.40
    group_now(stack, timeout=300)
    LOG.info("grouped after %.0f s; collision rate %s", (utc_now() - begun).total_seconds(), undisturbed)
