"""The acquisition of spectra: the workflow for one spectrum, and the sweep over all that are due."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Unpack

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import PythonFunction, TableFunction, TaskFunction, TaskOptions, pascal
from infra.layers import Layers
from infra.monitoring import Monitoring, WatchedMetric
from infra.workflows import Workflow, state_machine_arn
from sourcebook.table.keys import STATUS_INDEX

SWEEP_EVERY: Final = cdk.Duration.minutes(15)
OVERDUE_MINUTES: Final = 60
"""A spectrum that has been due for four sweeps has been passed over by them."""

DONATIONS: Final = "raw/donations/*"
_RAW: Final = "raw/spectra/*"


class Spectra(Construct):
    """load → acquire → validate → hold → record, once for each spectrum; sweep → claim → so many at once.

    Only `validate_spectrum` has the science layer, and only `acquire_spectrum` leaves the account.

    Attributes:
        tasks: the functions of the workflows, by name.
        sweep: the scheduled function that starts the sweep.
        workflows: the state machines, by name.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        data: DataStack,
        layers: Layers,
        quarantined: sns.ITopic,
    ) -> None:
        super().__init__(scope, construct_id)
        self._data = data
        self._layers = layers
        self.tasks: dict[str, PythonFunction] = {}
        self._build_tasks(deployment, layers.science, quarantined)
        acquire = self._workflow("acquire_and_validate_spectra")
        due = self._workflow(
            "acquire_due_spectra",
            starts={acquire.name: acquire},
            values={"acquire_concurrency": str(deployment.acquire_concurrency)},
        )
        self.workflows = {workflow.name: workflow for workflow in (acquire, due)}
        self.sweep = self._build_sweep(due)

    def _build_tasks(
        self, deployment: Deployment, science: lambda_.ILayerVersion, quarantined: sns.ITopic
    ) -> None:
        load = self._task("load_spectrum", "Is a spectrum to be acquired now?")
        load.allow_items("GetItem", "Query")
        acquire = self._task(
            "acquire_spectrum",
            "Brings the file of a spectrum into the bucket",
            environment={
                **deployment.http_environment(),
                # Archives on tape take their time; those on this machine do not.
                "SPECTRA_SILENCE": "5" if deployment.is_local else "60",
            },
            seconds=240,
        )
        acquire.allow_items("GetItem")
        acquire.allow_objects(_RAW, "PutObject")
        acquire.allow_objects(DONATIONS, "GetObject")
        validate = self._task(
            "validate_spectrum",
            "Examines the file of a spectrum",
            more_layers=[science],
            seconds=120,
            # The largest file is held several times over: as bytes, as HDUs, as columns.
            memory_size=2_048,
        )
        validate.allow_objects(_RAW, "GetObject")
        validate.allow_objects("derived/spectra/*", "PutObject")
        hold = self._task(
            "hold_spectrum",
            "Sets a spectrum aside for a person",
            environment={"QUARANTINE_TOPIC_ARN": quarantined.topic_arn},
        )
        hold.allow(["sns:Publish"], quarantined.topic_arn)
        hold.allow_objects(_RAW, "GetObject")
        hold.allow_objects("quarantine/*", "PutObject")
        record = self._task("record_spectrum", "Records what became of a spectrum")
        record.allow_items("GetItem")
        claim = self._task("claim_spectra", "Claims the spectra that are due", seconds=120)
        claim.allow_indexes(STATUS_INDEX)

    def _build_sweep(self, due: Workflow) -> TableFunction:
        sweep = TableFunction(
            self,
            "SweepSpectra",
            name="sweep_spectra",
            description="Has the spectra acquired that are due",
            data=self._data,
            layers=self._layers,
            environment={"WORKFLOW_ARN_PREFIX": state_machine_arn(cdk.Stack.of(self))},
            timeout=cdk.Duration.seconds(60),
        )
        sweep.allow_items("GetItem")
        sweep.allow_indexes(STATUS_INDEX)
        sweep.allow(["states:StartExecution"], due.machine.state_machine_arn)
        sweep.run_every(SWEEP_EVERY)
        return sweep

    def _task(self, name: str, description: str, **options: Unpack[TaskOptions]) -> TaskFunction:
        task = TaskFunction(self, name, description, data=self._data, layers=self._layers, **options)
        self.tasks[name] = task
        return task

    def _workflow(
        self,
        name: str,
        *,
        starts: Mapping[str, Workflow] | None = None,
        values: Mapping[str, str] | None = None,
    ) -> Workflow:
        return Workflow(
            self,
            pascal(name),
            name=name,
            functions=self.tasks,
            table=self._data.table,
            starts=starts,
            values=values,
        )

    def add_monitoring(self, monitoring: Monitoring) -> None:
        """Add the alarm on failed acquisitions, and publish those that time out."""
        acquire = self.workflows["acquire_and_validate_spectra"]
        monitoring.alarm(
            "spectra-acquisition-failed",
            # One provider that is down for a moment is ordinary, and each spectrum is tried again.
            metric=acquire.machine.metric_failed(period=SWEEP_EVERY, statistic="Sum"),
            threshold=10,
            periods=(2, 4),
            meaning="Ten or more acquisitions failed in a quarter of an hour, twice within the hour.",
            action="See which provider it is, and whether it is down or we ask it wrongly.",
        )
        monitoring.announce("TimedOutAcquisitions", [acquire], "TIMED_OUT")

    def overdue(self) -> WatchedMetric:
        """Return the metric of how long a spectrum has been due, with its limit."""
        minutes = self.sweep.metric("SpectraOverdueMinutes", statistic="Maximum", period=SWEEP_EVERY)
        return WatchedMetric(minutes, limit=OVERDUE_MINUTES)
