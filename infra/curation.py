"""Curation: applies decisions of people on novae to all their items."""

from __future__ import annotations

import aws_cdk as cdk
from constructs import Construct

from infra.data_stack import DataStack
from infra.functions import PythonFunction
from infra.layers import Layers
from infra.nag import accept
from infra.workflows import Workflow

_TABLES = "derived/photometry/*"


class Curation(Construct):
    """curate_nova: merges, splits, deprecates and restores.

    Its function may delete items, which no other of the catalogue may, and has the Parquet layer, for the
    light curves of two novae become one.

    Attributes:
        task: the function.
        workflow: the state machine.
    """

    def __init__(self, scope: Construct, construct_id: str, *, data: DataStack, layers: Layers) -> None:
        super().__init__(scope, construct_id)
        self.task = PythonFunction(
            self,
            "CurateNova",
            name="curate_nova",
            description="Merges a nova into another, splits it off again, deprecates it or restores it",
            layers=[layers.core, layers.dependencies, layers.parquet],
            environment={"TABLE_NAME": data.table.table_name, "BUCKET_NAME": data.bucket.bucket_name},
            # A nova of a thousand spectra, each moved in a transaction of its own.
            timeout=cdk.Duration.seconds(840),
            memory_size=2_048,
        )
        actions = ("DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem")
        self.task.allow([f"dynamodb:{action}" for action in actions], data.table.table_arn)
        for action in ("s3:GetObject", "s3:PutObject"):
            self.task.allow([action], data.bucket.arn_for_objects(_TABLES))
        accept(
            self.task.role.node.find_child("DefaultPolicy"),
            "AwsSolutions-IAM5",
            "Each nova has a folder of its own, whose name is not known beforehand; the prefix is the "
            "narrowest that holds them all.",
            applies_to=(f"Resource::<DataBucket.Arn>/{_TABLES}",),
        )
        self.workflow = Workflow(
            self,
            "CurateNovaWorkflow",
            name="curate_nova",
            functions={"curate_nova": self.task},
            table=data.table,
        )
