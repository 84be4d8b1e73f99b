"""The ingestion of photometry: reads an upload row by row and rebuilds the table of its nova."""

from __future__ import annotations

from constructs import Construct

from infra.data_stack import DataStack
from infra.functions import PythonFunction, TaskFunction
from infra.layers import Layers
from infra.workflows import Workflow

UPLOADS = "raw/photometry/*"
_TABLES = "derived/photometry/*"
_MEMORY = 2_048
"""A table of 250,000 rows takes one gigabyte; a whole processor comes with it."""


class Photometry(Construct):
    """find_nova → validate_photometry → rebuild_photometry.

    Only `rebuild_photometry` has the Parquet layer.

    Attributes:
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
        """Define the functions and the workflow.

        Args:
            scope: the construct it belongs to.
            construct_id: its name in there.
            data: the table and the bucket.
            layers: those of the functions.
            find_nova: the function that finds the nova of a name.
        """
        super().__init__(scope, construct_id)
        validate = TaskFunction(
            self,
            "validate_photometry",
            "Reads an upload of photometry row by row",
            data=data,
            layers=layers,
            seconds=120,
            memory_size=_MEMORY,
        )
        validate.allow_items("GetItem", "Query")
        validate.allow_objects(UPLOADS, "GetObject")
        validate.allow_objects(_TABLES, "PutObject")
        rebuild = TaskFunction(
            self,
            "rebuild_photometry",
            "Adds the measurements of an upload to the table of its nova",
            data=data,
            layers=layers,
            more_layers=[layers.parquet],
            seconds=180,
            memory_size=_MEMORY,
        )
        rebuild.allow_items("GetItem")
        rebuild.allow_objects(_TABLES, "GetObject", "PutObject")
        self.workflow = Workflow(
            self,
            "IngestPhotometry",
            name="ingest_photometry",
            functions={task.name: task for task in (find_nova, validate, rebuild)},
            table=data.table,
        )
