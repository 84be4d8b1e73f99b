"""A function that fails at any of its calls to the table: what it leaves, the next ones bring to its end.

Each call of a course of fetching, analysis and counting is made to fail in each way that DynamoDB or a kill
has. By default a few of these are drawn; SOURCEBOOK_FAULT_SEEDS draws as many more, until all were had.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from ipaddress import ip_network
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from sourcebook.articles.adapters.feed import FeedAdapter
from sourcebook.articles.adapters.intake import Intake
from sourcebook.articles.analysis import Analyzer
from sourcebook.articles.announce import Announcer
from sourcebook.articles.heal import Healer
from sourcebook.articles.ingest import ArticleStore
from sourcebook.errors import SourcebookError
from sourcebook.events import ArticleCreated, SourceDue, read_message
from sourcebook.http.client import HttpClient
from sourcebook.http.policy import HttpPolicy
from sourcebook.integrity.checks import all_checks
from sourcebook.integrity.verify import Verifier
from sourcebook.integrity.walk import pages_of
from sourcebook.records.article import status_of
from sourcebook.records.subject import Subject
from sourcebook.sentiment.engines.lexicon import LexiconEngine
from sourcebook.sentiment.refresh import Refresher
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.sources.model import SourceSpec
from sourcebook.sources.poll import Poller
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table, TableForbidden
from tests.faulty_client import FAULTS, Crash, FaultyClient
from tests.incoming import NOON, incoming
from tests.integration.sources.site import Page, Site, serve_site
from tests.moto_table import MotoTable
from tests.templates import table_definition

SEED = int(os.environ.get("SOURCEBOOK_FAULT_SEED", "1"))
DRAWN = 8 * int(os.environ.get("SOURCEBOOK_FAULT_SEEDS", "1"))
LOOPBACK = HttpPolicy(allowed_networks=(ip_network("127.0.0.0/8"),))
SUBJECT = Subject("quartzon", "Quartzon", "tool")
HEADLINES = {
    "one": ("Quartzon delights everyone", "Marbleton is sued over fraud", "Vexor moves its office"),
    "two": ("Quartzon delights everyone", "Grommet lands on the moon"),
}


def feed(source: str) -> bytes:
    items = "".join(
        f"<item><title>{headline}</title><link>https://{source}.example/{n}</link><guid>{source}-{n}</guid>"
        f"<pubDate>{NOON - timedelta(hours=n):%a, %d %b %Y %H:%M:%S} GMT</pubDate></item>"
        for n, headline in enumerate(HEADLINES[source])
    )
    head = f"<title>{source}</title><link>https://{source}.example/</link><description>x</description>"
    return f'<rss version="2.0"><channel>{head}{items}</channel></rss>'.encode()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serve_site() as site:
        site.pages |= {f"/{source}": Page(feed(source)) for source in HEADLINES}
        yield site


@dataclass
class World:
    """The parts of the functions, wired as their handlers wire them.

    Attributes:
        now: the time, which is moved by hand.
        fault: what happens at one of the calls, counted from 1 by `calls`; None for nothing.
        wrong: how wrong the clock is that the functions look at, drawn each time that one does.
    """

    clean: Table
    site: Site
    now: datetime = NOON + timedelta(hours=1)
    fault: tuple[int, str] | None = None
    wrong: Callable[[], timedelta] = timedelta
    calls: int = 0
    table: Table = field(init=False)

    def __post_init__(self) -> None:
        client: Any = FaultyClient(self.clean.client, self._draw)
        self.table = MotoTable(self.clean.name, client, sleep=lambda _: None, shards=self.clean.shards)
        SubjectRegistry(self.clean, self.clock).register([SUBJECT])
        self.now += timedelta(minutes=2)
        for source in HEADLINES:
            SourceRegistry(self.clean, self.clock).register(
                SourceSpec(source_id=source, url=f"{self.site.url}/{source}")
            )
        sqs, sns = boto3.client("sqs"), boto3.client("sns")
        self.queue = sqs.create_queue(QueueName="articles")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=self.queue, AttributeNames=["QueueArn"])["Attributes"]
        self.topic = sns.create_topic(Name="articles")["TopicArn"]
        sns.subscribe(
            TopicArn=self.topic,
            Protocol="sqs",
            Endpoint=arn["QueueArn"],
            Attributes={"RawMessageDelivery": "true"},
        )

    def clock(self) -> datetime:
        return self.now + self.wrong()

    def _draw(self, operation: str) -> str:
        self.calls += 1
        return self.fault[1] if self.fault and self.fault[0] == self.calls else ""

    @property
    def announcer(self) -> Announcer:
        return Announcer(boto3.client("sns"), self.topic)

    def course(self) -> None:
        """Fetch, analyze and count: each as a function of its own, which may end badly."""
        for function in (self.fetch, self.analyze, self.refresh):
            with suppress(Crash, SourcebookError):
                function()

    def fetch(self) -> None:
        known = SourceRegistry(self.clean).get_many(HEADLINES)
        due = [
            SourceDue(source_id=s.source_id, kind=s.kind, due_at=s.next_fetch_time) for s in known.values()
        ]

        async def run() -> None:
            async with HttpClient(LOOPBACK, clock=self.clock) as http:
                intake = Intake(ArticleStore(self.table), self.announcer, "run")
                adapter = FeedAdapter(http, self.table, intake, self.clock)
                poller = Poller(
                    SourceRegistry(self.table, self.clock), {"feed": adapter}, self.clock, parallel=1
                )
                await poller.run(due)

        asyncio.run(run())

    def analyze(self) -> None:
        sqs = boto3.client("sqs")
        messages = sqs.receive_message(QueueUrl=self.queue, MaxNumberOfMessages=10, VisibilityTimeout=0).get(
            "Messages", []
        )
        asked = [read_message(ArticleCreated, message["Body"]).dedup_key for message in messages]
        outcomes = Analyzer.of(self.table, LexiconEngine(), self.clock, workers=1).analyze(asked)
        for message, key in zip(messages, asked, strict=True):
            if not isinstance(outcomes[key], SourcebookError):
                sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=message["ReceiptHandle"])

    def refresh(self) -> None:
        Refresher(self.table, self.clock, workers=1).run()

    def recover(self) -> None:
        """Let time go by in which nothing fails: the next polls, the healing after an hour, two refreshes."""
        self.fault, self.wrong = None, timedelta
        for _ in range(2):
            self.now += timedelta(hours=2)
            Healer(self.clean, self.announcer, self.clock).heal("healed")
            self.course()

    def result(self) -> dict[str, Any]:
        """Return what must not depend on what has failed."""
        items = [item for page in pages_of(self.clean, segments=1) for item in page]
        subject = keys.subject(SUBJECT.tool_id)["PK"]
        articles = [item for item in items if item["entity_type"] == "Article"]
        return {
            "articles": Counter(
                (
                    frozenset(
                        (s, w["url"], w["original_headline"]) for s, w in a["source_attribution"].items()
                    ),
                    status_of(a),
                    a["sentiment"],
                )
                for a in articles
            ),
            "mentions": Counter(
                (i["PK"], i["tag"], i["label"], i["timestamp"])
                for i in items
                if i["entity_type"] == "Mention"
            ),
            "hours": {
                i["SK"]: i["total_mentions"]
                for i in items
                if i["PK"] == subject and i["SK"].startswith(keys.HOUR_PREFIX) and i["total_mentions"]
            },
            "sources": {
                i["source_id"]: (i["last_cause"], i["consecutive_errors"])
                for i in items
                if i["entity_type"] == "Source"
            },
        }


@pytest.fixture
def world(table: Table, site: Site) -> World:
    return World(table, site)


@pytest.fixture(scope="module")
def plain(site: Site) -> tuple[int, dict[str, Any]]:
    """How many calls the course makes, and what it comes to when nothing fails."""
    with pytest.MonkeyPatch.context() as environment:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            environment.setenv(name, "testing")
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        from moto import mock_aws

        with mock_aws():
            definition = table_definition()
            boto3.client("dynamodb").create_table(**definition)
            world = World(MotoTable.connect(definition["TableName"]), site)
            world.course()
            calls = world.calls
            world.recover()
            return calls, world.result()


@pytest.mark.parametrize("number", range(DRAWN))
def test_whichever_call_fails_the_next_ones_bring_it_to_its_end(
    world: World, plain: tuple[int, dict[str, Any]], number: int
) -> None:
    calls, wanted = plain
    cases = [(call, fault) for call in range(1, calls + 1) for fault in FAULTS]
    random.Random(SEED).shuffle(cases)
    world.fault = cases[number % len(cases)]
    world.course()
    assert world.calls >= world.fault[0], "the call that was to fail was not made"
    world.recover()
    assert world.result() == wanted
    verifier = Verifier(world.clean, all_checks(world.clean, world.clock), patience=0)
    assert list(verifier.run()) == []


@pytest.mark.parametrize("number", range(max(3, DRAWN // 4)))
def test_a_clock_that_jumps_by_hours_changes_nothing_in_the_end(
    world: World, plain: tuple[int, dict[str, Any]], number: int
) -> None:
    _, wanted = plain
    rng = random.Random(f"clock {SEED} {number}")
    # Each look at the clock, also within one function, finds it somewhere else; never before a publication,
    # which would be dated by the clock.
    world.wrong = lambda: timedelta(hours=rng.uniform(0, 30))
    for _ in range(3):
        world.course()
    world.now += timedelta(hours=31)  # until the moments have come that a wrong clock has named
    world.recover()
    assert world.result() == wanted
    verifier = Verifier(world.clean, all_checks(world.clean, world.clock), patience=0)
    assert list(verifier.run()) == []


def test_an_outage_of_many_hours_is_waited_out_and_nothing_is_lost(
    world: World, plain: tuple[int, dict[str, Any]], site: Site
) -> None:
    _, wanted = plain
    rng = random.Random(SEED)
    begun, asked = world.now, len(site.asked)
    ways = [Page(status=500), Page(status=503), Page(status=429), Page(b"<html>Maintenance</html>")]
    served = dict(site.pages)

    def next_due() -> datetime:
        return min(
            source.next_fetch_time for source in SourceRegistry(world.clean).get_many(HEADLINES).values()
        )

    try:
        while world.now < begun + timedelta(hours=9):
            site.pages |= {path: rng.choice(ways) for path in served}
            world.course()
            world.now = next_due()
        sources = SourceRegistry(world.clean).get_many(HEADLINES)
        assert all(source.enabled and source.consecutive_errors for source in sources.values())
        asked = len(site.asked) - asked
        assert len(HEADLINES) * 9 <= asked <= len(HEADLINES) * 16, (
            "less and less often, and at least every hour"
        )
    finally:
        site.pages |= served
    world.course()  # when they are due anyway
    assert not any(s.consecutive_errors for s in SourceRegistry(world.clean).get_many(HEADLINES).values())
    world.recover()
    assert world.result() == wanted


def test_without_faults_the_table_holds_what_the_sources_report(plain: tuple[int, dict[str, Any]]) -> None:
    calls, wanted = plain
    assert calls > 30
    assert (
        len(wanted["articles"])
        == len({headline for served in HEADLINES.values() for headline in served})
        == 4
    )
    assert sum(wanted["hours"].values()) == 1
    assert {status for _, status, _ in wanted["articles"]} == {"analyzed"}
    assert wanted["sources"].keys() == HEADLINES.keys()


def test_a_word_that_may_not_be_stored_is_not_taken_for_refused(table: Table) -> None:
    ArticleStore(table).store(incoming("one"))

    class Forbidding:
        def __getattr__(self, name: str) -> Any:
            return self.refuse if name == "update_item" else getattr(table.client, name)

        def refuse(self, **_: object) -> None:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "staged"}}, "UpdateItem")

    client: Any = Forbidding()
    topic: Any = None
    intake = Intake(
        ArticleStore(MotoTable(table.name, client, shards=table.shards)), Announcer(topic, ""), "run"
    )
    with pytest.raises(TableForbidden):
        intake.take([incoming("two", crawled_minute=1)])
