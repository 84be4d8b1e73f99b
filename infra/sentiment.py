"""The cached sentiment of subjects: its scheduled refresh, and its renewal on demand."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.analysis import ANALYZING, use_engine
from infra.api import Api
from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import PythonFunction, allow_partiql
from infra.layers import Layers
from infra.workflows import Workflow
from sourcebook.table import keys


class Sentiment(Construct):
    """The functions that keep the roll-ups and the cache of sentiment.

    Attributes:
        refresh: every fifteen minutes, counts dirty hours again and computes every active subject's periods.
        reanalyze: analyzes the articles of a subject anew.
        invalidate: deletes what is cached of a subject.
        workflow: `reanalyze_subject`, which calls these two.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, deployment: Deployment, data: DataStack, layers: Layers
    ) -> None:
        super().__init__(scope, construct_id)
        self._data = data
        self.refresh = self._build_refresh(layers)
        self.reanalyze = self._build_reanalyze(layers)
        use_engine(self.reanalyze, deployment)
        allow_partiql(self.reanalyze, data.table, deployment, "Insert")
        self.invalidate = self._build_invalidate(layers)
        self.workflow = Workflow(
            self,
            "ReanalyzeSubject",
            name="reanalyze_subject",
            functions={"reanalyze_articles": self.reanalyze, "invalidate_sentiment": self.invalidate},
            table=data.table,
        )

    def add_reading(self, api: Api) -> None:
        """Allow the API to write computed sentiment and the counts of cache hits, and no other items."""
        api.function.role.add_to_principal_policy(
            iam.PolicyStatement(
                actions=["dynamodb:PutItem", "dynamodb:UpdateItem"],
                resources=[self._data.table.table_arn],
                conditions={
                    "ForAllValues:StringLike": {
                        "dynamodb:LeadingKeys": [keys.SUBJECT_PARTITIONS, keys.cache_metadata()["PK"]]
                    }
                },
            )
        )

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {
            "RefreshSentimentFunctionName": self.refresh.function.function_name,
            "ReanalyzeSubjectArn": self.workflow.machine.state_machine_arn,
        }

    def _build_refresh(self, layers: Layers) -> PythonFunction:
        refresh = self._function(
            layers,
            "RefreshSentiment",
            "refresh_sentiment",
            "Counts dirty hours again and computes the sentiment of every active subject",
            timeout=cdk.Duration.minutes(5),
            memory_size=1024,
        )
        table = self._data.table.table_arn
        refresh.allow(
            [
                "dynamodb:BatchGetItem",
                "dynamodb:BatchWriteItem",
                "dynamodb:DeleteItem",
                "dynamodb:PutItem",
                "dynamodb:Query",
                "dynamodb:UpdateItem",
            ],
            table,
        )
        refresh.allow(
            ["dynamodb:Query"],
            *(f"{table}/index/{name}" for name in (keys.ELIGIBILITY_INDEX, keys.TAG_INDEX)),
        )
        refresh.run_every(cdk.Duration.minutes(15))
        return refresh

    def _build_reanalyze(self, layers: Layers) -> PythonFunction:
        reanalyze = self._function(
            layers,
            "ReanalyzeArticles",
            "reanalyze_articles",
            "Analyzes the articles of a subject anew",
            timeout=cdk.Duration.minutes(5),
            memory_size=1024,
            engine=True,
        )
        table = self._data.table.table_arn
        reanalyze.allow(ANALYZING, table)
        reanalyze.allow(
            ["dynamodb:Query"],
            *(
                f"{table}/index/{name}"
                for name in (keys.ELIGIBILITY_INDEX, keys.SENTIMENT_INDEX, keys.TAG_INDEX)
            ),
        )
        return reanalyze

    def _build_invalidate(self, layers: Layers) -> PythonFunction:
        invalidate = self._function(
            layers,
            "InvalidateSentiment",
            "invalidate_sentiment",
            "Deletes what is cached of a subject",
            timeout=cdk.Duration.seconds(30),
            memory_size=256,
        )
        invalidate.allow(
            ["dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
            self._data.table.table_arn,
        )
        return invalidate

    def _function(
        self,
        layers: Layers,
        construct_id: str,
        name: str,
        description: str,
        *,
        timeout: cdk.Duration,
        memory_size: int,
        engine: bool = False,
    ) -> PythonFunction:
        return PythonFunction(
            self,
            construct_id,
            name=name,
            description=description,
            layers=[layers.core, layers.dependencies, *([layers.sentiment] if engine else [])],
            environment={
                "TABLE_NAME": self._data.table.table_name,
                "BUCKET_NAME": self._data.bucket.bucket_name,
            },
            timeout=timeout,
            memory_size=memory_size,
        )
