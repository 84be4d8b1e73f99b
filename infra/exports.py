"""Exports of whole days of records as files."""

from __future__ import annotations

from typing import Final

from constructs import Construct

from infra.data_stack import DataStack
from infra.functions import TableFunction, TaskFunction
from infra.layers import Layers
from infra.workflows import Workflow
from sourcebook.exports.manifest import PREFIX
from sourcebook.table.keys import SENTIMENT_INDEX, STATUS_INDEX

_FILES: Final = f"{PREFIX}*"


class Exports(Construct):
    """The workflow `export_period` and its function, which writes some days in each call.

    Attributes:
        export: that function; it has the Parquet layer.
        workflow: the state machine.
    """

    def __init__(self, scope: Construct, construct_id: str, *, data: DataStack, layers: Layers) -> None:
        super().__init__(scope, construct_id)
        self.export = TaskFunction(
            self,
            "export_days",
            "Writes the next days of an export",
            data=data,
            layers=layers,
            more_layers=[layers.parquet],
            # A call ends after 30 seconds by itself, and after one piece at the least.
            seconds=600,
            # A day of 100,000 articles takes half of it; a whole processor comes with it.
            memory_size=2_048,
        )
        self.export.allow_items("BatchGetItem", "GetItem", "Query")
        self.export.allow_indexes(SENTIMENT_INDEX, STATUS_INDEX)
        self.export.allow_objects(_FILES, "GetObject", "PutObject", listing=True)
        self.workflow = Workflow(
            self,
            "ExportPeriod",
            name="export_period",
            functions={"export_days": self.export},
            table=data.table,
        )

    def grant_read(self, function: TableFunction) -> None:
        """Allow a function to list exports and to read their files."""
        function.allow_objects(_FILES, "GetObject", listing=True)

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {"ExportPeriodArn": self.workflow.machine.state_machine_arn}
