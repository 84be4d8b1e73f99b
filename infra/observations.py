"""Observations: keeping fetched pages, the rebuild of the canonical layer, and its alarm."""

from __future__ import annotations

import aws_cdk as cdk
from constructs import Construct

from infra.data_stack import DataStack
from infra.functions import PythonFunction, TableFunction, TaskFunction
from infra.layers import Layers
from infra.monitoring import Monitoring
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
        self.rebuild = TaskFunction(
            self,
            "rebuild_canonical",
            "Makes the next piece of the canonical layer of observations anew",
            data=data,
            layers=layers,
            # A piece ends after 40 seconds by itself.
            seconds=120,
        )
        self.rebuild.allow_items("BatchGetItem", "GetItem", "Query")
        self.workflow = Workflow(
            self,
            "Rebuild",
            name="rebuild_canonical",
            functions={"rebuild_canonical": self.rebuild},
            table=data.table,
        )

    def grant_fetch(self, function: TableFunction) -> None:
        """Allow a function to keep fetched pages, and to query the items that it repairs."""
        function.allow_objects(f"{PAGES}*", "PutObject")
        function.allow_items("Query")

    def add_monitoring(self, monitoring: Monitoring, fetch: PythonFunction) -> None:
        """Add the alarm on pages that yield far fewer rows than before."""
        monitoring.alarm(
            "scrape-anomaly",
            metric=fetch.metric("ScrapeAnomalies", statistic="Sum", period=cdk.Duration.minutes(5)),
            meaning="A page of figures yielded far fewer rows (30 % by default) than the time before.",
            action="See which source it is, and whether its page has changed.",
        )

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {
            "RebuildFunctionName": self.rebuild.function.function_name,
            "RebuildCanonicalArn": self.workflow.machine.state_machine_arn,
        }
