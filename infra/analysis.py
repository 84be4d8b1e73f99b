"""Sentiment analysis of new articles."""

from __future__ import annotations

from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import TableFunction, WorkQueue
from infra.ingestion import Ingestion
from infra.layers import Layers
from infra.monitoring import Monitoring, WatchedMetric
from infra.nag import accept_wildcard
from sourcebook.sentiment.engines.loading import COMPREHEND, SENTIMENT_ENGINE
from sourcebook.sentiment.engines.model import NO_TELEMETRY
from sourcebook.table.keys import ELIGIBILITY_INDEX, STATUS_INDEX

_PERIOD: Final = cdk.Duration.minutes(15)


def grant_analyze(function: TableFunction, deployment: Deployment) -> None:
    """Allow a function to analyze articles with the chosen sentiment engine.

    It reads subjects and articles, writes marks, mentions and articles, and deletes mentions that an article
    no longer has.
    """
    function.allow_items(
        "BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"
    )
    function.allow_statements(deployment, "Insert")
    function.allow_indexes(ELIGIBILITY_INDEX)
    function.function.add_environment(SENTIMENT_ENGINE, deployment.sentiment_engine)
    function.function.add_environment(NO_TELEMETRY, "1")
    if deployment.sentiment_engine == COMPREHEND:
        function.allow(["comprehend:BatchDetectSentiment"], "*")
        accept_wildcard(
            function.role,
            "Comprehend's detection of sentiment knows no resources: its permission takes none but all.",
        )


class Analysis(Construct):
    """Topic of new articles → queue → analyze_sentiment → table; heal_articles → the same topic.

    Attributes:
        work: the queue of articles that wait for their analysis.
        analyze: the function that does it.
        heal: repeats the announcement of articles that were not analyzed in time.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        data: DataStack,
        layers: Layers,
        ingestion: Ingestion,
    ) -> None:
        super().__init__(scope, construct_id)
        self.analyze = TableFunction(
            self,
            "AnalyzeSentiment",
            name="analyze_sentiment",
            description="Scores new articles, writes their mentions and marks them analysed",
            data=data,
            layers=layers,
            more_layers=[layers.sentiment],
            timeout=cdk.Duration.seconds(60),
        )
        grant_analyze(self.analyze, deployment)
        self.work = WorkQueue(
            self,
            "Analyze",
            visibility_timeout=self.analyze.visibility_timeout(local=deployment.is_local),
            max_receive_count=5,
        )
        ingestion.articles.add_subscription(
            subscriptions.SqsSubscription(self.work.queue, raw_message_delivery=True)
        )
        self.analyze.function.add_event_source(
            event_sources.SqsEventSource(
                self.work.queue,
                batch_size=50,
                # Articles of one feed come within a second of one another.
                max_batching_window=cdk.Duration.seconds(2),
                report_batch_item_failures=True,
                max_concurrency=deployment.analyze_concurrency,
            )
        )
        self.heal = self._build_heal(data, layers)
        ingestion.grant_announce(self.heal)

    def _build_heal(self, data: DataStack, layers: Layers) -> TableFunction:
        heal = TableFunction(
            self,
            "HealArticles",
            name="heal_articles",
            description="Announces again the articles that have waited for their analysis too long",
            data=data,
            layers=layers,
            timeout=cdk.Duration.seconds(60),
        )
        heal.allow_indexes(STATUS_INDEX)
        heal.allow_items("BatchGetItem")
        heal.run_every(cdk.Duration.minutes(15))
        return heal

    def add_monitoring(self, monitoring: Monitoring) -> None:
        """Add the alarm on an engine that had to be replaced."""
        monitoring.alarm(
            "sentiment-fallback",
            metric=self.analyze.metric("SentimentFallback", statistic="Sum", period=_PERIOD),
            meaning="The sentiment model could not be loaded, so a simpler engine labels the articles.",
            action="See why in the log, and deploy again.",
        )

    def waiting(self) -> WatchedMetric:
        """Return the metric of articles that are still pending after a second announcement."""
        return WatchedMetric(self.heal.metric("ArticlesHealed", statistic="Sum", period=_PERIOD))

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {
            "AnalyzeQueueUrl": self.work.queue.queue_url,
            "AnalyzeDeadLetterQueueUrl": self.work.dead_letters.queue_url,
            "AnalyzeFunctionName": self.analyze.function.function_name,
            "HealFunctionName": self.heal.function.function_name,
        }
