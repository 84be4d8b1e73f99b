"""The cached sentiment of subjects: its scheduled refresh, and its renewal on demand."""

from __future__ import annotations

import aws_cdk as cdk
from constructs import Construct

from infra.analysis import grant_analyze
from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import TableFunction
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
        self.refresh = self._build_refresh(data, layers)
        self.reanalyze = self._build_reanalyze(deployment, data, layers)
        self.invalidate = self._build_invalidate(data, layers)
        self.workflow = Workflow(
            self,
            "ReanalyzeSubject",
            name="reanalyze_subject",
            functions={"reanalyze_articles": self.reanalyze, "invalidate_sentiment": self.invalidate},
            table=data.table,
        )

    def grant_cache(self, function: TableFunction) -> None:
        """Allow a function to write computed sentiment and the counts of cache hits, and no other items."""
        function.allow_items(
            "PutItem", "UpdateItem", partitions=[keys.subject("*")["PK"], keys.cache_metadata()["PK"]]
        )

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {
            "RefreshSentimentFunctionName": self.refresh.function.function_name,
            "ReanalyzeSubjectArn": self.workflow.machine.state_machine_arn,
        }

    def _build_refresh(self, data: DataStack, layers: Layers) -> TableFunction:
        refresh = TableFunction(
            self,
            "RefreshSentiment",
            name="refresh_sentiment",
            description="Counts dirty hours again and computes the sentiment of every active subject",
            data=data,
            layers=layers,
            timeout=cdk.Duration.minutes(5),
            memory_size=1024,
        )
        refresh.allow_items("BatchGetItem", "BatchWriteItem", "DeleteItem", "PutItem", "Query", "UpdateItem")
        refresh.allow_indexes(keys.ELIGIBILITY_INDEX, keys.TAG_INDEX)
        refresh.run_every(cdk.Duration.minutes(15))
        return refresh

    def _build_reanalyze(self, deployment: Deployment, data: DataStack, layers: Layers) -> TableFunction:
        reanalyze = TableFunction(
            self,
            "ReanalyzeArticles",
            name="reanalyze_articles",
            description="Analyzes the articles of a subject anew",
            data=data,
            layers=layers,
            more_layers=[layers.sentiment],
            timeout=cdk.Duration.minutes(5),
            memory_size=1024,
        )
        grant_analyze(reanalyze, deployment)
        reanalyze.allow_indexes(keys.SENTIMENT_INDEX, keys.TAG_INDEX)
        return reanalyze

    def _build_invalidate(self, data: DataStack, layers: Layers) -> TableFunction:
        invalidate = TableFunction(
            self,
            "InvalidateSentiment",
            name="invalidate_sentiment",
            description="Deletes what is cached of a subject",
            data=data,
            layers=layers,
            timeout=cdk.Duration.seconds(30),
            memory_size=256,
        )
        invalidate.allow_items("DeleteItem", "GetItem", "PutItem", "UpdateItem")
        return invalidate
