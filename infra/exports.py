"""Exports of whole days of records as files."""

from __future__ import annotations

from typing import Final

import aws_cdk as cdk
from constructs import Construct

from infra.api import Api
from infra.data_stack import DataStack
from infra.functions import PythonFunction
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
        self._data = data
        self.export = PythonFunction(
            self,
            "ExportDays",
            name="export_days",
            description="Writes the next days of an export",
            layers=[layers.core, layers.dependencies, layers.parquet],
            environment={"TABLE_NAME": data.table.table_name, "BUCKET_NAME": data.bucket.bucket_name},
            # A call ends after 30 seconds by itself, and after one piece at the least.
            timeout=cdk.Duration.minutes(10),
            # A day of 100,000 articles takes half of it; a whole processor comes with it.
            memory_size=2_048,
        )
        table = data.table.table_arn
        self.export.allow(
            [
                "dynamodb:BatchGetItem",
                "dynamodb:GetItem",
                "dynamodb:PutItem",
                "dynamodb:Query",
                "dynamodb:UpdateItem",
            ],
            table,
        )
        self.export.allow(
            ["dynamodb:Query"], *(f"{table}/index/{name}" for name in (SENTIMENT_INDEX, STATUS_INDEX))
        )
        data.let_use(self.export, _FILES, "s3:GetObject", "s3:PutObject")
        self.workflow = Workflow(
            self,
            "ExportPeriod",
            name="export_period",
            functions={"export_days": self.export},
            table=data.table,
        )

    def add_reading(self, api: Api) -> None:
        """Allow the API to list exports and to read their files."""
        self._data.let_use(api.function, _FILES, "s3:GetObject")

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {"ExportPeriodArn": self.workflow.machine.state_machine_arn}
