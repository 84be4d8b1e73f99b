"""Observations: the prefix of fetched pages, the rebuild of the canonical layer, and alarms."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.data_stack import BUCKET_LOGICAL_ID, DataStack
from infra.functions import PythonFunction
from infra.layers import Layers
from infra.monitoring import Monitoring
from infra.nag import accept
from infra.workflows import Workflow
from sourcebook.observations.adapters.poll import PAGES


class Observations(Construct):
    """The canonical layer's rebuild, by a state machine that calls one function until all is done.

    Attributes:
        rebuild: looks at a piece of the canonical layer in each call.
        workflow: `rebuild_canonical`.
    """

    def __init__(self, scope: Construct, construct_id: str, *, data: DataStack, layers: Layers) -> None:
        super().__init__(scope, construct_id)
        self._data = data
        self.rebuild = PythonFunction(
            self,
            "RebuildCanonical",
            name="rebuild_canonical",
            description="Makes the next piece of the canonical layer of observations anew",
            layers=[layers.core, layers.dependencies],
            environment={"TABLE_NAME": data.table.table_name, "BUCKET_NAME": data.bucket.bucket_name},
            # A piece ends after 40 seconds by itself.
            timeout=cdk.Duration.seconds(120),
            memory_size=512,
        )
        self.rebuild.allow(
            [
                "dynamodb:BatchGetItem",
                "dynamodb:GetItem",
                "dynamodb:PutItem",
                "dynamodb:Query",
                "dynamodb:UpdateItem",
            ],
            data.table.table_arn,
        )
        self.workflow = Workflow(
            self,
            "Rebuild",
            name="rebuild_canonical",
            functions={"rebuild_canonical": self.rebuild},
            table=data.table,
        )

    def add_fetching(self, fetch: PythonFunction) -> None:
        """Allow fetch_sources to write pages and to read the items that it repairs."""
        fetch.allow(["s3:PutObject"], self._data.bucket.arn_for_objects(f"{PAGES}*"))
        fetch.allow(["dynamodb:Query"], self._data.table.table_arn)
        accept(
            fetch.role.node.find_child("DefaultPolicy"),
            "AwsSolutions-IAM5",
            "Pages are kept under the hash of their content, which is not known before; a prefix bounds it.",
            applies_to=(f"Resource::<{BUCKET_LOGICAL_ID}.Arn>/{PAGES}*",),
        )

    def add_monitoring(self, monitoring: Monitoring, fetch: PythonFunction) -> None:
        """Add the alarms of this construct."""
        monitoring.alarm(
            "scrape-anomaly",
            metric=cloudwatch.Metric(
                namespace="Sourcebook",
                metric_name="ScrapeAnomalies",
                dimensions_map={"service": fetch.name},
                statistic="Sum",
                period=cdk.Duration.minutes(5),
            ),
            meaning="A page of figures yielded far fewer rows (30 % by default) than the time before.",
            action="See which source it is, and whether its page has changed.",
        )
