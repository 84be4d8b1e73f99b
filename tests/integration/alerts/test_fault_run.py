"""Each kind of rule fires once and only once: receiver down or slow, records twice and in any order."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import boto3
import pytest
from boto3.dynamodb.conditions import Attr
from moto.backends import get_backend
from standardwebhooks.webhooks import Webhook

from sourcebook.alerts.deliver import Delivered, Deliverer
from sourcebook.alerts.deliveries import PAUSES, DeliveryStore
from sourcebook.alerts.evaluate import Evaluator
from sourcebook.alerts.mail import Mailer
from sourcebook.alerts.rules import RuleStore, checked
from sourcebook.articles.bus import EventBus
from sourcebook.articles.model import IncomingArticle
from sourcebook.clock import isoformat
from sourcebook.events import AlertFired
from sourcebook.http.policy import HttpPolicy, parse_networks
from sourcebook.records.alert import AlertRule
from sourcebook.records.spectrum import ValidationStatus
from sourcebook.records.subject import Subject
from sourcebook.search.read import SubjectNames
from sourcebook.sentiment.cache import SentimentCache, entry
from sourcebook.sentiment.rollups import Counts
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.sources.model import parse_spec
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from tests.incoming import incoming
from tests.integration.api.test_products import Client as Spectra
from tests.integration.articles.grouping.test_flow import Bus
from tests.integration.integrity.healthy import put_run
from tests.integration.observations.world import World as Figures
from tests.integration.sentiment.conftest import World as News
from tests.served import Answered, Fault, Served, problem, served

if TYPE_CHECKING:
    from sourcebook.table.client import Table

pytestmark = pytest.mark.integration

ACCOUNT = "123456789012"
LOOPBACK = "127.0.0.0/8"
NOVA = "b6c05a41-2227-5387-8f82-9085f39c71d6"
PRODUCT = "2c7d1f4d-5b7a-4a4d-9f31-8d3b4fd0d4d9"
TARGET = ("Quay | Bank", "deposit_online", "M0006")
OTHER = ("Pier Bank", "deposit_online", "M0006")
MAILBOX = "desk@example.com"


@dataclass
class Receiver:
    """Takes webhooks, and checks each as a receiver should.

    Attributes:
        accepted: events that were answered with 200, by id, each as often as it came.
    """

    secrets: dict[str, str] = field(default_factory=dict)
    accepted: Counter[str] = field(default_factory=Counter)
    events: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answered:
        with self.lock:
            try:
                said = json.loads(body)
                secret = self.secrets[said["data"]["alert_id"]]
                assert Webhook(secret).verify(body, dict(headers)) == said
                assert method == "POST"
                assert headers["webhook-id"] == said["data"]["event_id"]
                assert said["type"] == "alert.fired"
                self.accepted[headers["webhook-id"]] += 1
                before = self.events.setdefault(headers["webhook-id"], said)
                assert before == said, "an event is told the same at every attempt"
            except Exception as error:  # noqa: BLE001 - told at the end; here it would be a reset
                self.problems.append(repr(error))
        return 200, {}, b""


@dataclass
class World:
    """Rules on a table, what evaluates and what delivers, and a clock of their own."""

    table: Table
    receiver: Receiver
    server: Served
    now: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))
    bus: Bus = field(default_factory=Bus)
    hook: str = ""

    def __post_init__(self) -> None:
        self.store = RuleStore(self.table, lambda: self.now - timedelta(days=2))
        self.deliveries = DeliveryStore(self.table, lambda: self.now)
        sns = boto3.client("sns", region_name="us-east-1")
        self.topic = sns.create_topic(Name=self.table.name)["TopicArn"]
        sqs = boto3.client("sqs", region_name="us-east-1")
        self.box = sqs.create_queue(QueueName=self.table.name)["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=self.box, AttributeNames=["QueueArn"])["Attributes"][
            "QueueArn"
        ]
        sns.subscribe(
            TopicArn=self.topic,
            Protocol="sqs",
            Endpoint=arn,
            Attributes={"FilterPolicy": json.dumps({"to": [MAILBOX]}), "RawMessageDelivery": "true"},
        )
        self.deliverer = Deliverer(
            self.store,
            self.deliveries,
            EventBus(cast("Any", self.bus), "bus", sleep=lambda _seconds: None),
            Mailer(sns, self.topic),
            HttpPolicy(allowed_networks=parse_networks(LOOPBACK), total_timeout=1.0, read_timeout=1.0),
        )
        self.subjects = SubjectNames(SubjectRegistry(self.table))

    def evaluator(self) -> Evaluator:
        """One of a process of its own."""
        return Evaluator(self.table, self.store, self.deliveries, self.subjects)

    def add(self, kind: str, *, mail: str = "", **values: Any) -> AlertRule:
        given = {"kind": kind, "webhook": f"{self.server.url}/hook", "mail": mail, **values}
        rule = self.store.add(checked(given, self.deliverer.policy, self.subjects))
        self.receiver.secrets[rule.alert_id] = rule.secret or ""
        return rule

    def records(self) -> list[Mapping[str, Any]]:
        """Return what the table's stream has; moto keeps it and does not serve it."""
        stored = get_backend("dynamodb")[ACCOUNT]["us-east-1"].tables[self.table.name].stream_shard
        assert stored is not None
        return [one.record["dynamodb"] for one in stored.items]

    def evaluate(self, records: list[Mapping[str, Any]]) -> int:
        evaluator = self.evaluator()
        evaluator.begin()
        for record in records:
            evaluator.notice(record)
        done = evaluator.run()
        assert done.left_out == {}
        return done.fired

    def deliver(self) -> Delivered:
        return asyncio.run(self.deliverer.run())

    def deliver_all(self) -> None:
        """Deliver, minute after minute, until nothing is due within a day."""
        for pause in (timedelta(0), *PAUSES):
            self.now += pause
            self.deliver()

    def mails(self) -> list[str]:
        sqs = boto3.client("sqs", region_name="us-east-1")
        found: list[str] = []
        while messages := sqs.receive_message(QueueUrl=self.box, MaxNumberOfMessages=10).get("Messages"):
            found += [message["Body"] for message in messages]
        return found

    def fired(self) -> list[AlertFired]:
        return [AlertFired.model_validate_json(entry["Detail"]) for entry in self.bus.sent]


@pytest.fixture
def world(table: Table) -> Iterator[World]:
    receiver = Receiver()
    with served(receiver.answer) as server:
        yield World(table, receiver, server)


def everything_happens(world: World) -> dict[str, AlertRule]:
    """Make a rule of each kind and let each happen once, with much besides that is asked for by none."""
    table, start = world.table, world.now - timedelta(hours=30)
    news = News(table, now=start)
    rules = {
        "article": world.add("article", q='"lunar lander" OR ferry -strike', mail=MAILBOX),
        "sentiment": world.add("sentiment", subject="Marbleton", change=0.5, mentions=2),
        "rate": world.add("rate", series_code="deposit_online", bank_name="Quay | Bank", change_pct=0.2),
        "best_rate": world.add("best_rate", series_code="deposit_online", term="6M"),
        "source": world.add("source", source_id="wire", errors=3),
        "spectrum": world.add("spectrum", verdict="QUARANTINED"),
        "run": world.add("run", workflow_name="ingest_new_nova"),
    }
    published = news.now - timedelta(minutes=30)
    for number, headline in enumerate(
        ("Orbita wins lunar lander contract", "A ferry strike goes on", "Quartzon ships a faster release")
    ):
        for source in ("wire", "harbor"):
            news.report(_seen_now(news, source, f"{number}", headline, published))
    news.analyze()
    news.report(_seen_now(news, "ledger", "9", "Orbita wins lunar lander contract", published))
    news.analyze()
    _sentiment_moves(news)
    _rates_move(table, world.now)
    _source_fails(world)
    _spectrum_is_judged(table, world.now)
    key = put_run(table, NOVA, "run-1", "RUNNING", world.now)
    table.change(key, assign={"status": "FAILED", "error_type": "Terminal", "ended_at": isoformat(world.now)})
    table.change(key, assign={"error_message": "it is still failed"})
    put_run(table, NOVA, "run-2", "SUCCEEDED", world.now)
    return rules


def _seen_now(
    news: News, source: str, article_id: str, headline: str, published: datetime
) -> IncomingArticle:
    """Return a report that was crawled now: one from the future would be held to the time of its crawl."""
    return incoming(source, article_id, headline=headline, published_at=published, crawled_at=news.now)


def _sentiment_moves(news: News) -> None:
    def report(number: int, headline: str) -> None:
        news.report(_seen_now(news, "wire", f"m{number}", headline, news.now - timedelta(minutes=5)))

    for number in range(3):
        report(number, f"Marbleton shares surge after a great, excellent quarter {number}")
    news.analyze()
    for _ in range(2):  # the second finds the marks settled: a first look, and the figure to compare with
        news.wait(minutes=20)
        news.refresh()
    for number in range(3, 12):
        report(number, f"Marbleton shares crash after a terrible, disastrous loss {number}")
    news.analyze()
    for _ in range(3):
        news.wait(minutes=20)
        news.refresh()


def _rates_move(table: Table, now: datetime) -> None:
    figures = Figures(table)
    figures.declare("rates", 1)
    for hours, quay, pier in ((30, 4.0, 4.4), (20, 4.0, 4.4), (10, 4.1, 4.4), (2, 4.5, 4.4)):
        figures.scrape("rates", now - timedelta(hours=hours), {TARGET: quay, OTHER: pier})
    figures.sql.close()


def _source_fails(world: World) -> None:
    registry = SourceRegistry(world.table, lambda: world.now - timedelta(days=1))
    for source_id in ("wire", "harbor"):
        registry.register(
            parse_spec({"source_id": source_id, "kind": "feed", "url": f"https://{source_id}.example/f"})
        )
    for errors in range(1, 6):
        for source_id in ("wire", "harbor"):
            world.table.change(
                keys.source(source_id),
                assign={
                    "consecutive_errors": errors,
                    "last_fetch_at": isoformat(world.now),
                    "last_error": "x",
                },
            )


def _spectrum_is_judged(table: Table, now: datetime) -> None:
    client = Spectra(cast("Any", None), table, cast("Any", None), NOVA)
    for number, verdict in ((1, ValidationStatus.QUARANTINED), (2, ValidationStatus.VALID)):
        product_id = client.spectrum(number)
        key = keys.spectrum(NOVA, "ESO", product_id)
        for status in (ValidationStatus.UNVALIDATED, verdict):
            table.change(key, assign={"validation_status": status.value, "updated_at": isoformat(now)})


@pytest.mark.parametrize("seed", range(3))
def test_each_kind_fires_once_and_only_once_through_faults(world: World, seed: int) -> None:
    draw = random.Random(seed)
    rules = everything_happens(world)
    records = world.records()
    assert len(records) > 40
    expected = {rule.alert_id: kind for kind, rule in rules.items()}
    # Read in order first, cut short and read again from an earlier place; then twice and in any order.
    cut = draw.randrange(len(records))
    world.evaluate(records[:cut])
    world.evaluate(records[max(0, cut - 20) :])
    shuffled = [record for record in records * 2 if draw.random() < 0.8]
    draw.shuffle(shuffled)
    for begin in range(0, len(shuffled), 25):
        world.evaluate(shuffled[begin : begin + 25])

    faults = [
        Fault("reset"),
        Fault("done"),
        problem(500),
        problem(503, retry_after="1"),
        Fault("drip"),
        Fault("cut"),
        Fault("answer", 302, {"location": "http://127.0.0.1:9/"}),
    ]
    world.server.faults.extend(draw.choices(faults, k=12))
    world.deliver_all()

    assert world.receiver.problems == []
    fired = Counter(event["data"]["alert_id"] for event in world.receiver.events.values())
    assert {expected[one]: count for one, count in fired.items()} == dict.fromkeys(rules, 1)
    fired = Counter(event.alert_id for event in world.fired())
    assert {expected[one]: count for one, count in fired.items()} == dict.fromkeys(rules, 1)
    assert {event.kind for event in world.fired()} == set(rules)
    (mail,) = world.mails()
    assert "lunar lander" in mail
    for rule in rules.values():
        (one,) = world.deliveries.log(rule.alert_id)
        assert (one.state, one.todo) == ("DELIVERED", ())
    assert world.deliverer.deliveries.due(10) == []
    facts = {event.kind: event.facts for event in world.fired()}
    assert facts["rate"]["rate_pct"] == 4.5
    assert facts["best_rate"]["best_before_pct"] == 4.4
    assert facts["source"]["errors"] == 3
    assert facts["spectrum"]["verdict"] == "QUARANTINED"
    assert facts["run"]["job_run_id"] == "run-1"
    assert (
        float(str(facts["sentiment"]["average_before"]))
        > 0
        > float(str(facts["sentiment"]["average_sentiment"]))
    )


def test_a_receiver_that_stays_down_is_given_up_after_a_day(world: World) -> None:
    rule = world.add("run", mail=MAILBOX)
    put_run(world.table, NOVA, "run-1", "FAILED", world.now)
    world.evaluate(world.records())
    started = world.now
    world.server.faults.extend([problem(500)] * 50)
    world.deliver_all()
    (one,) = world.deliveries.log(rule.alert_id)
    assert (one.state, one.attempts, one.todo) == ("GIVEN_UP", len(PAUSES) + 1, ("webhook",))
    assert "500" in str(one.last_error)
    assert timedelta(hours=23) < world.now - started < timedelta(hours=25)
    assert len(world.mails()) == len(world.fired()) == 1, "the other ways are tried once"
    world.now += timedelta(days=2)
    assert world.deliver() == Delivered()


def test_a_receiver_that_is_gone_is_not_asked_again(world: World) -> None:
    rule = world.add("run")
    put_run(world.table, NOVA, "run-1", "FAILED", world.now)
    world.evaluate(world.records())
    world.server.faults.append(problem(410))
    assert world.deliver().given_up == 1
    (one,) = world.deliveries.log(rule.alert_id)
    assert (one.state, one.attempts) == ("GIVEN_UP", 1)


def test_a_rule_that_changes_in_between(world: World) -> None:
    removed, moved = world.add("run", name="removed"), world.add("run", name="moved")
    put_run(world.table, NOVA, "run-1", "FAILED", world.now)
    records = world.records()
    world.evaluate(records)
    world.server.faults.extend([problem(500)] * 2)
    assert world.deliver().again == 2
    assert world.store.remove(removed.alert_id)
    world.table.change(
        keys.alert_rule(moved.alert_id),
        assign={"webhook": f"{world.server.url}/elsewhere"},
        condition=Attr("PK").exists(),
    )
    world.now += timedelta(minutes=2)
    done = world.deliver()
    assert (done.delivered, done.cancelled) == (1, 1)
    assert world.server.paths[-1] == "/elsewhere"
    (one,) = world.deliveries.log(removed.alert_id)
    assert (one.state, one.last_error) == ("CANCELLED", "the rule was removed")
    # Whoever reads the stream again knows the rule no more, and a new rule is told of what is new alone.
    world.store = RuleStore(world.table, lambda: world.now)
    late = world.add("run", name="late")
    assert world.evaluate(records) == 0
    assert world.deliveries.log(late.alert_id) == []


def test_a_private_address_is_refused_at_each_delivery_too(world: World) -> None:
    rule = world.add("run")
    put_run(world.table, NOVA, "run-1", "FAILED", world.now)
    world.evaluate(world.records())
    # The deployment allows no networks: the same address is refused now.
    strict = Deliverer(
        world.store, world.deliveries, world.deliverer.bus, world.deliverer.mailer, HttpPolicy()
    )
    assert asyncio.run(strict.run()).given_up == 1
    (one,) = world.deliveries.log(rule.alert_id)
    assert "blocked" in str(one.last_error)
    assert world.server.seen == []


def test_two_runs_at_once_deliver_once(world: World) -> None:
    world.add("run")
    put_run(world.table, NOVA, "run-1", "FAILED", world.now)
    world.evaluate(world.records())
    due = world.deliveries.due(10)
    assert len(due) == 1
    assert world.deliveries.claim(due[0])
    assert not world.deliveries.claim(due[0]), "the other run has it in hand"
    assert world.deliver() == Delivered(), "and until it must have ended nobody tries"
    world.now += timedelta(minutes=2)
    assert world.deliver().delivered == 1, "a run that died loses nothing"
    assert sum(world.receiver.accepted.values()) == 1


def test_a_sentiment_that_moves_by_just_as_much_as_is_asked_fires(world: World) -> None:
    SubjectRegistry(world.table).register([Subject("m", "Marbleton")])
    rule = world.add("sentiment", subject="m", change=0.3, mentions=5)
    # As binary fractions 0.7 and 0.4 are less than 0.3 apart.
    for minute, (average, mentions) in enumerate(
        [(0.4, 5), (0.69, 9), (0.1, 4), (0.7, 6), (0.41, 6), (0.4, 6)]
    ):
        at = world.now + timedelta(minutes=minute)
        counts = Counts(positive=mentions, polarity=round(average * mentions * 1_000_000))
        SentimentCache(world.table).put(entry("m", "HOUR_24", counts, at))
    assert world.evaluate(world.records()) == 2
    fired = [json.loads(one.payload)["facts"] for one in world.deliveries.log(rule.alert_id)]
    assert {(one["average_before"], one["average_sentiment"]) for one in fired} == {(0.4, 0.7), (0.7, 0.4)}
