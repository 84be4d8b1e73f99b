"""The search index: written from the table's stream, read by the API."""

from __future__ import annotations

from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.api import Api
from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import PythonFunction
from infra.layers import Layers
from infra.nag import accept
from sourcebook.search.days import PREFIX
from sourcebook.table.keys import SENTIMENT_INDEX, search_mark

_FILES: Final = f"{PREFIX}*"
PERIOD: Final = cdk.Duration.minutes(3)
"""With a run, and the minute for which readers keep what they know, an article is found in five minutes."""


class Search(Construct):
    """The table's stream → index_articles, every three minutes → one file a day in the bucket.

    Attributes:
        index: the function that writes the index.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, deployment: Deployment, data: DataStack, layers: Layers
    ) -> None:
        super().__init__(scope, construct_id)
        self._data = data
        self.index = PythonFunction(
            self,
            "IndexArticles",
            name="index_articles",
            description="Writes analyzed articles into the search index",
            layers=[layers.core, layers.dependencies],
            environment={"TABLE_NAME": data.table.table_name, "BUCKET_NAME": data.bucket.bucket_name},
            timeout=cdk.Duration.minutes(2),
            memory_size=512,
        )
        self.index.allow(["dynamodb:BatchGetItem"], data.table.table_arn)
        # For a day that is made again.
        self.index.allow(["dynamodb:Query"], f"{data.table.table_arn}/index/{SENTIMENT_INDEX}")
        data.let_use(self.index, _FILES, "s3:GetObject", "s3:PutObject")
        stream = str(data.table.table_stream_arn)
        self.index.function.add_environment("STREAM_ARN", stream)
        reading = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"]
        self.index.allow(reading, stream)
        if deployment.is_local:
            self.index.allow(reading, "*")
            accept(
                self.index.role.node.find_child("DefaultPolicy"),
                "AwsSolutions-IAM5",
                "On the embedded cloud alone, whose requests to a stream name no resource; AWS gets its ARN.",
                applies_to=("Resource::*",),
            )
        self.index.role.add_to_principal_policy(
            iam.PolicyStatement(
                actions=["dynamodb:GetItem", "dynamodb:PutItem"],
                resources=[data.table.table_arn],
                conditions={"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [search_mark()["PK"]]}},
            )
        )
        self.index.run_every(PERIOD)

    def add_reading(self, api: Api) -> None:
        """Allow the API to read the index."""
        self._data.let_use(api.function, _FILES, "s3:GetObject")

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {"IndexFunctionName": self.index.function.function_name}
