"""From the clock to new articles: what is due is dispatched, fetched and written."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import PythonFunction, WorkQueue, with_batches
from infra.layers import Layers
from sourcebook.table.keys import ELIGIBILITY_INDEX


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
        self.articles = sns.Topic(self, "Articles", enforce_ssl=True)
        self.fetch = self._build_fetch(deployment, data, layers)
        self.work = WorkQueue(
            self,
            "Fetch",
            visibility_timeout=self.fetch.visibility_timeout(),
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
        self.dispatch = self._build_dispatch(deployment, data, layers)
        self.dispatch.run_every(cdk.Duration.minutes(1))

    def _build_fetch(self, deployment: Deployment, data: DataStack, layers: Layers) -> PythonFunction:
        fetch = PythonFunction(
            self,
            "FetchSources",
            name="fetch_sources",
            description="Fetches the sources of one message, stores their articles, announces the new ones",
            layers=[layers.core, layers.dependencies],
            environment={
                "TABLE_NAME": data.table.table_name,
                "BUCKET_NAME": data.bucket.bucket_name,
                "ARTICLE_TOPIC_ARN": self.articles.topic_arn,
                "HTTP_ALLOWED_NETWORKS": deployment.allowed_networks,
                "HTTP_CONTACT": deployment.contact,
            },
            timeout=cdk.Duration.seconds(120),
            memory_size=1024,
        )
        fetch.allow(
            [
                "dynamodb:BatchGetItem",
                "dynamodb:GetItem",
                "dynamodb:PutItem",
                "dynamodb:UpdateItem",
                # A source that adds a ticker to an analysed article adds its mention too.
                "dynamodb:BatchWriteItem",
                # Of two articles that turn out to be one, the later goes, if at that instant the other stays.
                "dynamodb:ConditionCheckItem",
                "dynamodb:DeleteItem",
            ],
            data.table.table_arn,
        )
        fetch.allow(with_batches("sns:Publish", deployment), self.articles.topic_arn)
        return fetch

    def _build_dispatch(self, deployment: Deployment, data: DataStack, layers: Layers) -> PythonFunction:
        dispatch = PythonFunction(
            self,
            "DispatchSources",
            name="dispatch_sources",
            description="Puts the sources that are due on the queue of fetch_sources",
            layers=[layers.core, layers.dependencies],
            environment={
                "TABLE_NAME": data.table.table_name,
                "BUCKET_NAME": data.bucket.bucket_name,
                "FETCH_QUEUE_URL": self.work.queue.queue_url,
            },
            timeout=cdk.Duration.seconds(50),
            memory_size=512,
        )
        dispatch.allow(["dynamodb:Query"], f"{data.table.table_arn}/index/{ELIGIBILITY_INDEX}")
        # Its tick, and the due time of sources that are asked for by name.
        dispatch.allow(["dynamodb:PutItem", "dynamodb:UpdateItem"], data.table.table_arn)
        dispatch.allow(with_batches("sqs:SendMessage", deployment), self.work.queue.queue_arn)
        return dispatch
