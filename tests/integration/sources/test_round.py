"""A whole round: due sources are sent, fetched over real HTTP from the sample server, and stored."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network

import boto3
import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.articles.adapters.feed import FeedAdapter
from sourcebook.articles.adapters.intake import Intake
from sourcebook.articles.announce import Announcer
from sourcebook.articles.ingest import ArticleStore
from sourcebook.clock import utc_now
from sourcebook.events import ArticleCreated, FetchRequested, read_message
from sourcebook.feeds.sampling import ParserSample
from sourcebook.http.client import HttpClient
from sourcebook.http.policy import HttpPolicy
from sourcebook.sources.dispatch import DispatchCounts, Dispatcher
from sourcebook.sources.model import SourceSpec
from sourcebook.sources.poll import Poll, Poller, PollResult, PollVerdict, RoundReport
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table.client import Table
from sourcebook_local.folder import ServedFolder, start_server, stop_servers
from sourcebook_local.samples import expected, sample_sources
from tests.incoming import stored_articles

LOOPBACK = HttpPolicy(allowed_networks=(ip_network("127.0.0.0/8"),))
WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedFolder]:
    home = tmp_path_factory.mktemp("home")
    yield start_server(home)
    stop_servers(home)


class Stack:
    """The functions' parts, wired as their handlers wire them, on moto."""

    def __init__(self, table: Table) -> None:
        self.requests: Counter[str] = Counter()
        table.client.meta.events.register("before-send.dynamodb.*", self._count)
        self.table = table
        self.now = utc_now()
        self.sample: ParserSample | None = None
        self.registry = SourceRegistry(table, lambda: self.now)
        self.sqs = boto3.client("sqs")
        self.fetch_queue = self.sqs.create_queue(QueueName="fetch")["QueueUrl"]
        self.announced = self.sqs.create_queue(QueueName="announced")["QueueUrl"]
        sns = boto3.client("sns")
        topic = sns.create_topic(Name="articles")["TopicArn"]
        arn = self.sqs.get_queue_attributes(QueueUrl=self.announced, AttributeNames=["QueueArn"])[
            "Attributes"
        ]
        sns.subscribe(
            TopicArn=topic,
            Protocol="sqs",
            Endpoint=arn["QueueArn"],
            Attributes={"RawMessageDelivery": "true"},
        )
        self.announcer = Announcer(sns, topic)

    def _count(self, event_name: str, **_: object) -> None:
        self.requests[event_name.rpartition(".")[2]] += 1

    @property
    def writes(self) -> int:
        return sum(n for name, n in self.requests.items() if name in WRITES)

    def dispatch(self) -> DispatchCounts:
        return Dispatcher(self.registry, self.sqs, self.fetch_queue, lambda: self.now).send_due("run-1")

    def received(self, queue: str) -> list[str]:
        bodies: list[str] = []
        while messages := self.sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                bodies.append(message["Body"])
                self.sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
        return bodies

    def fetch(self, message: FetchRequested) -> RoundReport:
        async def run() -> RoundReport:
            async with HttpClient(LOOPBACK, clock=lambda: self.now) as http:
                store = ArticleStore(self.table)
                clock = lambda: self.now  # noqa: E731
                intake = Intake(store, self.announcer, "run-1")
                adapter = FeedAdapter(http, self.table, intake, clock, sample=self.sample)
                poller = Poller(self.registry, {"feed": adapter}, clock, parallel=1)
                return await poller.run(message.sources)

        return asyncio.run(run())

    def round(self) -> list[RoundReport]:
        self.dispatch()
        return [self.fetch(read_message(FetchRequested, body)) for body in self.received(self.fetch_queue)]


@pytest.fixture
def stack(table: Table) -> Stack:
    return Stack(table)


def register(stack: Stack, specs: list[SourceSpec]) -> None:
    for spec in specs:
        assert stack.registry.register(spec)


def test_a_first_round_stores_each_story_once_and_announces_it(stack: Stack, server: ServedFolder) -> None:
    register(stack, sample_sources(server.url))
    reports = stack.round()
    wanted = expected()
    results = [poll.result for report in reports for poll in report.polls]
    assert {r.cause for r in results} == {"ok"}
    assert sum(r.entries for r in results) == wanted.entries
    assert sum(r.created for r in results) == wanted.articles
    assert sum(r.merged for r in results) == wanted.merges
    announced = [read_message(ArticleCreated, body).dedup_key for body in stack.received(stack.announced)]
    assert sorted(announced) == sorted(item["dedup_key"] for item in stored_articles(stack.table))
    assert len(announced) == wanted.articles


def test_a_sample_of_what_the_fast_parser_reads_is_read_by_feedparser_afterwards(
    stack: Stack, server: ServedFolder
) -> None:
    register(stack, sample_sources(server.url))
    stack.sample = ParserSample(percent=100, most=100)
    entries = {p.source_id: p.result.entries for report in stack.round() for p in report.polls}
    agreements = stack.sample.compare()
    # Not among them: JSON Feed, and the damaged document that feedparser has read already.
    assert 0 < len(agreements) < len(entries)
    assert all(found.entries == entries[found.source_id] for found in agreements)
    assert [found for found in agreements if found.disagreeing] == []


def test_a_second_round_over_unchanged_feeds_costs_one_write_each_and_nothing_else(
    stack: Stack, server: ServedFolder
) -> None:
    specs = sample_sources(server.url)
    register(stack, specs)
    stack.round()
    stack.received(stack.announced)
    stack.now += timedelta(minutes=16)
    messages = []
    stack.dispatch()
    messages = [read_message(FetchRequested, body) for body in stack.received(stack.fetch_queue)]
    stack.requests.clear()
    reports = [stack.fetch(message) for message in messages]
    polls = [poll for report in reports for poll in report.polls]
    assert len(polls) == len(specs)
    assert {(p.result.verdict.value, p.result.cause) for p in polls} == {("unchanged", "not_modified")}
    assert stack.writes == len(specs)
    assert stack.received(stack.announced) == []


def test_a_message_that_comes_twice_is_harmless(stack: Stack, server: ServedFolder) -> None:
    register(stack, sample_sources(server.url)[:2])
    stack.dispatch()
    [body] = stack.received(stack.fetch_queue)
    message = read_message(FetchRequested, body)
    first = stack.fetch(message)
    assert all(poll.committed for poll in first.polls)
    stack.requests.clear()
    second = stack.fetch(message)
    assert len(second.moved_on) == 2
    assert stack.writes == 0


def test_of_two_runs_of_one_message_only_one_moves_the_source_on(stack: Stack, server: ServedFolder) -> None:
    [spec] = sample_sources(server.url)[:1]
    register(stack, [spec])
    source = stack.registry.get(spec.source_id)
    assert source is not None
    poller = Poller(stack.registry, {}, lambda: stack.now)
    unchanged = Poll(source, PollResult(PollVerdict.UNCHANGED, "not_modified"), 1)
    assert [poller.commit(unchanged), poller.commit(unchanged)] == [True, False]
    after = stack.registry.get(spec.source_id)
    assert after is not None
    assert after.fetch_count == 1


def test_one_failing_source_never_harms_the_others(stack: Stack, server: ServedFolder) -> None:
    good = sample_sources(server.url)[:2]
    missing = SourceSpec(source_id="missing", url=f"{server.url}/feeds/no-such-feed.rss")
    page = SourceSpec(source_id="page", url=f"{server.url}/")
    down = SourceSpec(source_id="down", url="http://127.0.0.1:9/feed")
    outside = SourceSpec(source_id="inside", url="http://10.0.0.1/feed")
    unknown = SourceSpec(source_id="odd", kind="telegraph", url=f"{server.url}/")
    register(stack, [*good, missing, page, down, outside, unknown])
    causes = {p.source_id: p.result.cause for report in stack.round() for p in report.polls}
    assert causes == {
        good[0].source_id: "ok",
        good[1].source_id: "ok",
        "missing": "not_found",
        "page": "html_page",
        "down": "connect",
        "inside": "blocked_address",
        "odd": "unknown_kind",
    }
    failed = stack.registry.get("missing")
    assert failed is not None
    assert (failed.consecutive_errors, failed.last_cause) == (1, "not_found")
    history = stack.table.query(Key("PK").eq("SOURCE#missing") & Key("SK").begins_with("FETCH#"))
    assert [item["cause"] for item in history.items] == ["not_found"]


def test_a_source_that_is_not_due_is_not_sent(stack: Stack, server: ServedFolder) -> None:
    register(stack, sample_sources(server.url)[:1])
    stack.round()
    assert stack.dispatch() == DispatchCounts(due=0, messages=0)


def test_a_queue_that_is_full_is_sent_no_more_and_what_is_left_is_still_due(stack: Stack) -> None:
    register(
        stack,
        [
            sample_sources(f"https://host{number}.example")[0].model_copy(
                update={"source_id": f"feed-{number}"}
            )
            for number in range(50)
        ],
    )
    dispatcher = Dispatcher(stack.registry, stack.sqs, stack.fetch_queue, lambda: stack.now, most_queued=2)
    assert dispatcher.send_due("run-1") == DispatchCounts(due=50, messages=2)
    assert dispatcher.send_due("run-2") == DispatchCounts(due=50, messages=0)
    sent = [read_message(FetchRequested, body) for body in stack.received(stack.fetch_queue)]
    assert [len(message.sources) for message in sent] == [20, 20]


def test_sources_are_postponed_when_the_time_runs_out(stack: Stack, server: ServedFolder) -> None:
    register(stack, sample_sources(server.url)[:1])
    stack.dispatch()
    [body] = stack.received(stack.fetch_queue)
    poller = Poller(stack.registry, {}, lambda: stack.now, seconds_left=lambda: 5.0)
    report = asyncio.run(poller.run(read_message(FetchRequested, body).sources))
    assert len(report.postponed) == 1
    assert stack.dispatch().due == 1


def test_asking_for_a_source_makes_it_due_at_once(stack: Stack, server: ServedFolder) -> None:
    specs = sample_sources(server.url)[:1]
    register(stack, specs)
    stack.round()
    dispatcher = Dispatcher(stack.registry, stack.sqs, stack.fetch_queue, lambda: stack.now)
    counts = dispatcher.send([specs[0].source_id, "no-such-source"], "run-2")
    assert counts == DispatchCounts(due=1, messages=1, skipped=1, not_sent=("no-such-source",))


def test_registering_again_keeps_what_was_learned_unless_the_url_changes(
    stack: Stack, server: ServedFolder
) -> None:
    [spec] = sample_sources(server.url)[:1]
    register(stack, [spec])
    stack.round()
    assert stack.registry.register(spec) is False
    known = stack.registry.get(spec.source_id)
    assert known is not None
    assert known.etag
    stack.registry.register(spec.model_copy(update={"url": f"{server.url}/feeds/moved.rss"}))
    moved = stack.registry.get(spec.source_id)
    assert moved is not None
    assert moved.etag is None
    assert moved.url.endswith("moved.rss")
    assert stack.dispatch().due == 1
