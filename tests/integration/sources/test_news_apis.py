"""The news APIs against servers that answer as they do, on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.request import Request, urlopen

import boto3
import pytest

from sourcebook.articles.adapters.intake import Intake
from sourcebook.articles.adapters.news_api import Finnhub, NewsApiAdapter, NewsProvider, Tiingo
from sourcebook.articles.announce import Announcer
from sourcebook.articles.ingest import ArticleStore
from sourcebook.clock import utc_now
from sourcebook.http.client import HttpClient
from sourcebook.records.source import Source
from sourcebook.sources.model import SourceSpec
from sourcebook.sources.poll import PollResult, PollVerdict
from sourcebook.sources.quota import take_calls
from sourcebook.sources.registry import SourceRegistry
from sourcebook.sources.secrets import SecretMissing, Secrets
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook_local.folder import ServedFolder, start_server, stop_servers
from sourcebook_local.samples import API_KEYS, COMPANIES, expected, sample_api_sources, secret_name
from tests.incoming import stored_articles
from tests.integration.sources.test_round import LOOPBACK


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedFolder]:
    home = tmp_path_factory.mktemp("home")
    yield start_server(home)
    stop_servers(home)


@pytest.fixture(autouse=True)
def _no_trouble_left(server: ServedFolder) -> Iterator[None]:
    yield
    with urlopen(Request(f"{server.url}/_control", method="DELETE"), timeout=5):
        pass


def stage(server: ServedFolder, **rule: Any) -> None:
    body = json.dumps({"rules": [rule]}).encode()
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(f"{server.url}/_control", data=body, headers=headers), timeout=5):
        pass


class Apis:
    """The adapters' parts on moto, with a clock that the test turns."""

    def __init__(self, table: Table, server: ServedFolder) -> None:
        self.table = table
        self.now = utc_now()
        self.registry = SourceRegistry(table, lambda: self.now)
        self.client = boto3.client("secretsmanager")
        for kind, key in API_KEYS.items():
            self.client.create_secret(Name=secret_name(kind), SecretString=key)
        self.secrets = Secrets(self.client)
        sns = boto3.client("sns")
        self.announcer = Announcer(sns, sns.create_topic(Name="articles")["TopicArn"])
        self.specs = {spec.kind: spec for spec in sample_api_sources(server.url)}

    def poll(self, kind: str, **changes: Any) -> PollResult:
        return self.poll_source(self.source(kind, **changes))

    def source(self, kind: str, **changes: Any) -> Source:
        spec = self.specs[kind].model_copy(update=changes)
        self.registry.register(spec)
        source = self.registry.get(spec.source_id)
        assert source is not None
        return source

    def poll_source(self, source: Source) -> PollResult:
        async def run() -> PollResult:
            async with HttpClient(LOOPBACK, clock=lambda: self.now) as http:
                provider: NewsProvider = Tiingo() if source.kind == "tiingo" else Finnhub()
                intake = Intake(ArticleStore(self.table), self.announcer, "run-1")
                adapter = NewsApiAdapter(provider, http, self.table, intake, self.secrets, lambda: self.now)
                return await adapter.poll(source)

        return asyncio.run(run())

    def articles(self) -> list[dict[str, Any]]:
        return stored_articles(self.table)


@pytest.fixture
def apis(table: Table, server: ServedFolder) -> Apis:
    return Apis(table, server)


def with_options(apis: Apis, kind: str, **options: Any) -> dict[str, Any]:
    return {"options": {**apis.specs[kind].options, **options}}


def test_the_same_stories_from_both_apis_become_one_article_each(apis: Apis) -> None:
    tiingo, finnhub = apis.poll("tiingo"), apis.poll("finnhub")
    assert (tiingo.cause, finnhub.cause) == ("ok", "ok")
    items = apis.articles()
    shared = [item for item in items if set(item["sources"]) == {"tiingo", "finnhub"}]
    carriers = expected(tiingo=sorted(COMPANIES), finnhub=sorted(COMPANIES)).carriers
    assert len(shared) == sum({"tiingo", "finnhub"} <= sources for sources in carriers.values()) > 0
    assert len(items) == sum(bool({"tiingo", "finnhub"} & sources) for sources in carriers.values())
    assert finnhub.merged == len(shared)
    for item in items:
        assert item["matched_tickers"]
        assert datetime.fromisoformat(item["timestamp"]).tzinfo is not None


def test_a_second_poll_finds_nothing_new(apis: Apis) -> None:
    apis.poll("tiingo")
    before = apis.articles()
    again = apis.poll("tiingo")
    assert (again.verdict, again.cause) == (PollVerdict.UNCHANGED, "no_new_entries")
    assert apis.articles() == before


def test_each_ticker_is_one_call_of_the_days_quota(apis: Apis) -> None:
    apis.poll("tiingo")
    item = apis.table.get(keys.source_quota("tiingo", f"{apis.now:%Y-%m-%d}"))
    assert item is not None
    assert item["calls"] == len(COMPANIES)


def test_a_used_up_quota_waits_for_midnight_and_then_goes_on(apis: Apis) -> None:
    options = with_options(apis, "tiingo", calls_per_day=len(COMPANIES))
    assert apis.poll("tiingo", **options).cause == "ok"
    refused = apis.poll("tiingo", **options)
    midnight = datetime(apis.now.year, apis.now.month, apis.now.day, tzinfo=UTC) + timedelta(days=1)
    assert (refused.verdict, refused.cause, refused.retry_after) == (
        PollVerdict.FAILED,
        "quota_exhausted",
        midnight,
    )
    apis.now = midnight
    assert apis.poll("tiingo", **options).cause == "no_new_entries"


def test_what_is_left_of_the_quota_is_used(apis: Apis) -> None:
    partial = apis.poll("tiingo", **with_options(apis, "tiingo", calls_per_day=2))
    assert partial.cause == "partial"
    assert partial.entries > 0


def test_the_quota_is_never_exceeded(apis: Apis) -> None:
    granted = [take_calls(apis.table, "tiingo", 7, 20, apis.now) for _ in range(6)]
    assert granted == [7, 7, 6, 0, 0, 0]


def test_a_wrong_key_says_so_and_a_mended_one_is_read_at_once(apis: Apis) -> None:
    apis.client.put_secret_value(SecretId=secret_name("finnhub"), SecretString="wrong")
    refused = apis.poll("finnhub")
    assert (refused.verdict, refused.cause) == (PollVerdict.BROKEN, "unauthorized")
    assert "wrong" not in refused.message
    apis.client.put_secret_value(
        SecretId=secret_name("finnhub"), SecretString=json.dumps({"api_key": API_KEYS["finnhub"]})
    )
    assert apis.poll("finnhub").cause == "ok"


def test_a_missing_secret_says_how_to_store_it(apis: Apis) -> None:
    missing = apis.poll("tiingo", **with_options(apis, "tiingo", secret="sourcebook/none"))
    assert (missing.verdict, missing.cause) == (PollVerdict.BROKEN, "secret_missing")
    assert "aws secretsmanager put-secret-value --secret-id sourcebook/none" in missing.message


def test_a_secret_is_kept_for_five_minutes(apis: Apis) -> None:
    seconds = 0.0
    secrets = Secrets(apis.client, lambda: seconds)
    secrets.api_key(secret_name("tiingo"))
    apis.client.delete_secret(SecretId=secret_name("tiingo"), ForceDeleteWithoutRecovery=True)
    assert secrets.api_key(secret_name("tiingo")) == API_KEYS["tiingo"]
    seconds = 301.0
    with pytest.raises(SecretMissing):
        secrets.api_key(secret_name("tiingo"))


def test_a_limited_ticker_is_reported_and_the_others_are_taken(apis: Apis, server: ServedFolder) -> None:
    stage(server, path="/tiingo/news", times=1, status=429, retry_after=120)
    result = apis.poll("tiingo")
    assert (result.verdict, result.cause) == (PollVerdict.CHANGED, "partial")
    assert result.created > 0
    assert result.retry_after is not None
    assert 119 <= (result.retry_after - apis.now).total_seconds() <= 121


def test_repeated_failures_open_the_circuit_and_one_probe_closes_it(apis: Apis, server: ServedFolder) -> None:
    stage(server, path="/finnhub/api/v1/company-news", times=None, status=503)
    failed = apis.poll("finnhub")
    assert (failed.verdict, failed.cause) == (PollVerdict.FAILED, "server_error")
    spared = apis.poll_source(replace(apis.source("finnhub"), **failed.state))
    assert spared.cause == "circuit_open"
    apis.now += timedelta(seconds=301)
    probed = apis.poll_source(replace(apis.source("finnhub"), **failed.state))
    assert probed.cause == "server_error"
    calls = apis.table.get(keys.source_quota("finnhub", f"{apis.now:%Y-%m-%d}"))
    assert calls is not None
    _no_more_trouble(server)
    apis.now += timedelta(seconds=301)
    back = apis.poll_source(replace(apis.source("finnhub"), **probed.state))
    assert back.cause == "ok"
    assert back.state["circuit"] is None


def _no_more_trouble(server: ServedFolder) -> None:
    with urlopen(Request(f"{server.url}/_control", method="DELETE"), timeout=5):
        pass


def test_an_answer_that_is_not_the_documented_one_is_reported(apis: Apis, server: ServedFolder) -> None:
    stage(server, path="/tiingo/news", times=None, body="<html>maintenance</html>", content_type="text/html")
    result = apis.poll("tiingo")
    assert (result.verdict, result.cause) == (PollVerdict.BROKEN, "protocol_error")


def test_one_malformed_record_is_rejected_with_its_reason_and_the_rest_is_taken(
    apis: Apis, server: ServedFolder
) -> None:
    good = {"id": 1, "title": "Anvil makes anvils", "url": "https://a.example/1", "source": "a.example"}
    good |= {"publishedDate": "2026-11-27T12:00:00", "tickers": ["anvl"], "description": "<b>Yes</b>."}
    records = [
        good,
        {**good, "id": 2, "url": "nowhere"},
        {**good, "id": 3, "title": " "},
        {**good, "id": 4, "publishedDate": "soon"},
        "not an object",
    ]
    stage(server, path="/tiingo/news", times=None, body=json.dumps(records), content_type="application/json")
    result = apis.poll("tiingo", **with_options(apis, "tiingo", tickers=["ANVL"]))
    assert result.created == 1
    assert [r.article_id for r in result.rejected] == ["ANVL 2", "ANVL 3", "ANVL 4", "ANVL 4"]
    assert [r.reason.split(":")[0] for r in result.rejected] == [
        "url",
        "title",
        "publishedDate",
        "record",
    ]
    [item] = apis.articles()
    assert item["timestamp"] == "2026-11-27T12:00:00Z"
    assert item["text_for_analysis"] == "Yes."


def test_options_that_are_wrong_are_refused_by_name(apis: Apis) -> None:
    result = apis.poll("tiingo", **with_options(apis, "tiingo", tickers=[]))
    assert (result.verdict, result.cause) == (PollVerdict.BROKEN, "invalid_options")
    assert "options.tickers" in result.message


def test_the_declarations_of_the_samples_are_right(server: ServedFolder) -> None:
    from sourcebook.articles.adapters.options import check_options

    for spec in sample_api_sources(server.url):
        assert isinstance(check_options(spec), SourceSpec)
