"""What the jobs cost: DynamoDB units, requests and CPU of fixed workloads, and dollars per million.

    .venv/bin/python bench/capacity.py [--articles 1000]

The project's own code runs against the table of the synthesized template on the embedded cloud, which reports
consumed capacity with the indexes' share; feeds come from a server on loopback. Only requests of the table,
the topic and the bus are counted, each as AWS bills it; what SQS and EventBridge cost to bring a message is
added by the arithmetic of docs/cost.md. A condition that fails is billed like the write that it prevented,
which the embedded cloud does not report: it is counted as one unit. CPU is of this machine, in this process.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import boto3.session
from boto3.dynamodb.conditions import Key

from sourcebook.articles.adapters.feed import FeedAdapter
from sourcebook.articles.adapters.intake import Intake
from sourcebook.articles.analysis import Analyzer
from sourcebook.articles.announce import Announcer
from sourcebook.articles.bus import EventBus
from sourcebook.articles.grouping.grouper import Grouper
from sourcebook.articles.grouping.log import GroupingLog
from sourcebook.articles.ingest import ArticleStore
from sourcebook.events import SourceDue
from sourcebook.feeds.settings import FeedSettings
from sourcebook.http import HttpClient
from sourcebook.sentiment.engines.loading import load_engine
from sourcebook.sentiment.read import SentimentReader
from sourcebook.sentiment.refresh import Refresher
from sourcebook.sentiment.subjects import Subject, SubjectRegistry
from sourcebook.sources.model import SourceSpec
from sourcebook.sources.poll import Poller
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table, aws_config
from sourcebook_local.cloud import LocalCloud
from sourcebook_local.folder import start_server, stop_servers
from sourcebook_local.project import HOME
from tests.templates import table_definition

READS: Final = frozenset({"GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"})
PRICES: Final = {"write units": 0.625, "read units": 0.125, "sns requests": 0.50, "events": 1.00}
"""Dollars per million, us-east-1, on demand."""
FEEDS: Final = 10
SUBJECT: Final = "harborline"


@dataclass
class Meter:
    """Counts what the clients of one session are billed for."""

    units: Counter[str] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    _asked: threading.local = field(default_factory=threading.local)
    """What the request asked that is under way in a thread."""

    def watch(self, client: Any) -> Any:  # noqa: ANN401 - clients have no common type
        """Count the requests of a client, and return it."""
        events = client.meta.events
        events.register("provide-client-params.dynamodb", self._ask)
        events.register(f"after-call.{client.meta.service_model.service_id.hyphenize()}", self._note)
        return client

    def _ask(self, params: dict[str, Any], model: Any, **_: object) -> dict[str, Any]:  # noqa: ANN401
        asked = self._asked
        asked.statements = params.get("Statements", ())
        gets = next(iter(params.get("RequestItems", {"": {}}).values()))
        asked.keys = len(gets.get("Keys", ())) if isinstance(gets, dict) else 0
        asked.unit = 1.0 if asked.keys and gets.get("ConsistentRead") else 0.5
        if "ReturnConsumedCapacity" in model.input_shape.members:
            return {**params, "ReturnConsumedCapacity": "TOTAL"}
        return params

    def _note(self, parsed: Mapping[str, Any], model: Any, **_: object) -> None:  # noqa: ANN401
        self.requests[f"{model.service_model.service_id} {model.name}"] += 1
        if model.service_model.service_id != "DynamoDB":
            return
        kind = "read units" if model.name in READS else "write units"
        if model.name == "BatchExecuteStatement":
            # Of PartiQL the embedded cloud reports too little: neither sizes nor indexes.
            self.units[kind] += sum(map(units_of_statement, self._asked.statements))
            return
        if model.name == "BatchGetItem":
            # A key without an item is billed as the smallest item, which the embedded cloud leaves out.
            absent = self._asked.keys - sum(map(len, parsed.get("Responses", {}).values()))
            self.units[kind] += absent * self._asked.unit
        consumed = parsed.get("ConsumedCapacity", ())
        for one in [consumed] if isinstance(consumed, dict) else consumed:
            self.units[kind] += one.get("CapacityUnits", 0)
        if parsed.get("Error", {}).get("Code") == "ConditionalCheckFailedException":
            self.units[kind] += 1


def units_of_statement(statement: Mapping[str, Any]) -> int:
    """Return the write units of an INSERT: of the item, and of each index that it enters.

    An UPDATE is taken for one of a source's state, below a kilobyte: one unit, and two to move in the
    index of what is due.

    One unit a kilobyte begun; an item's size is that of its names and values (the developer guide's "item
    sizes"). One that meets a taken key is billed as if it were written, so this is also right for those.
    """
    if statement["Statement"].startswith("UPDATE"):
        return 1 + 2 * ('"GSI1SK" = ?' in statement["Statement"])
    names = re.findall(r"'([^']+)': \?", statement["Statement"])
    values = dict(zip(names, statement["Parameters"], strict=True))
    whole = -(-sum(len(name) + _size(value) for name, value in values.items()) // 1024)
    inside = {"status": 1, "sentiment": whole, "tag": whole}
    entered = [units for name, units in inside.items() if {name, "timestamp"} <= values.keys()]
    return whole + sum(entered) + ("GSI1PK" in values)


def _size(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "M":
            return 3 + sum(1 + len(name) + _size(inner) for name, inner in content.items())
        case "L":
            return 3 + sum(1 + _size(inner) for inner in content)
        case "S":
            return len(content.encode())
        case "N":
            return len(content) // 2 + 2
        case "B":
            return len(content)
        case _:
            return 1


@dataclass(frozen=True)
class Cost:
    """What one workload has used.

    Attributes:
        count: articles, polls or reads that it was for; the properties are for one of them.
    """

    name: str
    count: int
    units: Mapping[str, float]
    requests: Mapping[str, int]
    cpu_seconds: float

    @property
    def writes(self) -> float:
        """Write units for one."""
        return self.units.get("write units", 0) / self.count

    @property
    def reads(self) -> float:
        """Read units for one."""
        return self.units.get("read units", 0) / self.count

    @property
    def calls(self) -> float:
        """Requests for one, of whatever service."""
        return sum(self.requests.values()) / self.count

    @property
    def dollars(self) -> float:
        """Dollars for a million of them, without Lambda."""
        sns = sum(n for name, n in self.requests.items() if name.startswith("SNS")) / self.count
        events = sum(n for name, n in self.requests.items() if name.startswith("EventBridge")) / self.count
        parts = {"write units": self.writes, "read units": self.reads, "sns requests": sns, "events": events}
        return sum(PRICES[name] * amount for name, amount in parts.items())


class Workloads:
    """The fixed workloads, on an empty table.

    Args:
        session: of the embedded cloud.
        definition: arguments of ``create_table``.
        folder: an empty folder, whose files `url` serves under ``/feeds/``.
        url: a folder server's address.
        articles: entries of all feeds together, a multiple of `FEEDS`.
    """

    def __init__(
        self,
        session: boto3.session.Session,
        definition: Mapping[str, Any],
        folder: Path,
        url: str,
        articles: int,
    ) -> None:
        self._folder, self._url, self._articles = folder, url, articles
        self._meter = Meter()
        config = aws_config()
        dynamodb = session.client("dynamodb", config=config)
        dynamodb.create_table(**definition)
        self.table = Table(definition["TableName"], self._meter.watch(dynamodb))
        sns = session.client("sns", config=config)
        events = session.client("events", config=config)
        topic = sns.create_topic(Name="capacity")["TopicArn"]
        events.create_event_bus(Name="capacity")
        self._announcer = Announcer(self._meter.watch(sns), topic)
        self._bus = EventBus(self._meter.watch(events), "capacity")
        self._store = ArticleStore(self.table)
        self._analyzer = Analyzer.of(self.table, load_engine().engine)
        self._now = datetime.now(UTC)
        SubjectRegistry(self.table).register([Subject(SUBJECT, "Harborline")])

    def run(self) -> Iterator[Cost]:
        """Run them in their order, each upon what the one before has left."""
        first, second = self._feeds("alder"), self._feeds("birch")
        self._write("alder", edition=1)
        yield self._measure("new article: fetched and stored", self._articles, lambda: self._poll(first))
        pending = self._pending()
        assert len(pending) == self._articles
        yield self._measure(
            "new article: analysed, one mention",
            self._articles,
            lambda: [self._analyzer.analyze(pending[at : at + 50]) for at in range(0, len(pending), 50)],
        )
        yield self._measure(
            "new article: looked at for grouping",
            self._articles,
            lambda: Grouper(self.table, GroupingLog(self.table), self._bus).run("capacity"),
        )
        yield self._measure("unchanged poll (304)", FEEDS, lambda: self._poll(first))
        self._write("alder", edition=2)
        yield self._measure("re-seen entry of a changed document", self._articles, lambda: self._poll(first))
        self._write("birch", edition=1)
        yield self._measure("same article from another source", self._articles, lambda: self._poll(second))
        Refresher(self.table).run()
        reader = SentimentReader.of(self.table)
        yield self._measure("cached sentiment read", 1, lambda: reader.sentiment(SUBJECT, 24))

    def _feeds(self, theme: str) -> list[str]:
        registry = SourceRegistry(self.table)
        for n in range(FEEDS):
            registry.register(
                SourceSpec(source_id=f"{theme}-{n}", url=f"{self._url}/feeds/{theme}-{n}.rss", name=theme)
            )
        return [f"{theme}-{n}" for n in range(FEEDS)]

    def _write(self, theme: str, edition: int) -> None:
        each = self._articles // FEEDS
        for n in range(FEEDS):
            items = "".join(
                f"<item><title>Harborline {_words(n * each + e)} opens {_words(7 * (n * each + e))}</title>"
                f"<link>https://{theme}.example/{n}/{e}</link><guid>{theme}-{n}-{e}</guid>"
                f"<pubDate>{self._now - timedelta(minutes=1 + e % 50):%a, %d %b %Y %H:%M:%S} GMT</pubDate>"
                "<description>A sentence of ordinary length, as feeds have them.</description></item>"
                for e in range(each)
            )
            (self._folder / f"{theme}-{n}.rss").write_text(
                f'<rss version="2.0"><channel><title>{theme} {n}</title><link>https://{theme}.example/</link>'
                f"<description>Edition {edition}</description>{items}</channel></rss>"
            )

    def _poll(self, source_ids: list[str]) -> None:
        registry = SourceRegistry(self.table)
        due = [
            SourceDue(source_id=s.source_id, kind=s.kind, due_at=s.next_fetch_time)
            for s in self._sources(source_ids)
        ]
        policy = FeedSettings().http_policy(contact="", allowed_networks="127.0.0.0/8")

        async def round_() -> None:
            async with HttpClient(policy) as http:
                intake = Intake(self._store, self._announcer, "capacity", self._bus)
                report = await Poller(registry, {"feed": FeedAdapter(http, self.table, intake)}).run(due)
                assert not report.failures, report.failures
                assert len(report.polls) == len(due)
                causes = {poll.result.cause for poll in report.polls}
                assert causes <= {"ok", "not_modified", "no_new_entries"}, causes

        asyncio.run(round_())

    def _sources(self, source_ids: list[str]) -> list[Any]:
        with self._unmetered():
            return list(SourceRegistry(self.table).get_many(source_ids).values())

    def _pending(self) -> list[str]:
        with self._unmetered():
            found = self.table.query_all(Key("status").eq("pending"), index=keys.STATUS_INDEX)
            return [str(keys.dedup_key_of(item["PK"])) for item in found]

    @contextmanager
    def _unmetered(self) -> Iterator[None]:
        units, requests = self._meter.units.copy(), self._meter.requests.copy()
        yield
        self._meter.units, self._meter.requests = units, requests

    def _measure(self, name: str, count: int, work: Any) -> Cost:  # noqa: ANN401
        self._meter.units.clear()
        self._meter.requests.clear()
        begun = time.process_time()
        work()
        cpu = time.process_time() - begun
        return Cost(name, count, dict(self._meter.units), dict(self._meter.requests), cpu)


def _words(number: int) -> str:
    """Spell a number, so that headlines differ in words."""
    digits = ["nolo", "uno", "bina", "tero", "quarto", "pento", "soxi", "setti", "okto", "nona"]
    return " ".join(digits[int(d)] for d in str(number))


@contextmanager
def workloads(home: Path, articles: int, *, venv: Path) -> Iterator[Workloads]:
    """Start an embedded cloud and a feed server below `home`, for as long as the workloads need them."""
    feeds = home / "feeds"
    feeds.mkdir(parents=True)
    (feeds / "none.rss").write_text('<rss version="2.0"><channel><title>none</title></channel></rss>')
    cloud = LocalCloud(home / "cloud", venv=venv, port=0)
    cloud.start()
    try:
        server = start_server(home, feeds)
        yield Workloads(cloud.session(), table_definition("capacity"), feeds, server.url, articles)
    finally:
        stop_servers(home)
        cloud.reset()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--articles", type=int, default=1_000)
    wanted = parser.parse_args().articles
    print(f"{'for one':<40} {'writes':>8} {'reads':>8} {'requests':>9} {'$/million':>10} {'CPU ms':>8}")
    with (
        tempfile.TemporaryDirectory() as folder,
        workloads(Path(folder), wanted, venv=HOME / "cloud-venv") as fixed,
    ):
        for cost in fixed.run():
            print(
                f"{cost.name:<40} {cost.writes:8.2f} {cost.reads:8.2f} {cost.calls:9.2f} "
                f"{cost.dollars:10.2f} {1000 * cost.cpu_seconds / cost.count:8.2f}"
            )


if __name__ == "__main__":
    main()
