"""Searching articles over HTTP, on a table and a bucket in moto: what is indexed is found, page by page."""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from xml.etree import ElementTree as ET

import boto3
import pytest
from botocore.exceptions import ClientError

from sourcebook.api.access import AccessControl
from sourcebook.api.idempotency import IdempotentRequests
from sourcebook.api.parts import Services
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from sourcebook.articles.normalize import dedup_key, normalize_headline
from sourcebook.bucket.objects import Objects
from sourcebook.clock import isoformat
from sourcebook.feeds.parse import parse_feed
from sourcebook.search.days import PREFIX, Days
from sourcebook.search.index import Indexer
from sourcebook.search.stream import StreamBusy, TableStream
from sourcebook.sentiment.subjects import SubjectRegistry, parse_subjects
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.unit.api.stored import article_item, key, put_article

pytestmark = pytest.mark.integration

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
NOTHING: Any = None


class Log:
    def info(self, msg: str, *, extra: Any) -> None: ...

    def error(self, msg: str, *, exc_info: BaseException, extra: Any) -> None:
        raise AssertionError(f"{msg}: {extra}") from exc_info


class World:
    """A table, a bucket, what writes the index, and the API over them."""

    def __init__(self, table: Table, objects: Objects) -> None:
        self.table = table
        self.objects = objects
        self.indexer = Indexer(Days(objects), table)
        self.stored: dict[str, dict[str, Any]] = {}
        self.api = self.anew()

    def anew(self) -> Api:
        """An API that has nothing open yet, as another process has."""
        services = Services(
            table=self.table, start=NOTHING, workflows=(), objects=lambda: self.objects, environ={}
        )
        self.api = Api(
            AccessControl(TokenStore(self.table), public_read=True),
            IdempotentRequests(self.table),
            services,
        )
        return self.api

    def put(self, number: int, headline: str, *, days: float = 0, **values: Any) -> dict[str, Any]:
        published = NOW - timedelta(days=days) + timedelta(minutes=number)
        status, sentiment = values.pop("status", "analyzed"), values.pop("sentiment", "neutral")
        item = article_item(
            key(number), published, status=status, sentiment=sentiment, tags=values.pop("tags", ())
        )
        item |= {"headline": headline, "text_for_analysis": None, **values}
        self.stored[item["dedup_key"]] = item
        return put_article(self.table, item)

    def index(self) -> None:
        """Take all, as after a change of each."""
        self.indexer.take(self.stored.values())
        self.anew()

    def get(self, path: str = "/articles", **query: Any) -> tuple[int, Any]:
        answer = self.answer(path, **query)
        return answer["statusCode"], json.loads(answer["body"])

    def answer(self, path: str, *, etag: str = "", **query: Any) -> dict[str, Any]:
        event = {
            "routeKey": f"GET {path}",
            "rawPath": path,
            "queryStringParameters": {name: str(value) for name, value in query.items()},
            "headers": {"if-none-match": etag},
            "requestContext": {"domainName": "api.example"},
        }
        return self.api.answer(event, Log())

    def found(self, **query: Any) -> list[str]:
        """The headlines that are found, over all pages."""
        status, page = self.get(**query)
        assert status == 200, page
        headlines = [article["headline"] for article in page["items"]]
        while page["next_cursor"] is not None:
            status, page = self.get(**query, cursor=page["next_cursor"])
            assert status == 200, page
            headlines += [article["headline"] for article in page["items"]]
        return headlines


@pytest.fixture
def world(table: Table) -> World:
    storage = boto3.client("s3", region_name="us-east-1")
    bucket = f"{table.name}-data"
    storage.create_bucket(Bucket=bucket)
    world = World(table, Objects(storage, bucket))
    subjects = [
        {
            "tool_id": "AAPL",
            "name": "Apple Inc",
            "kind": "company",
            "aliases": ["Apple", "苹果"],
            "ticker": "AAPL",
        }
    ]
    SubjectRegistry(table).register(parse_subjects(subjects))
    return world


def test_words_sources_subjects_sentiments_and_times_combine(world: World) -> None:
    world.put(0, "Apple opens a port", subjects=["AAPL"], sentiment="positive", sources=["harbor-ledger"])
    world.put(1, "Nguyễn opens a port", days=1, sentiment="negative", sources=["circuit"], tags=("ports",))
    world.put(2, "Apple closes a port", days=2, subjects=["AAPL"], sentiment="neutral", sources=["circuit"])
    world.put(3, "A port waits", status="pending", sentiment=None)
    world.index()
    assert world.found(q="port") == ["Apple opens a port", "Nguyễn opens a port", "Apple closes a port"]
    assert world.found(q="nguyen port") == ["Nguyễn opens a port"]
    assert world.found(q="port -opens") == ["Apple closes a port"]
    assert world.found(q='"opens a port" source:CIRCUIT') == ["Nguyễn opens a port"]
    assert world.found(source="Circuit", subject="apple") == ["Apple closes a port"]
    for name in ("aapl", "APPLE INC", "苹果", "Apple"):
        assert len(world.found(subject=name)) == 2, name
    assert world.found(sentiment="positive,NEGATIVE") == ["Apple opens a port", "Nguyễn opens a port"]
    assert world.found(sentiment="Neutral", source="circuit") == ["Apple closes a port"]
    assert world.found(q="port", tag="ports", since="2026-11-26", until="2026-11-27") == [
        "Nguyễn opens a port"
    ]
    assert world.found(q="port since:2026-11-27") == ["Apple opens a port"]
    assert world.found(q="subject:apple sentiment:neutral") == ["Apple closes a port"]
    assert world.found(q="waits") == [], "it is not analyzed"
    assert world.found(status="pending", source="harbor-ledger") == ["A port waits"]
    assert world.found(status="analyzed", source="circuit", q="nguyen") == ["Nguyễn opens a port"]


def test_pages_hold_each_article_once_newest_first_and_by_rank(world: World) -> None:
    for number in range(25):
        world.put(number, f"Ferry {number}" + " ferry" * (number % 3), days=number % 4)
    world.index()
    newest = world.found(q="ferry", limit=4)
    by_time = sorted(world.stored.values(), key=lambda item: item["timestamp"], reverse=True)
    assert newest == [item["headline"] for item in by_time]
    ranked = world.found(q="ferry", order="RANK", limit=7)
    assert sorted(ranked) == sorted(newest)
    first = world.get(q="ferry", limit=4)[1]["next_cursor"]
    status, problem = world.get(q="tram", limit=4, cursor=first)
    assert (status, problem["parameter"]) == (400, "cursor")


def test_what_is_asked_wrongly_is_named(world: World) -> None:
    for query, parameter in (
        ({"q": "OR"}, "q"),
        ({"q": "soruce:x"}, "q"),
        ({"q": "a since:soon"}, "since"),
        ({"q": "sentiment:glad"}, "sentiment"),
        ({"q": "subject:nobody"}, "subject"),
        ({"subject": "nobody"}, "subject"),
        ({"sentiment": "glad,positive"}, "sentiment"),
        ({"order": "rank"}, "order"),
        ({"q": "a", "order": "best"}, "order"),
        ({"q": "a", "status": "pending"}, "status"),
        ({"source": ","}, "source"),
        ({"source": "a,,b"}, "source"),
        ({"lang": "en, "}, "lang"),
        ({"q": "a since:2026-11-02", "until": "2026-11-01"}, "until"),
    ):
        status, problem = world.get(**query)
        assert (status, problem.get("parameter")) == (400, parameter), query


def test_an_article_that_changes_is_found_as_it_is(world: World) -> None:
    item = world.put(0, "Red ferry")
    world.index()
    world.put(0, "Green ferry")
    world.index()
    assert (world.found(q="red"), world.found(q="green")) == ([], ["Green ferry"])
    earlier = world.stored[item["dedup_key"]] | {"timestamp": isoformat(NOW - timedelta(days=3))}
    world.stored[item["dedup_key"]] = put_article(world.table, earlier)
    world.index()
    assert world.found(q="ferry") == ["Green ferry"], "it moved to another day and is given once"
    world.table.delete({"PK": item["PK"], "SK": item["SK"]})
    assert world.found(q="ferry") == [], "it has expired"


def test_the_same_records_again_write_nothing(world: World) -> None:
    world.put(0, "Red ferry")
    items = list(world.stored.values())
    assert world.indexer.take(items).changed == 1
    before = world.objects.etags(PREFIX)
    assert world.indexer.take(items).changed == 0
    assert world.objects.etags(PREFIX) == before


def test_two_writers_at_once_lose_nothing(world: World) -> None:
    one, other = (Indexer(Days(Racing(world)), world.table) for _ in range(2))
    Racing.other = lambda: other.take([world.put(1, "Blue ferry")])
    one.take([world.put(0, "Red ferry")])
    world.anew()
    assert world.found(q="ferry") == ["Blue ferry", "Red ferry"]


class Racing:
    """A bucket in which somebody else writes just before each first write."""

    other: Any = None

    def __init__(self, world: World) -> None:
        self.world = world

    def __getattr__(self, name: str) -> Any:
        act, other = Racing.other, getattr(self.world.objects, name)
        if name in {"create", "replace"} and act is not None:
            Racing.other = None
            act()
        return other


def test_a_damaged_file_hides_nothing_else_and_is_made_again(world: World) -> None:
    world.put(0, "Red ferry")
    world.put(1, "Old ferry", days=1)
    world.index()
    world.objects.write(f"{PREFIX}2026-11-27.db", zlib.compress(b"nonsense"), "x")
    world.anew()
    assert world.found(q="ferry") == ["Old ferry"]
    world.indexer.take([world.put(2, "New ferry")])
    world.anew()
    assert world.found(q="ferry") == ["New ferry", "Red ferry", "Old ferry"]


def test_the_index_is_made_again_from_the_table(world: World) -> None:
    world.put(0, "Red ferry")
    world.put(1, "Old ferry", days=5)
    world.put(2, "Pending ferry", status="pending", sentiment=None)
    assert world.found(q="ferry") == []
    run = world.indexer.rebuild("2026-10-28", "2026-11-27")
    world.anew()
    assert (run.changed, run.days) == (2, 2)
    assert world.found(q="ferry") == ["Red ferry", "Old ferry"]


def test_an_article_that_cannot_be_indexed_loses_no_other(world: World) -> None:
    broken = world.put(0, "Red ferry") | {"timestamp": "soon"}
    run = world.indexer.take([broken, world.put(1, "Blue ferry")])
    assert (run.changed, list(run.left_out)) == (1, [broken["dedup_key"]])
    assert world.found(q="ferry") == ["Blue ferry"]


def test_a_search_is_followed_as_atom_and_as_json_feed(world: World) -> None:
    for number in range(7):
        world.put(number, f"Ferry <{number}> & \x0bmore", tags=("AAPL",), text_for_analysis="Two\x00 lines")
    world.put(9, "Tram")
    world.index()
    whole: list[str] = []
    for path, kind in (
        ("/articles.atom", "application/atom+xml"),
        ("/articles.json", "application/feed+json"),
    ):
        answer = world.answer(path, q="ferry", limit=100)
        assert answer["statusCode"] == 200
        assert answer["headers"]["content-type"].startswith(kind)
        feed = parse_feed(answer["body"].encode(), url=f"https://api.example{path}")
        assert len(feed.entries) == 7
        assert {entry.link for entry in feed.entries} == {
            item["source_attribution"]["harbor-ledger"]["url"]
            for item in world.stored.values()
            if item["headline"] != "Tram"
        }
        whole.append(feed.entries[0].title)
        again = world.answer(path, q="ferry", limit=100, etag=answer["headers"]["etag"])
        assert again["statusCode"] == 304
    assert "Ferry <6> &" in whole[0]
    atom = ET.fromstring(world.answer("/articles.atom", q="ferry", limit=5)["body"])  # noqa: S314 - our own
    links = {link.get("rel"): link.get("href") for link in atom.findall("{http://www.w3.org/2005/Atom}link")}
    assert links["self"] == "https://api.example/articles.atom?q=ferry&limit=5"
    assert "cursor=" in str(links["next"])
    following = json.loads(world.answer("/articles.json", q="ferry", limit=5)["body"])["next_url"]
    assert following.startswith("https://api.example/articles.json?q=ferry&limit=5&cursor=")
    empty = world.answer("/articles.atom", q="nothing")
    assert (empty["statusCode"], "<entry>" in empty["body"]) == (200, False)


def test_a_followed_article_becomes_the_same_article_where_it_is_ingested(world: World) -> None:
    headline = "Ferry orders double in Lisbon - Harbor Gazette"
    story = dedup_key(normalize_headline(headline, ["Harbor Gazette"]), NOW)
    word = {"url": "https://gazette.example/1", "source_name": "Harbor Gazette"}
    world.put(
        0, headline, dedup_key=story, sources=["g"], source_attribution={"g": word}, **keys.article(story)
    )
    world.index()
    body = world.answer("/articles.atom", q="ferry")["body"].encode()
    feed = parse_feed(body, url="https://api.example/articles.atom")
    entry = feed.entries[0]
    assert entry.publisher == "Harbor Gazette"
    assert entry.published is not None
    # As the adapter of feeds has it, which knows nothing of the source that was there first.
    again = normalize_headline(entry.title, (entry.publisher, "Own search", feed.title, "api.example"))
    assert dedup_key(again, entry.published) == story


class Shards:
    """The stream of a table as DynamoDB serves it, with two shards to a page of its description."""

    def __init__(self, **shards: list[dict[str, Any]]) -> None:
        self.shards = shards
        self.closed: set[str] = set()
        self.trimmed: dict[str, int] = {}

    def put(self, shard: str, item: dict[str, Any], **key: str) -> None:
        records = self.shards.setdefault(shard, [])
        image = {name: {"S": item[name]} for name in ("entity_type", "status", "sentiment") if item.get(name)}
        place = {"PK": {"S": item["PK"]}, "SK": {"S": key.get("SK", item["SK"])}}
        number = f"{len(records) + 1:021}"
        records.append({"dynamodb": {"Keys": place, "NewImage": image, "SequenceNumber": number}})

    def describe_stream(self, **asked: Any) -> dict[str, Any]:
        names = sorted(self.shards)
        begin = names.index(asked["ExclusiveStartShardId"]) + 1 if "ExclusiveStartShardId" in asked else 0
        page = names[begin : begin + 2]
        last = {"LastEvaluatedShardId": page[-1]} if begin + 2 < len(names) else {}
        return {"StreamDescription": {"Shards": [{"ShardId": name} for name in page], **last}}

    def get_shard_iterator(self, **asked: Any) -> dict[str, Any]:
        shard, number = asked["ShardId"], int(asked.get("SequenceNumber", 0))
        if asked["ShardIteratorType"] == "TRIM_HORIZON":
            number = self.trimmed.get(shard, 0)
        elif number < self.trimmed.get(shard, 0):
            raise ClientError({"Error": {"Code": "TrimmedDataAccessException"}}, "GetShardIterator")
        return {"ShardIterator": f"{shard} {number}"}

    def get_records(self, *, ShardIterator: str, Limit: int) -> dict[str, Any]:  # noqa: N803 - boto3's names
        shard, number = ShardIterator.split()
        records = self.shards[shard][int(number) : int(number) + 2]
        following = int(number) + len(records)
        ended = shard in self.closed and following == len(self.shards[shard])
        return {"Records": records} | ({} if ended else {"NextShardIterator": f"{shard} {following}"})


def test_the_stream_is_read_on_from_where_it_was_left(world: World) -> None:
    shards = Shards(a=[], b=[], c=[])
    stream = TableStream(cast("Any", shards), "arn", world.table)
    red = world.put(0, "Red ferry")
    for shard in ("a", "b", "b", "b", "c"):
        shards.put(shard, red)
    shards.put("c", world.put(1, "Pending ferry", status="pending", sentiment=None))
    shards.put("c", red | {"PK": "OTHER"}, SK="STATE")
    changes = stream.read(60)
    assert (list(changes.articles), changes.records) == ([red["PK"]], 7)
    assert list(stream.read(60).articles) == [red["PK"]], "nothing was noted"
    world.indexer.take_keys(changes.articles)
    stream.note(changes)
    assert stream.read(60).records == 0

    blue = world.put(2, "Blue ferry")
    shards.put("c", blue)
    shards.closed.add("a")
    shards.shards["d"] = []
    later = stream.read(60)
    assert (list(later.articles), later.shards["a"]) == ([blue["PK"]], "END")
    world.indexer.take_keys(later.articles)
    stream.note(later)
    stream.note(changes)
    assert stream.read(60).records == 0, "an older place does not replace a later one"
    del shards.shards["a"]
    assert "a" not in stream.read(60).shards, "a shard that is gone is forgotten"
    assert world.found(q="ferry") == ["Blue ferry", "Red ferry"]


def test_the_stream_names_the_new_articles_that_were_not_analyzed_when_it_was_read(world: World) -> None:
    shards = Shards(a=[], b=[])
    stream = TableStream(cast("Any", shards), "arn", world.table)
    new = {"SK": "ARTICLE", "entity_type": "Article"}
    for name in ("waits", "analyzed", "failed", "expired"):
        shards.put("a", new | {"PK": name})
    shards.put("a", new | {"PK": "analyzed", "sentiment": "neutral"})
    shards.put("a", new | {"PK": "failed", "status": "error"})
    shards.put("a", {"PK": "expired", "SK": "ARTICLE"})
    shards.put("b", new | {"PK": "reported by another source", "status": "pending"})
    shards.put("b", {"PK": "wire:1", "SK": "ARTICLE", "entity_type": "ArticleAlias"})
    shards.put("b", new | {"PK": "older", "SK": "TAG#x"})
    changes = stream.read(60)
    assert (list(changes.new), list(changes.articles)) == (["waits"], ["analyzed"])


def test_a_reading_with_many_new_articles_leaves_the_rest_to_the_next(world: World) -> None:
    shards = Shards(a=[], b=[])
    for number in range(9):
        shards.put("ab"[number % 2], {"PK": f"new {number}", "SK": "ARTICLE", "entity_type": "Article"})
    stream = TableStream(cast("Any", shards), "arn", world.table, most_new=3)
    found: list[list[str]] = []
    while len(found) < 9 and (read := stream.read(60)).records:
        stream.note(read)
        found.append(list(read.new))
    assert sorted(key for keys_read in found for key in keys_read) == [f"new {n}" for n in range(9)]
    # An answer of the stand-in has two records.
    assert max(map(len, found)) <= 4


def test_what_the_stream_has_lost_is_reported(world: World) -> None:
    shards = Shards(a=[])
    stream = TableStream(cast("Any", shards), "arn", world.table)
    item = world.put(0, "Red ferry")
    shards.put("a", item)
    stream.note(stream.read(60))
    for _ in range(3):
        shards.put("a", item)
    shards.trimmed["a"] = 3
    changes = stream.read(60)
    assert (changes.forgotten, changes.records) == (True, 1)
    stream.note(changes)
    assert stream.read(60).forgotten is False


def test_a_reading_that_takes_long_leaves_the_rest_to_the_next(world: World) -> None:
    shards = Shards(a=[], b=[])
    item = world.put(0, "Red ferry")
    for shard in ("a", "b"):
        for _ in range(5):
            shards.put(shard, item)
    ticks = iter(range(1_000))
    stream = TableStream(cast("Any", shards), "arn", world.table, seconds=lambda: float(next(ticks)))
    records = 0
    for _ in range(20):
        changes = stream.read(4)
        stream.note(changes)
        records += changes.records
    assert records == 10


def test_a_stream_that_does_not_answer_is_tried_again(world: World) -> None:
    class Silent(Shards):
        def describe_stream(self, **asked: Any) -> dict[str, Any]:
            raise ClientError({"Error": {"Code": "LimitExceededException"}}, "DescribeStream")

    with pytest.raises(StreamBusy):
        TableStream(cast("Any", Silent()), "arn", world.table).read(60)
