"""Ingestion: dispatches and fetches the sources that are due, and writes their articles."""

from __future__ import annotations

from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import PythonFunction, TableFunction, WorkQueue, with_batches
from infra.layers import Layers
from infra.monitoring import Monitoring, WatchedMetric
from sourcebook.table.keys import ELIGIBILITY_INDEX

SLOW_SECONDS: Final = 5
"""A fetch that takes longer is logged as slow; most of them should not (`sourcebook.sources.report`)."""
MOST_FAILING: Final = 50
"""Percent of failed fetches above which the alarm rings."""
ENOUGH_FETCHES: Final = 20
"""Least number of fetches in a period for which the share of failures is computed."""
MANY_DUE: Final = 15_000
"""Sources that are due in one minute, of which 100,000 feeds have some 10,000."""
_FETCH_MEMORY: Final = 1024


class Ingestion(Construct):
    """Schedule → dispatch_sources → queue → fetch_sources → table and topic.

    Attributes:
        dispatch: finds the sources that are due and puts them on the queue.
        work: the queue of sources to fetch.
        fetch: fetches them, writes their articles and announces the new ones.
        articles: the topic of new articles.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, deployment: Deployment, data: DataStack, layers: Layers
    ) -> None:
        super().__init__(scope, construct_id)
        self._deployment = deployment
        self.articles = sns.Topic(self, "Articles", enforce_ssl=True)
        self.fetch = self._build_fetch(data, layers)
        self.work = WorkQueue(
            self,
            "Fetch",
            visibility_timeout=self.fetch.visibility_timeout(local=deployment.is_local),
            # A source whose fetch failed is due again soon anyway; trying longer only delays the alarm.
            max_receive_count=3,
        )
        self.fetch.function.add_event_source(
            event_sources.SqsEventSource(
                self.work.queue,
                # One message is a chunk of sources already, fetched in parallel within the call.
                batch_size=1,
                report_batch_item_failures=True,
                max_concurrency=deployment.fetch_concurrency,
            )
        )
        self.dispatch = self._build_dispatch(data, layers)
        self.dispatch.run_every(cdk.Duration.minutes(1))

    def grant_announce(self, function: PythonFunction) -> None:
        """Allow a function to announce articles that wait for their analysis."""
        function.function.add_environment("ARTICLE_TOPIC_ARN", self.articles.topic_arn)
        function.allow(with_batches("sns:Publish", self._deployment), self.articles.topic_arn)

    def _build_fetch(self, data: DataStack, layers: Layers) -> TableFunction:
        fetch = TableFunction(
            self,
            "FetchSources",
            name="fetch_sources",
            description="Fetches the sources of one message, stores their articles, announces the new ones",
            data=data,
            layers=layers,
            environment={
                **self._deployment.http_environment(),
                **self._deployment.feeds.to_environment(),
            },
            timeout=cdk.Duration.seconds(120),
            memory_size=_FETCH_MEMORY,
        )
        fetch.allow_items("BatchGetItem", "GetItem", "PutItem", "UpdateItem")
        # A source that adds a ticker to an analysed article adds its mention too.
        fetch.allow_items("BatchWriteItem")
        # Of two articles that turn out to be one, the later is deleted if at that instant the other stays.
        fetch.allow_items("ConditionCheckItem", "DeleteItem")
        fetch.allow_statements(self._deployment, "Insert", "Update")
        self.grant_announce(fetch)
        return fetch

    def _build_dispatch(self, data: DataStack, layers: Layers) -> TableFunction:
        dispatch = TableFunction(
            self,
            "DispatchSources",
            name="dispatch_sources",
            description="Puts the sources that are due on the queue of fetch_sources",
            data=data,
            layers=layers,
            environment={"FETCH_QUEUE_URL": self.work.queue.queue_url},
            timeout=cdk.Duration.seconds(50),
            # A hundred thousand sources take six seconds of a whole CPU.
            memory_size=1024,
        )
        dispatch.allow_indexes(ELIGIBILITY_INDEX)
        # Its tick, and the due time of sources that are asked for by name.
        dispatch.allow_items("PutItem", "UpdateItem")
        dispatch.allow(
            [*with_batches("sqs:SendMessage", self._deployment), "sqs:GetQueueAttributes"],
            self.work.queue.queue_arn,
        )
        return dispatch

    def add_monitoring(self, monitoring: Monitoring) -> None:
        """Add the alarms on feeds and on waiting fetches, and the notices of disabled sources."""
        self.fetch.allow(["sns:Publish"], monitoring.topic.topic_arn)
        self.fetch.function.add_environment("ALARM_TOPIC_ARN", monitoring.topic.topic_arn)
        period = cdk.Duration.minutes(15)
        duration = self.fetch.metric("feed_fetch_duration_seconds", statistic="p95", period=period)
        memory = self.fetch.metric("memory_usage_bytes", statistic="Maximum", period=period)
        monitoring.alarm_on_any(
            "feed-fetches-strained",
            [
                WatchedMetric(duration, limit=SLOW_SECONDS),
                WatchedMetric(memory, limit=0.9 * _FETCH_MEMORY * 1024**2),
            ],
            periods=(2, 3),
            meaning=f"One in twenty fetches of feeds took {SLOW_SECONDS} seconds or more, or fetch_sources "
            f"used over 90 % of its {_FETCH_MEMORY} MB, beyond which it is killed.",
            action="See which of both, and which hosts or documents it comes from.",
        )
        monitoring.alarm(
            "feed-queue-size",
            # A dispatch that finds nothing due sends no metric, which counts as none due.
            metric=self.dispatch.metric("queue_size", statistic="Maximum", period=cdk.Duration.minutes(1)),
            threshold=MANY_DUE,
            periods=(15, 15),
            meaning=f"For 15 minutes {MANY_DUE:,} sources or more were due: fetching falls behind.",
            action="Raise fetch_concurrency, or ask feeds less often.",
        )
        self._watch_failures(monitoring, period)
        monitoring.show(
            {
                "Sources due": [self.dispatch.metric("queue_size", statistic="Maximum", period=period)],
                "Feeds: entries read, articles made, fetches failed": [
                    self.fetch.metric(name, statistic="Sum", period=period)
                    for name in (
                        "articles_parsed_total",
                        "articles_inserted_total",
                        "feed_fetch_errors_total",
                    )
                ],
                "Feeds: seconds of a fetch, 95th percentile": [duration],
            }
        )

    def _watch_failures(self, monitoring: Monitoring, period: cdk.Duration) -> None:
        share = cloudwatch.MathExpression(
            label="Percent of the fetches of feeds that failed",
            expression=f"IF(fetches < {ENOUGH_FETCHES}, 0, 100 * errors / fetches)",
            using_metrics={
                "fetches": self.fetch.metric(
                    "feed_fetch_duration_seconds", statistic="SampleCount", period=period
                ),
                "errors": self.fetch.metric("feed_fetch_errors_total", statistic="Sum", period=period),
            },
            period=period,
        )
        monitoring.alarm(
            "feed-fetches-failing",
            metric=share,
            threshold=MOST_FAILING,
            periods=(2, 2),
            meaning=f"For half an hour {MOST_FAILING} % or more of the fetches of feeds failed.",
            action="See what they have in common: a host, a cause, or our own way out.",
        )

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {
            "FetchQueueUrl": self.work.queue.queue_url,
            "FetchDeadLetterQueueUrl": self.work.dead_letters.queue_url,
            "ArticleTopicArn": self.articles.topic_arn,
            "DispatchFunctionName": self.dispatch.function.function_name,
            "FetchFunctionName": self.fetch.function.function_name,
        }
