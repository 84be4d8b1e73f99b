"""An export, on a bucket in moto: read back by DuckDB and pandas, and compared with what is served."""

from __future__ import annotations

import gzip
import hashlib
import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import duckdb
import pandas as pd
import pytest

from sourcebook.api.access import AccessControl
from sourcebook.api.idempotency import IdempotentRequests
from sourcebook.api.parts import Services
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from sourcebook.articles.read import ArticleFilter, ArticleReader
from sourcebook.bucket.objects import Objects
from sourcebook.clock import isoformat, parse_iso
from sourcebook.errors import InvalidInput
from sourcebook.exports.datasets import ARTICLES, OBSERVATIONS
from sourcebook.exports.days import Exporter
from sourcebook.exports.manifest import File, FileFormat
from sourcebook.exports.messages import ExportDays
from sourcebook.observations.raw_read import RawReader
from sourcebook.records.article import Article
from sourcebook.records.base import shown_names
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.integration.observations.memory import MemoryTable
from tests.integration.observations.world import World
from tests.unit.api.stored import article_item, key, put_article

pytestmark = pytest.mark.integration

NOON = datetime(2026, 1, 6, 12, tzinfo=UTC)
PERIOD = {"since": "2026-01-05", "until": "2026-01-09"}
SIX = ("Bến Xuân", "deposit_online", "M0006")
LOAN = ("Bến Xuân", "home_loan", "-")
NOTHING: Any = None


@pytest.fixture
def objects(table: Table) -> Objects:
    storage = boto3.client("s3", region_name="us-east-1")
    storage.create_bucket(Bucket=f"{table.name}-data")
    return Objects(storage, f"{table.name}-data")


@pytest.fixture
def stored(table: Table) -> list[dict[str, Any]]:
    """What is served of the period: articles of three days, of each status, and what two sources had."""
    world = World(memory := MemoryTable())
    world.declare("timo", 1)
    world.declare("other", 2)
    for days in range(3):
        world.scrape("timo", NOON + timedelta(days=days), {SIX: 4.5 + days / 8, LOAN: 7.25})
        world.scrape("other", NOON + timedelta(days=days), {SIX: 4.6})
    for item in memory.items.values():
        table.put(item)
    for number in range(7):
        status = ("analyzed", "pending", "error")[number % 3]
        item = article_item(
            key(number),
            NOON + timedelta(hours=9 * number),
            status=status,
            sentiment="positive" if status == "analyzed" else None,
            tags=("rates, bonds", "ngân hàng") if number % 2 else (),
        )
        put_article(
            table, item | {"headline": f'Lãi suất “{number}”, "株価"\nup', "metadata": {"language": "vi"}}
        )
    put_article(table, article_item(key(99), NOON - timedelta(days=9)))
    served = ArticleReader(table).page(
        ArticleFilter(since=NOON - timedelta(days=1), until=NOON + timedelta(days=3)), limit=100
    )
    return [article.shown() for article in served.items]


def export(table: Table, objects: Objects, *, today: datetime = NOON + timedelta(days=3)) -> dict[str, Any]:
    """Export as the state machine does, a piece in each call, and return the last answer."""
    exporter = Exporter(table, objects, clock=lambda: today, seconds=-1.0)
    place: dict[str, Any] = dict(PERIOD)
    for call in range(1, 20):
        asked = ExportDays.of_json(place)
        place = json.loads(json.dumps(exporter.run(asked).to_json()))
        assert place["next"] == call
        if place["done"]:
            return place
    raise AssertionError("the export has no end")


def query(text: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as database:
        return database.execute(text).fetchall()


def downloaded(objects: Objects, folder: Path) -> Path:
    for name in objects.etags("exports/"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(objects.read(name, 10_000_000).body)
    return folder / "exports"


def manifest(objects: Objects) -> dict[str, Any]:
    content = objects.read("exports/manifests/2026-01-05_2026-01-09.json", 10_000_000).body
    found: dict[str, Any] = json.loads(content)
    return found


def test_duckdb_reads_all_days_in_one_line(
    table: Table, objects: Objects, stored: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert export(table, objects)["rows"] == len(stored) + 9 == 16
    exports = downloaded(objects, tmp_path)
    found = query(f"FROM '{exports}/parquet/articles/*/*.parquet'")
    columns = query(f"DESCRIBE FROM '{exports}/parquet/articles/*/*.parquet'")
    assert [name for name, *_ in columns] == [*shown_names(Article), "mentions", "day"]
    rows = {
        row["dedup_key"]: row for row in (dict(zip((c[0] for c in columns), r, strict=True)) for r in found)
    }
    assert len(rows) == len(found) == len(stored)
    for article in stored:
        row = rows[article["dedup_key"]]
        assert row["headline"] == article["headline"]
        assert row["timestamp"].astimezone(UTC) == parse_iso(article["timestamp"])
        assert row["day"] == date.fromisoformat(article["timestamp"][:10])
        assert (row["status"], row["sentiment"], row["score"]) == (
            article["status"],
            article["sentiment"],
            article["score"],
        )
        assert (row["sources"], row["tags"]) == (article["sources"], article["tags"])
        assert json.loads(row["source_attribution"]) == article["source_attribution"]
        assert json.loads(row["metadata"]) == {"language": "vi"}
        assert row["ttl_timestamp"] == article["ttl_timestamp"]
    lines = query(f"FROM '{exports}/ndjson/articles/*/*.ndjson.gz' SELECT dedup_key, score")
    assert sorted(lines, key=str) == sorted(((a["dedup_key"], a["score"]) for a in stored), key=str)


def test_pandas_reads_the_figures_that_the_api_serves(
    table: Table, objects: Objects, stored: list[dict[str, Any]], tmp_path: Path
) -> None:
    export(table, objects)
    exports = downloaded(objects, tmp_path)
    served = RawReader(table).figures(since=date(2026, 1, 5), until=date(2026, 1, 9), limit=100).items
    frame = pd.read_parquet(exports / "parquet" / "observations")
    assert len(frame) == len(served) == 9
    found = {
        (row.source_id, row.series_code, row.observed_day.isoformat()): row for row in frame.itertuples()
    }
    for figure in served:
        row: Any = found[figure["source_id"], figure["series_code"], figure["observed_day"]]
        assert row.rate_pct == figure["rate_pct"]
        assert row.bank_name == figure["bank_name"] == "Bến Xuân"
        assert row.source_priority == figure["source_priority"]
        assert row.scraped_at.to_pydatetime() == parse_iso(figure["scraped_at"])
        assert str(row.day) == figure["observed_day"]
        assert (None if pd.isna(row.term_months) else row.term_months) == figure["term_months"]
    lines = [
        pd.read_json(file, lines=True, compression="gzip")
        for file in sorted((exports / "ndjson" / "observations").glob("*/*.gz"))
        if gzip.decompress(file.read_bytes())
    ]
    assert sorted(pd.concat(lines)["rate_pct"]) == sorted(row["rate_pct"] for row in served)


def test_the_manifest_says_what_there_is(
    table: Table, objects: Objects, stored: list[dict[str, Any]], tmp_path: Path
) -> None:
    export(table, objects)
    exports = downloaded(objects, tmp_path)
    said = manifest(objects)
    assert (said["export_id"], said["made_at"]) == ("2026-01-05_2026-01-09", "2026-01-09T12:00:00Z")
    assert {one["name"]: one["rows"] for one in said["datasets"]} == {"articles": 7, "observations": 9}
    assert [one["name"] for one in said["datasets"][0]["columns"]] == [*shown_names(Article), "mentions"]
    assert len(said["files"]) == 2 * 2 * 4
    for file in said["files"]:
        body = (exports.parent / file["key"]).read_bytes()
        assert (len(body), hashlib.sha256(body).hexdigest()) == (file["bytes"], file["sha256"])
        rows = (
            len(pd.read_parquet(exports.parent / file["key"], partitioning=None))
            if file["format"] == "parquet"
            else gzip.decompress(body).count(b"\n")
        )
        assert rows == file["rows"]


def test_exporting_again_gives_the_same_files(
    table: Table, objects: Objects, stored: list[dict[str, Any]]
) -> None:
    export(table, objects)
    first = manifest(objects)
    export(table, objects, today=NOON + timedelta(days=4))
    assert manifest(objects) == first | {"made_at": "2026-01-10T12:00:00Z"}
    table.delete(keys.article(key(0)))
    export(table, objects)
    assert manifest(objects)["datasets"][0]["rows"] == 6


def test_what_has_expired_stays_exported(
    table: Table, objects: Objects, stored: list[dict[str, Any]]
) -> None:
    export(table, objects)
    first = manifest(objects)
    for article in stored:
        table.delete(keys.article(article["dedup_key"]))
    late = NOON + timedelta(days=40)
    assert export(table, objects, today=late)["kept"] == 2 * len({a["timestamp"][:10] for a in stored})
    assert manifest(objects) == first | {"made_at": isoformat(late)}
    # A day of which more is known than before is written, however old it is.
    for article in stored:
        put_article(table, article_item(article["dedup_key"], parse_iso(article["timestamp"])))
    put_article(table, article_item(key(50), NOON))
    export(table, objects, today=late)
    assert manifest(objects)["datasets"][0]["rows"] == 8


@pytest.mark.parametrize(
    "period",
    [
        {"since": "2026-01-05", "until": "2026-01-05"},
        {"since": "2026-01-05", "until": "2027-01-07"},
        {"since": "2026-02-30", "until": "2026-03-01"},
        {"since": "5 January", "until": "2026-03-01"},
        {"until": "2026-03-01"},
    ],
)
def test_what_is_no_period_is_refused(period: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match=r"since|until"):
        Exporter(NOTHING, NOTHING).run(ExportDays.of_json(period))


def test_the_api_lists_exports_and_gives_their_files(
    table: Table, objects: Objects, stored: list[dict[str, Any]]
) -> None:
    def ask(route: str, **path: str) -> dict[str, Any]:
        event = {"routeKey": f"GET {route}", "rawPath": "", "pathParameters": path, "headers": {}}
        return api.answer(event | {"requestContext": {"domainName": "api.example"}}, Quiet())

    services = Services(table=table, start=NOTHING, workflows=(), objects=lambda: objects, environ={})
    api = Api(
        AccessControl(TokenStore(table), public_read=True),
        IdempotentRequests(table),
        services,
    )
    assert json.loads(ask("/exports")["body"])["items"] == []
    export_id = "2026-01-05_2026-01-09"
    missing = ask("/exports/{export_id}", export_id=export_id)
    assert (missing["statusCode"], "export_period" in missing["body"]) == (404, True)
    assert ask("/exports/{export_id}/files/{name}", export_id=export_id, name="x")["statusCode"] == 404
    export(table, objects)
    (listed,) = json.loads(ask("/exports")["body"])["items"]
    assert (listed["export_id"], listed["since"], listed["until"]) == (export_id, "2026-01-05", "2026-01-09")
    found = json.loads(ask("/exports/{export_id}", export_id=export_id)["body"])
    assert found == manifest(objects)
    names = [file["name"] for file in found["files"]]
    assert names[1] == "articles-2026-01-06.parquet"
    assert len(set(names)) == len(names)
    answer = ask("/exports/{export_id}/files/{name}", export_id=export_id, name=names[1])
    assert answer["statusCode"] == 302
    wanted = File(ARTICLES.name, date(2026, 1, 6), FileFormat.PARQUET).key
    assert wanted.replace("=", "%3D") in answer["headers"]["location"]
    for wrong in ("articles-2026-01-09.parquet", "manifests/2026-01-05_2026-01-09.json", "../x"):
        refused = ask("/exports/{export_id}/files/{name}", export_id=export_id, name=wrong)
        assert refused["statusCode"] == 404
    assert ask("/exports/{export_id}", export_id="2026-01-05_../x")["statusCode"] == 404


def test_the_columns_of_articles_are_the_fields_that_are_served() -> None:
    assert tuple(ARTICLES.columns) == (*shown_names(Article), "mentions")
    assert "day" not in {*ARTICLES.columns, *OBSERVATIONS.columns}


class Quiet:
    def info(self, msg: str, *, extra: Any) -> None: ...

    def error(self, msg: str, *, exc_info: BaseException, extra: Any) -> None:
        raise AssertionError(f"{msg}: {extra}") from exc_info
