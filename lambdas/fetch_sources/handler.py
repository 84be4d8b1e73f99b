"""Fetch the sources that a message names, in parallel, and store what is new."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

import os
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.utilities.typing import LambdaContext
from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.articles.adapters.feed import FeedAdapter
from sourcebook.articles.adapters.intake import Intake
from sourcebook.articles.announce import Announcer
from sourcebook.articles.batch import Run, batch_key, ingestion_batch
from sourcebook.articles.bus import EventBus
from sourcebook.articles.ingest import ArticleStore
from sourcebook.clients import on_demand
from sourcebook.clock import utc_now
from sourcebook.direct import with_direct_calls
from sourcebook.events import FetchRequested, batch_response, read_records
from sourcebook.feeds.sampling import ParserSample, report_agreement
from sourcebook.feeds.settings import FeedSettings
from sourcebook.http.client import HttpClient
from sourcebook.loop import OneLoop
from sourcebook.observations.kinds import KINDS as OBSERVATION_KINDS
from sourcebook.settings import required
from sourcebook.sources.limits import limit_memory
from sourcebook.sources.poll import Poller, RoundReport, SourceAdapter
from sourcebook.sources.registry import SourceRegistry
from sourcebook.sources.report import log_round, measure_process, measure_round, notify_of_disabled
from sourcebook.table.client import CONNECTIONS, Table, aws_config

if TYPE_CHECKING:
    from sourcebook.bucket.objects import Objects
    from sourcebook.sources.secrets import Secrets

loop = OneLoop()
logger = Logger()
metrics = Metrics()
table = Table.connect(required("TABLE_NAME"))
store = ArticleStore(table)
announcer = Announcer(
    on_demand(lambda: with_direct_calls(boto3.client("sns", config=aws_config()))),
    required("ARTICLE_TOPIC_ARN"),
)
alarms = on_demand(lambda: boto3.client("sns", config=aws_config()))
bus = EventBus(
    on_demand(lambda: with_direct_calls(boto3.client("events", config=aws_config()))),
    required("EVENT_BUS_NAME"),
)
feed_settings = FeedSettings.from_environment()
policy = feed_settings.http_policy(
    contact=os.environ.get("HTTP_CONTACT", ""), allowed_networks=os.environ.get("HTTP_ALLOWED_NETWORKS", "")
)

limit_memory()


@cache
def secrets() -> Secrets:
    """Return the API keys; read when a news API is asked for the first time."""
    from sourcebook.sources.secrets import Secrets

    return Secrets(boto3.client("secretsmanager", config=aws_config()))


@cache
def pages() -> Objects:
    """Return the bucket that keeps pages of figures; its client is made when the first page is kept."""
    from sourcebook.bucket.objects import Objects

    return Objects(on_demand(lambda: boto3.client("s3", config=aws_config())), required("BUCKET_NAME"))


def news_api(kind: str, http: HttpClient, intake: Intake) -> SourceAdapter:
    """Return the adapter of a news API."""
    from sourcebook.articles.adapters.news_api import Finnhub, NewsApiAdapter, Tiingo

    provider = {p.kind: p for p in (Tiingo(), Finnhub())}[kind]
    return NewsApiAdapter(provider, http, table, intake, secrets())


def observations(http: HttpClient) -> SourceAdapter:
    """Return the adapter of pages of figures."""
    from sourcebook.observations.adapters.poll import ObservationAdapter

    return ObservationAdapter(http, table, pages())


async def fetch(
    message: FetchRequested, context: LambdaContext, sample: ParserSample, receive_count: int
) -> RoundReport:
    """Poll the sources of one message."""
    async with HttpClient(policy) as http:
        intake = Intake(store, announcer, message.correlation_id, bus)
        adapters: dict[str, SourceAdapter] = {
            "feed": FeedAdapter(http, table, intake, settings=feed_settings, sample=sample),
            "tiingo": on_demand(lambda: news_api("tiingo", http, intake)),
            "finnhub": on_demand(lambda: news_api("finnhub", http, intake)),
            **dict.fromkeys(OBSERVATION_KINDS, on_demand(lambda: observations(http))),
        }
        poller = Poller(
            SourceRegistry(table),
            adapters,
            parallel=feed_settings.max_concurrent_requests,
            seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
        )
        return await poller.run(message.sources, receive_count=receive_count)


def notify(report: RoundReport) -> None:
    """Notify the operator of sources that the round has disabled; a failure to do so is only logged."""
    try:
        notify_of_disabled(report, alarms, os.environ.get("ALARM_TOPIC_ARN", ""))
    except (BotoCoreError, ClientError):
        logger.exception("notice_not_sent")


@collect_garbage_from_now
@metrics.log_metrics
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Poll the sources of each message; return the messages that must come back."""
    failed: list[str] = []
    for record, message in read_records(FetchRequested, event, failed, logger):
        logger.append_keys(correlation_id=message.correlation_id)
        started = utc_now()
        sample = ParserSample(feed_settings.parser_sample_percent)
        received = int(record.get("attributes", {}).get("ApproximateReceiveCount", 1))
        report = loop.run(fetch(message, context, sample, received))
        run = Run(record["messageId"], context.aws_request_id, started, utc_now())
        if batch := ingestion_batch(report, run):
            table.put(batch.to_item(batch_key(batch)))
        log_round(report, logger)
        measure_round(report, metrics)
        measure_process(metrics, connections=CONNECTIONS)
        notify(report)
        if report.failures:
            failed.append(record["messageId"])
        report_agreement(sample.compare(), logger, metrics)
    return batch_response(failed)
