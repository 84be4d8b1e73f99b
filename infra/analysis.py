"""Sentiment analysis of new articles."""

from __future__ import annotations

from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.api import Api
from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import PythonFunction, WorkQueue, allow_partiql, with_batches
from infra.layers import Layers
from infra.monitoring import Monitoring, WatchedMetric
from infra.nag import accept
from sourcebook.sentiment.engines.loading import COMPREHEND, SENTIMENT_ENGINE
from sourcebook.sentiment.engines.model import NO_TELEMETRY
from sourcebook.table.keys import ELIGIBILITY_INDEX, STATUS_INDEX

ANALYZING: Final = (
    "dynamodb:BatchGetItem",
    "dynamodb:BatchWriteItem",
    "dynamodb:DeleteItem",
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
)
"""What a function that analyzes articles does with the table: subjects and articles in, marks, mentions and
articles out, and mentions that an article no longer has deleted."""


def use_engine(function: PythonFunction, deployment: Deployment) -> None:
    """Configure a function with the chosen sentiment engine; allow Comprehend only for that engine."""
    function.function.add_environment(SENTIMENT_ENGINE, deployment.sentiment_engine)
    function.function.add_environment(NO_TELEMETRY, "1")
    if deployment.sentiment_engine == COMPREHEND:
        function.allow(["comprehend:BatchDetectSentiment"], "*")
        accept(
            function.role.node.find_child("DefaultPolicy"),
            "AwsSolutions-IAM5",
            "Comprehend's detection of sentiment knows no resources: its permission takes none but all.",
            applies_to=("Resource::*",),
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
        articles: sns.ITopic,
    ) -> None:
        super().__init__(scope, construct_id)
        self.analyze = PythonFunction(
            self,
            "AnalyzeSentiment",
            name="analyze_sentiment",
            description="Scores new articles, writes their mentions and marks them analysed",
            layers=[layers.core, layers.dependencies, layers.sentiment],
            environment={"TABLE_NAME": data.table.table_name, "BUCKET_NAME": data.bucket.bucket_name},
            timeout=cdk.Duration.seconds(60),
            memory_size=512,
        )
        use_engine(self.analyze, deployment)
        self.analyze.allow(ANALYZING, data.table.table_arn)
        allow_partiql(self.analyze, data.table, deployment, "Insert")
        self.analyze.allow(["dynamodb:Query"], f"{data.table.table_arn}/index/{ELIGIBILITY_INDEX}")
        self.work = WorkQueue(
            self,
            "Analyze",
            visibility_timeout=self.analyze.visibility_timeout(local=deployment.is_local),
            max_receive_count=5,
        )
        articles.add_subscription(subscriptions.SqsSubscription(self.work.queue, raw_message_delivery=True))
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
        self._articles = articles
        self.heal = self._build_heal(deployment, data, layers, articles)

    def add_deciding(self, api: Api, deployment: Deployment) -> None:
        """Allow the API to announce articles that were joined or split."""
        api.function.function.add_environment("ARTICLE_TOPIC_ARN", self._articles.topic_arn)
        api.function.allow(with_batches("sns:Publish", deployment), self._articles.topic_arn)

    def _build_heal(
        self, deployment: Deployment, data: DataStack, layers: Layers, articles: sns.ITopic
    ) -> PythonFunction:
        heal = PythonFunction(
            self,
            "HealArticles",
            name="heal_articles",
            description="Announces again the articles that have waited for their analysis too long",
            layers=[layers.core, layers.dependencies],
            environment={
                "TABLE_NAME": data.table.table_name,
                "BUCKET_NAME": data.bucket.bucket_name,
                "ARTICLE_TOPIC_ARN": articles.topic_arn,
            },
            timeout=cdk.Duration.seconds(60),
            memory_size=512,
        )
        heal.allow(["dynamodb:Query"], f"{data.table.table_arn}/index/{STATUS_INDEX}")
        heal.allow(["dynamodb:BatchGetItem"], data.table.table_arn)
        heal.allow(with_batches("sns:Publish", deployment), articles.topic_arn)
        heal.run_every(cdk.Duration.minutes(15))
        return heal

    def add_monitoring(self, monitoring: Monitoring) -> None:
        """Add the alarm on an engine that had to be replaced."""
        monitoring.alarm(
            "sentiment-fallback",
            metric=self._metric(self.analyze, "SentimentFallback"),
            meaning="The sentiment model could not be loaded, so a simpler engine labels the articles.",
            action="See why in the log, and deploy again.",
        )

    def waiting(self) -> WatchedMetric:
        """Return the metric of articles that are still pending after a second announcement."""
        return WatchedMetric(self._metric(self.heal, "ArticlesHealed"))

    @staticmethod
    def _metric(function: PythonFunction, name: str) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace="Sourcebook",
            metric_name=name,
            dimensions_map={"service": function.name},
            statistic="Sum",
            period=cdk.Duration.minutes(15),
        )
