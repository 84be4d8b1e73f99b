"""The ingestion of photometry: reads an upload row by row and rebuilds the table of its nova."""

from __future__ import annotations

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.api import Api
from infra.data_stack import DataStack
from infra.functions import PythonFunction
from infra.layers import Layers
from infra.nag import accept
from infra.workflows import Workflow

_RECORD = ("dynamodb:PutItem", "dynamodb:UpdateItem")
"""Actions of every task: to write its attempt and complete it."""
_UPLOADS = "raw/photometry/*"
_TABLES = "derived/photometry/*"


class Photometry(Construct):
    """find_nova → validate_photometry → rebuild_photometry.

    Only `rebuild_photometry` has the Parquet layer.

    Attributes:
        tasks: the functions of this construct alone, by name.
        workflow: the state machine.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        data: DataStack,
        layers: Layers,
        find_nova: PythonFunction,
    ) -> None:
        """Make the functions and the workflow.

        Args:
            scope: the construct it belongs to.
            construct_id: its name in there.
            data: the table and the bucket.
            layers: those of the functions.
            find_nova: the function that finds the nova of a name.
        """
        super().__init__(scope, construct_id)
        self._data = data
        core = [layers.core, layers.dependencies]
        validate = self._task(
            "validate_photometry", "Reads an upload of photometry row by row", layers=core, timeout=120
        )
        validate.allow(["dynamodb:Query"], data.table.table_arn)
        self._may(validate, "s3:GetObject", _UPLOADS)
        self._may(validate, "s3:PutObject", _TABLES)
        rebuild = self._task(
            "rebuild_photometry",
            "Adds the measurements of an upload to the table of its nova",
            layers=[*core, layers.parquet],
            timeout=180,
        )
        self._may(rebuild, "s3:GetObject", _TABLES)
        self._may(rebuild, "s3:PutObject", _TABLES)
        self.tasks = {task.name: task for task in (validate, rebuild)}
        self.workflow = Workflow(
            self,
            "IngestPhotometry",
            name="ingest_photometry",
            functions={**self.tasks, "find_nova": find_nova},
            table=data.table,
        )

    def _task(
        self, name: str, description: str, *, layers: Sequence[lambda_.ILayerVersion], timeout: int
    ) -> PythonFunction:
        task = PythonFunction(
            self,
            "".join(part.capitalize() for part in name.split("_")),
            name=name,
            description=description,
            layers=layers,
            environment={
                "TABLE_NAME": self._data.table.table_name,
                "BUCKET_NAME": self._data.bucket.bucket_name,
            },
            timeout=cdk.Duration.seconds(timeout),
            # A table of 250,000 rows takes one gigabyte; a whole processor comes with it.
            memory_size=2_048,
        )
        task.allow(["dynamodb:GetItem", *_RECORD], self._data.table.table_arn)
        return task

    def _may(self, function: PythonFunction, action: str, pattern: str) -> None:
        function.allow([action], self._data.bucket.arn_for_objects(pattern))
        accept(
            function.role.node.find_child("DefaultPolicy"),
            "AwsSolutions-IAM5",
            "Each nova and each upload has a folder of its own, whose name is not known beforehand; the "
            "prefix is the narrowest that holds them all.",
            applies_to=(f"Resource::<DataBucket.Arn>/{pattern}",),
        )

    def add_reading(self, api: Api) -> None:
        """Allow the API to read light curves, samples and originals of spectra, and held files."""
        self._may(api.function, "s3:GetObject", "derived/photometry/*/points.json.gz")
        self._may(api.function, "s3:GetObject", "derived/spectra/*")
        self._may(api.function, "s3:GetObject", "raw/spectra/*")
        self._may(api.function, "s3:GetObject", "quarantine/spectra/*")
        # Files that are uploaded: the signed links act by the function's own permissions.
        for pattern in ("raw/uploads/*", _UPLOADS, "raw/donations/*"):
            self._may(api.function, "s3:GetObject", pattern)
            self._may(api.function, "s3:PutObject", pattern)
