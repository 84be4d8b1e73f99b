"""The search index: written from the table's stream, read by the API."""

from __future__ import annotations

from typing import Final

import aws_cdk as cdk
from constructs import Construct

from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import TableFunction
from infra.layers import Layers
from infra.nag import accept_wildcard
from sourcebook.search.days import PREFIX
from sourcebook.table.keys import SEARCH_MARK, SENTIMENT_INDEX

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
        stream = str(data.table.table_stream_arn)
        self.index = TableFunction(
            self,
            "IndexArticles",
            name="index_articles",
            description="Writes analyzed articles into the search index",
            data=data,
            layers=layers,
            environment={"STREAM_ARN": stream},
            timeout=cdk.Duration.minutes(2),
        )
        self.index.allow_items("BatchGetItem")
        self.index.allow_items("GetItem", "PutItem", partitions=[SEARCH_MARK["PK"]])
        # For new articles that still wait for their analysis.
        self.index.allow_statements(deployment, "Update")
        # For a day that is made again.
        self.index.allow_indexes(SENTIMENT_INDEX)
        self.index.allow_objects(_FILES, "GetObject", "PutObject", listing=True)
        reading = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"]
        self.index.allow(reading, stream)
        if deployment.is_local:
            self.index.allow(reading, "*")
            accept_wildcard(
                self.index.role,
                "On the embedded cloud alone, whose requests to a stream name no resource; AWS gets its ARN.",
            )
        self.index.run_every(PERIOD)

    def grant_read(self, function: TableFunction) -> None:
        """Allow a function to read the index."""
        function.allow_objects(_FILES, "GetObject", listing=True)

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {"IndexFunctionName": self.index.function.function_name}
