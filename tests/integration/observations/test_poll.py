"""Polling pages of figures: from a server on loopback to a table in memory and a bucket of moto."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import boto3
import pytest
from boto3.dynamodb.conditions import ConditionBase
from moto import mock_aws

from sourcebook.bucket.objects import Objects
from sourcebook.events import SourceDue
from sourcebook.http.client import HttpClient
from sourcebook.observations.adapters.poll import ObservationAdapter
from sourcebook.observations.read import ObservationReader
from sourcebook.records.source import Source
from sourcebook.sources.model import SourceSpec, parse_spec
from sourcebook.sources.poll import Poll, Poller, PollResult, PollVerdict
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table.codec import Item
from sourcebook.table.keys import Key
from sourcebook_local.folder import ServedFolder, start_server, stop_servers
from sourcebook_local.samples_observations import PATH, sample_observation_sources
from tests.e2e.sources import stage
from tests.integration.observations.memory import MemoryTable
from tests.integration.sources.test_round import LOOPBACK

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

BUCKET = "pages"
NOON = datetime(2026, 1, 6, 12, tzinfo=UTC)
JSON = "harbour-rates"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedFolder]:
    home = tmp_path_factory.mktemp("home")
    yield start_server(home)
    stop_servers(home)


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Client]:
    with mock_aws():
        client = boto3.client(
            "s3", region_name="us-east-1", aws_access_key_id="testing", aws_secret_access_key="testing"
        )
        client.create_bucket(Bucket=BUCKET)
        yield client


@pytest.fixture(autouse=True)
def _no_trouble_left(server: ServedFolder) -> Iterator[None]:
    yield
    stage(server.url)


class CountedTable(MemoryTable):
    """Counts what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0

    def put(self, item: Mapping[str, object], condition: ConditionBase | None = None) -> None:
        self.writes += 1
        super().put(item, condition)

    def update(self, key: Key, **changes: Any) -> Item:
        self.writes += 1
        return super().update(key, **changes)


class Scene:
    """The sample sources, a bucket, and a clock that the test turns."""

    def __init__(self, server: ServedFolder, s3: S3Client) -> None:
        self.table = CountedTable()
        self.now = NOON
        self.server = server
        self.registry = SourceRegistry(self.table, lambda: self.now)
        self.specs = {spec.source_id: spec for spec in sample_observation_sources(server.url)}
        self.s3 = s3
        for key in self.pages():
            s3.delete_object(Bucket=BUCKET, Key=key)

    def poll(self, source_id: str = JSON, **changes: Any) -> PollResult:
        """Have a source polled as the function does, and return what came of it."""
        spec = self.specs[source_id].model_copy(update=changes)
        self.registry.register(spec)
        source = self.registry.make_due(source_id)
        assert source is not None
        self.table.writes = 0
        report = asyncio.run(self._poll(source))
        assert report.committed
        return report.result

    async def _poll(self, source: Source) -> Poll:
        async with HttpClient(LOOPBACK) as http:
            adapter = ObservationAdapter(
                http, self.table, Objects(self.s3, BUCKET), lambda: self.now, workers=1
            )
            poller = Poller(self.registry, {source.kind: adapter}, lambda: self.now)
            due = SourceDue(source_id=source.source_id, kind=source.kind, due_at=source.next_fetch_time)
            report = await poller.run([due])
        assert not report.failures, report.failures
        return report.polls[0]

    def stage(self, body: str, source_id: str = JSON) -> None:
        path = urlsplit(self.specs[source_id].url).path
        assert path.startswith(PATH)
        stage(self.server.url, {"path": path, "status": 200, "body": body, "times": None})

    def pages(self) -> list[str]:
        return [found["Key"] for found in self.s3.list_objects_v2(Bucket=BUCKET).get("Contents", ())]

    def raw(self) -> list[tuple[str, str, Any]]:
        reader = ObservationReader(self.table)
        return sorted(
            ("/".join(target), one.observed_day, one.rate_pct)
            for target in reader.targets()
            for one in reader.observations(target)
        )


@pytest.fixture
def scene(server: ServedFolder, s3: S3Client) -> Scene:
    return Scene(server, s3)


def test_a_page_is_stored_and_kept(scene: Scene) -> None:
    result = scene.poll()
    assert (result.verdict, result.cause, result.entries, result.created) == (
        PollVerdict.CHANGED,
        "ok",
        10,
        10,
    )
    assert result.dropped == {"no_value": 1, "term_is_a_range": 1, "unknown_series": 1}
    assert [r.article_id for r in result.rejected] == ["row 9", "row 12", "row 13"]
    assert result.anomaly == ""
    (page,) = scene.pages()
    assert page.startswith(f"snapshots/{JSON}/")
    assert len(scene.raw()) == 10


def test_a_page_that_has_not_changed_costs_one_write(scene: Scene) -> None:
    scene.poll()
    scene.now += timedelta(hours=1)
    result = scene.poll()
    assert (result.verdict, result.cause) == (PollVerdict.UNCHANGED, "not_modified")
    assert scene.table.writes == 1


def test_the_same_page_on_a_new_day_is_a_new_observation_and_the_same_snapshot(scene: Scene) -> None:
    scene.poll()
    scene.now += timedelta(days=1)
    result = scene.poll()
    assert (result.cause, result.created) == ("ok", 10)
    assert {day for _, day, _ in scene.raw()} == {"2026-01-06", "2026-01-07"}
    assert len(scene.pages()) == 1


def test_a_changed_declaration_reads_the_unchanged_page_again(scene: Scene) -> None:
    scene.poll()
    options = dict(scene.specs[JSON].options) | {"unit": "fraction"}
    options["limits_pct"] = [0, 2000]
    assert scene.poll(options=options).cause in {"implausible_values", "no_rows"}
    assert scene.poll(options=dict(scene.specs[JSON].options)).cause == "ok"


def test_far_fewer_rows_are_stored_and_reported_as_an_anomaly(scene: Scene) -> None:
    scene.poll()
    scene.stage(
        '{"data": {"products": [{"bank": {"name": "A"}, "type": "Online deposit", "tenor": "6M",'
        ' "apr": {"value": 4.25}}]}}'
    )
    result = scene.poll()
    assert (result.cause, result.entries) == ("ok", 1)
    assert result.anomaly == "1 rows where the last scrape yielded 10"


@pytest.mark.parametrize(
    ("body", "cause", "verdict"),
    [
        ("", "empty_page", PollVerdict.FAILED),
        ("<html><input type=password>", "login_page", PollVerdict.FAILED),
        ('{"items": []}', "layout_changed", PollVerdict.BROKEN),
        ("<html><p>moved</html>", "wrong_format", PollVerdict.BROKEN),
    ],
)
def test_what_is_not_the_page_has_a_cause_and_changes_nothing(
    scene: Scene, body: str, cause: str, verdict: PollVerdict
) -> None:
    scene.poll()
    before = scene.raw()
    scene.stage(body)
    result = scene.poll()
    assert (result.cause, result.verdict) == (cause, verdict)
    assert result.message
    assert result.anomaly == "0 rows where the last scrape yielded 10"
    assert scene.raw() == before
    stage(scene.server.url)
    scene.now += timedelta(days=1)
    assert scene.poll().cause == "ok"


def test_a_series_cannot_be_a_deposit_here_and_a_loan_there(scene: Scene) -> None:
    scene.poll()
    other = parse_spec(
        {
            "source_id": "other",
            "kind": "csv",
            "url": f"{scene.server.url}{PATH}zinsvergleich.csv",
            "options": {
                "series": {"code": "deposit_online", "kind": "loan"},
                "encoding": "windows-1252",
                "skip_rows": 1,
                "bank": "Bank",
                "value": "Zinssatz p. a.",
            },
        }
    )
    scene.specs["other"] = other
    result = scene.poll("other")
    assert (result.verdict, result.cause) == (PollVerdict.BROKEN, "invalid_options")
    assert "deposit" in result.message


def test_wrong_options_are_a_result_and_not_a_crash(scene: Scene) -> None:
    assert isinstance(scene.specs[JSON], SourceSpec)
    result = scene.poll(options={"records": "["})
    assert (result.verdict, result.cause) == (PollVerdict.BROKEN, "invalid_options")
