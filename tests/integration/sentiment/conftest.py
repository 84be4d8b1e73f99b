"""A table in moto, and a small world on it: subjects, articles, a clock that is moved by hand."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from boto3.dynamodb.conditions import Key
from moto import mock_aws

from sourcebook.articles.analysis import Analyzer
from sourcebook.articles.ingest import ArticleStore
from sourcebook.clock import isoformat
from sourcebook.records.subject import Subject
from sourcebook.sentiment.cache import sentiment_of
from sourcebook.sentiment.engines.lexicon import LexiconEngine
from sourcebook.sentiment.refresh import Refresher
from sourcebook.sentiment.rollups import Counts
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.sentiment.windows import PERIODS
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.keys import Shards
from tests.incoming import NOON
from tests.moto_table import MotoTable
from tests.templates import table_definition

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SUBJECTS = (Subject("quartzon", "Quartzon", "tool"), Subject("MRBL", "Marbleton", "company", ticker="MRBL"))


@pytest.fixture(scope="module")
def client() -> Iterator[DynamoDBClient]:
    with mock_aws():
        yield boto3.client(
            "dynamodb", region_name="us-east-1", aws_access_key_id="testing", aws_secret_access_key="testing"
        )


@pytest.fixture(scope="module")
def new_table(client: DynamoDBClient) -> Callable[[], Table]:
    def make() -> Table:
        name = f"sourcebook-{uuid.uuid4().hex}"
        client.create_table(**table_definition() | {"TableName": name})
        return MotoTable(name, client, shards=Shards.from_environment())

    return make


@pytest.fixture
def world(new_table: Callable[[], Table]) -> World:
    return World(new_table())


class StaggeredTable(MotoTable):
    """A table before whose n-th write something else happens: another function's work, or a crash."""

    def __init__(self, table: Table, at_write: int, event: Callable[[], None]) -> None:
        super().__init__(table.name, table.client, shards=table.shards)
        self._remaining = at_write
        self._event = event

    def _before_write(self) -> None:
        self._remaining -= 1
        if self._remaining == 0:
            self._event()

    def put(self, *arguments: Any, **options: Any) -> None:
        self._before_write()
        super().put(*arguments, **options)

    def put_many(self, items: Sequence[Any]) -> None:
        if items:
            self._before_write()
        super().put_many(items)

    def update(self, *arguments: Any, **options: Any) -> Any:
        self._before_write()
        return super().update(*arguments, **options)

    def delete(self, *arguments: Any, **options: Any) -> None:
        self._before_write()
        super().delete(*arguments, **options)


@dataclass
class World:
    table: Table
    now: datetime = NOON + timedelta(hours=1)
    keys: dict[str, None] = field(default_factory=dict)
    reported: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        SubjectRegistry(self.table, self.clock).register(SUBJECTS)
        self.now += timedelta(minutes=2)

    def clock(self) -> datetime:
        return self.now

    def wait(self, **time: float) -> None:
        self.now += timedelta(**time)

    def report(self, article: Any) -> None:
        """Store a source's report of a story, and request its analysis as ingestion would."""
        self.reported.append(article)
        self.keys.setdefault(ArticleStore(self.table).store(article).dedup_key)

    def analyze(self, table: Table | None = None) -> None:
        # A function of its own each time: nothing is remembered from one call to the next.
        Analyzer.of(table or self.table, LexiconEngine(), self.clock, workers=1).analyze(self.keys)

    def refresh(self, table: Table | None = None) -> Any:
        return Refresher(table or self.table, self.clock, workers=1).run()

    def everything(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        for dedup_key in self.keys:
            items += self.table.query_all(Key("PK").eq(keys.article(dedup_key)["PK"]))
        return items

    def mentions(self, tool_id: str) -> list[dict[str, Any]]:
        return list(self.table.query_all(Key("tag").eq(tool_id), index=keys.TAG_INDEX))

    def counted(self, tool_id: str, start: datetime, end: datetime) -> dict[str, Any]:
        """What a count over each single mention of [start, end) gives."""
        first, last = isoformat(start), isoformat(end)
        counts = Counts.of(m for m in self.mentions(tool_id) if first <= m["timestamp"] < last)
        return sentiment_of(tool_id, counts, start, end).figures()

    def check_cache(self, tool_ids: Sequence[str] = ("quartzon", "MRBL")) -> None:
        """Each entry equals a count over the mentions of its own window."""
        for tool_id in tool_ids:
            for period, hours in PERIODS.items():
                entry = self.table.get(keys.cache_entry(tool_id, period))
                assert entry is not None
                end = datetime.fromtimestamp(entry["period_end_ts"], NOON.tzinfo)
                wanted = self.counted(tool_id, end - timedelta(hours=hours), end)
                assert {name: entry[name] for name in wanted} == wanted, (tool_id, period)
