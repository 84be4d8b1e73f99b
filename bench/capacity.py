"""What the jobs cost: DynamoDB units, requests and CPU of fixed workloads, and dollars per million.

    .venv/bin/python -m bench.capacity [--articles 1000] [--json FILE]

The project's own code runs against the table of the synthesized template on the embedded cloud, which reports
consumed capacity with the indexes' share; feeds come from a server on loopback. Only requests of the table,
the topic and the bus are counted, each as AWS bills it; what SQS and EventBridge cost to bring a message is
added by the arithmetic of bench/scale.py. What the embedded cloud does not report is reckoned by AWS's rules:
a condition that fails is billed like the write that it prevented, and is counted as one unit; what PartiQL
has written is compared with what was there before. CPU is of this machine, in this process, without that of
counting.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeAlias

import boto3.session
from botocore.exceptions import ClientError

from bench.figures import Figure, save
from sourcebook.articles.adapters.feed import FeedAdapter
from sourcebook.articles.adapters.intake import Intake
from sourcebook.articles.analysis import Analyzer
from sourcebook.articles.announce import Announcer
from sourcebook.articles.bus import EventBus
from sourcebook.articles.grouping.grouper import Grouper
from sourcebook.articles.grouping.log import GroupingLog
from sourcebook.articles.ingest import ArticleStore
from sourcebook.articles.read import ArticleFilter, ArticleReader
from sourcebook.direct import with_direct_calls
from sourcebook.events import SourceDue
from sourcebook.feeds.settings import FeedSettings
from sourcebook.http.client import HttpClient
from sourcebook.records.article import Article
from sourcebook.records.subject import Subject
from sourcebook.sentiment.engines.loading import load_engine
from sourcebook.sentiment.read import SentimentReader
from sourcebook.sentiment.refresh import Refresher
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.sources.model import SourceSpec
from sourcebook.sources.poll import Poller
from sourcebook.sources.registry import SourceRegistry
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
StoredItem: TypeAlias = Mapping[str, Mapping[str, Any]]
"""An item as DynamoDB's client has it: attributes with their types."""


class Meter:
    """Counts what clients are billed for, and the CPU that counting takes.

    Args:
        definition: arguments of ``create_table``.
        client: one of DynamoDB that is not counted.
    """

    def __init__(self, definition: Mapping[str, Any], client: Any) -> None:  # noqa: ANN401 - no common type
        self.units: defaultdict[str, float] = defaultdict(float)
        self.requests: Counter[str] = Counter()
        self.own_cpu = 0.0
        self._definition = definition
        self._client = client
        self._lock = threading.Lock()

    def watch(self, client: Any) -> Any:  # noqa: ANN401
        """Return what stands for a client and counts its requests."""
        return _Metered(client, self)

    def call(self, service: str, operation: str, request: dict[str, Any], method: Any) -> Any:  # noqa: ANN401
        """Make a request and count it."""
        with self._lock:
            self.requests[f"{service} {operation}"] += 1
        if operation == "BatchExecuteStatement":
            with self._aside():
                before = self._items(request)
            answer = method(**request)
            with self._aside():
                self._add("write units", self._units_of_statements(before, self._items(request)))
            return answer
        if service != "DynamoDB":
            return method(**request)
        kind = "read units" if operation in READS else "write units"
        try:
            answer = method(**request, ReturnConsumedCapacity="TOTAL")
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                self._add(kind, 1)
            raise
        with self._aside():
            consumed = answer.get("ConsumedCapacity", ())
            billed = [consumed] if isinstance(consumed, dict) else consumed
            units = sum(one.get("CapacityUnits", 0) for one in billed)
            if operation == "BatchGetItem":
                units = units_of_batch_get(request, answer)
            if operation == "Query":
                units = max(units, units_of_query(request, answer))
            self._add(kind, units)
        return answer

    def _add(self, kind: str, units: float) -> None:
        with self._lock:
            self.units[kind] += units

    @contextmanager
    def _aside(self) -> Iterator[None]:
        begun = time.thread_time()
        yield
        with self._lock:
            self.own_cpu += time.thread_time() - begun

    def _items(self, request: Mapping[str, Any]) -> list[StoredItem]:
        """Return what the table holds under the keys of PartiQL statements."""
        wanted = [key_of_statement(statement) for statement in request["Statements"]]
        different = {(key["PK"]["S"], key["SK"]["S"]): key for key in wanted}
        name = self._definition["TableName"]
        asked = {name: {"Keys": list(different.values()), "ConsistentRead": True}}
        found = self._client.batch_get_item(RequestItems=asked)["Responses"][name]
        by_key = {(item["PK"]["S"], item["SK"]["S"]): item for item in found}
        return [by_key.get((key["PK"]["S"], key["SK"]["S"]), {}) for key in wanted]

    def _units_of_statements(self, before: Sequence[StoredItem], after: Sequence[StoredItem]) -> int:
        indexes = self._definition["GlobalSecondaryIndexes"]
        return sum(units_of_write(old, new, indexes) for old, new in zip(before, after, strict=True))


class _Metered:
    """Stands for a client."""

    def __init__(self, client: Any, meter: Meter) -> None:  # noqa: ANN401
        self._client = client
        self._meter = meter

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        method = getattr(self._client, name)
        operation = self._client.meta.method_to_api_mapping.get(name)
        if operation is None:
            return method
        service = self._client.meta.service_model.service_id
        return lambda **request: self._meter.call(service, operation, request, method)


def key_of_statement(statement: Mapping[str, Any]) -> StoredItem:
    """Return the key that a PartiQL INSERT or UPDATE is about."""
    text, parameters = statement["Statement"], statement["Parameters"]
    if text.startswith("UPDATE"):
        where = text.partition(" WHERE ")[2]
        names = re.findall(r'"([^"]+)" = \?', where.partition(" BETWEEN ")[0])
        parameters = parameters[len(parameters) - where.count("?") :]
    else:
        names = re.findall(r"'([^']+)'\s*: \?", text)
    given = dict(zip(names, parameters, strict=False))
    return {name: given[name] for name in ("PK", "SK")}


def units_of_batch_get(request: Mapping[str, Any], answer: Mapping[str, Any]) -> float:
    """Return what DynamoDB bills for one, of which the embedded cloud reports nothing.

    One unit for each four kilobytes begun of an item, half of that if it need not be the newest version; a
    key without an item is billed as the smallest. Exact also for parts of items up to four kilobytes.
    """
    ((name, asked),) = request["RequestItems"].items()
    found = answer["Responses"].get(name, ())
    units = sum(max(1, -(-kilobytes(item) // 4)) for item in found) + len(asked["Keys"]) - len(found)
    return units * (1.0 if asked.get("ConsistentRead") else 0.5)


def units_of_query(request: Mapping[str, Any], answer: Mapping[str, Any]) -> float:
    """Return what DynamoDB bills for what a query has read; the embedded cloud leaves out its size.

    One unit for each four kilobytes begun of all that was read, or half of that, as above. Too little if the
    query says which attributes it wants.
    """
    read = sum(map(bytes_of, answer.get("Items", ())))
    return max(1, -(-read // 4096)) * (1.0 if request.get("ConsistentRead") else 0.5)


def units_of_write(before: StoredItem, after: StoredItem, indexes: Sequence[Mapping[str, Any]]) -> int:
    """Return what DynamoDB bills for a write, by the developer guide's rules on items and on indexes.

    One unit for each kilobyte begun of the larger of both versions; also when a condition has kept the item
    as it was. And in each index: one entry written or removed, both if its key changes, none if nothing
    changes that the index holds.

    Args:
        before: the item as DynamoDB has it, empty if there is none.
        after: the same, after the write.
        indexes: as in the table's definition.
    """
    units = max(kilobytes(before), kilobytes(after), 1)
    for index in indexes:
        old, new = (_entry(item, index) for item in (before, after))
        if old == new:
            continue
        keys_of = [tuple(entry[1][name] for name in entry[0]) if entry else None for entry in (old, new)]
        sizes = [kilobytes(entry[1]) if entry else 0 for entry in (old, new)]
        units += max(sizes) if keys_of[0] == keys_of[1] else sum(sizes)
    return units


def _entry(item: StoredItem, index: Mapping[str, Any]) -> tuple[list[str], StoredItem] | None:
    """Return the names of an index's key and what it holds of an item; None if the item is not in it."""
    own = [part["AttributeName"] for part in index["KeySchema"]]
    if not all(name in item for name in own):
        return None
    projection = index["Projection"]
    held = {*own, "PK", "SK", *projection.get("NonKeyAttributes", ())}
    whole = projection["ProjectionType"] == "ALL"
    return own, {name: value for name, value in item.items() if whole or name in held}


def kilobytes(item: StoredItem) -> int:
    """Return the kilobytes begun of an item."""
    return -(-bytes_of(item) // 1024)


def bytes_of(item: StoredItem) -> int:
    """Return the bytes of an item's names and values."""
    return sum(len(name.encode()) + _size(value) for name, value in item.items())


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
        config = aws_config()
        dynamodb = session.client("dynamodb", config=config)
        dynamodb.create_table(**definition)
        self._meter = Meter(definition, dynamodb)
        # As Table.of makes it.
        unchecked = session.client("dynamodb", config=aws_config(parameter_validation=False))
        self.table = Table(definition["TableName"], self._meter.watch(with_direct_calls(unchecked, session)))
        sns = session.client("sns", config=config)
        events = session.client("events", config=config)
        topic = sns.create_topic(Name="capacity")["TopicArn"]
        events.create_event_bus(Name="capacity")
        self._announcer = Announcer(self._meter.watch(with_direct_calls(sns, session)), topic)
        self._bus = EventBus(self._meter.watch(with_direct_calls(events, session)), "capacity")
        self._store = ArticleStore(self.table)
        self._analyzer = Analyzer.of(self.table, load_engine().engine)
        begun = datetime.now(UTC)
        # At noon: near midnight an article's keys of the day beside are read too, and a feed moves in the
        # index once a day. Neither is to depend on when this runs.
        self._behind = begun - begun.replace(hour=12, minute=0, second=0, microsecond=0)
        self._now = self._clock()
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
        neutral, articles = ArticleFilter(sentiment="neutral"), ArticleReader(self.table)
        yield self._measure("list of 20 articles by sentiment", 1, lambda: articles.page(neutral, limit=20))

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

    def _clock(self) -> datetime:
        return datetime.now(UTC) - self._behind

    def _poll(self, source_ids: list[str]) -> None:
        registry = SourceRegistry(self.table, self._clock)
        due = [
            SourceDue(source_id=s.source_id, kind=s.kind, due_at=s.next_fetch_time)
            for s in self._sources(source_ids)
        ]
        policy = FeedSettings().http_policy(contact="", allowed_networks="127.0.0.0/8")

        async def round_() -> None:
            async with HttpClient(policy) as http:
                intake = Intake(self._store, self._announcer, "capacity", self._bus)
                adapter = FeedAdapter(http, self.table, intake, self._clock)
                report = await Poller(registry, {"feed": adapter}, self._clock).run(due)
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
            found = self.table.scan_all()
            return [item["dedup_key"] for item in found if item.get("entity_type") == Article.__name__]

    @contextmanager
    def _unmetered(self) -> Iterator[None]:
        units, requests = self._meter.units.copy(), self._meter.requests.copy()
        yield
        self._meter.units, self._meter.requests = units, requests

    def _measure(self, name: str, count: int, work: Any) -> Cost:  # noqa: ANN401
        self._meter.units.clear()
        self._meter.requests.clear()
        self._meter.own_cpu = 0.0
        begun = time.process_time()
        work()
        cpu = time.process_time() - begun - self._meter.own_cpu
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


WORKLOADS: Final = {
    "store": "new article: fetched and stored",
    "analyze": "new article: analysed, one mention",
    "group": "new article: looked at for grouping",
    "poll": "unchanged poll (304)",
    "seen": "re-seen entry of a changed document",
    "merge": "same article from another source",
    "read": "cached sentiment read",
    "list": "list of 20 articles by sentiment",
}
"""Workloads by their names in service_times.json."""


def figures_of(costs: Mapping[str, Cost]) -> list[Figure]:
    """Return how the workloads stand to the goals of docs/table.md."""

    def units(what: str, value: float, most: float | None = None, kind: str = "write") -> Figure:
        return Figure(what, value, f"{kind} units", at_most=most)

    found = {name: costs[workload] for name, workload in WORKLOADS.items()}
    new = found["store"].writes + found["analyze"].writes
    return [
        units("new article with one mention, stored and analysed", new, 7),
        units(WORKLOADS["merge"], found["merge"].writes, 4),
        units("new article joined to an event", found["group"].writes, 2),
        units(WORKLOADS["poll"], found["poll"].writes, 2.1),
        units(WORKLOADS["read"], found["read"].reads, 0.5, "read"),
        units(WORKLOADS["list"], found["list"].reads, None, "read"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--articles", type=int, default=1_000)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    print(f"{'for one':<40} {'writes':>8} {'reads':>8} {'requests':>9} {'$/million':>10} {'CPU ms':>8}")
    costs: dict[str, Cost] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        workloads(Path(folder), options.articles, venv=HOME / "cloud-venv") as fixed,
    ):
        for cost in fixed.run():
            costs[cost.name] = cost
            print(
                f"{cost.name:<40} {cost.writes:8.2f} {cost.reads:8.2f} {cost.calls:9.2f} "
                f"{cost.dollars:10.2f} {1000 * cost.cpu_seconds / cost.count:8.2f}"
            )
    measured = {
        name: {
            "write_units": round(cost.writes, 2),
            "read_units": round(cost.reads, 2),
            "requests": round(cost.calls, 2),
            "dollars_per_million": round(cost.dollars, 2),
            "cpu_ms": round(1000 * cost.cpu_seconds / cost.count, 2),
        }
        for name, cost in ((name, costs[workload]) for name, workload in WORKLOADS.items())
    }
    save(options.json, figures_of(costs), measured)


if __name__ == "__main__":
    main()
