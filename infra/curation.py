"""Curation: applies decisions of people on novae to all their items."""

from __future__ import annotations

from constructs import Construct

from infra.data_stack import DataStack
from infra.functions import TaskFunction
from infra.layers import Layers
from infra.workflows import Workflow


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
        self.task = TaskFunction(
            self,
            "curate_nova",
            "Merges a nova into another, splits it off again, deprecates it or restores it",
            data=data,
            layers=layers,
            more_layers=[layers.parquet],
            # A nova of a thousand spectra, each moved in a transaction of its own.
            seconds=840,
            memory_size=2_048,
        )
        self.task.allow_items("DeleteItem", "GetItem", "Query")
        self.task.allow_objects("derived/photometry/*", "GetObject", "PutObject")
        self.workflow = Workflow(
            self,
            "CurateNovaWorkflow",
            name="curate_nova",
            functions={"curate_nova": self.task},
            table=data.table,
        )
