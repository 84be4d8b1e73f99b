"""The acquisition of spectra: the workflow for one spectrum, and the sweep over all that are due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import PythonFunction
from infra.layers import Layers
from infra.monitoring import Monitoring, WatchedMetric
from infra.nag import accept
from infra.workflows import Workflow, pascal
from sourcebook.table.keys import STATUS_INDEX

SWEEP_EVERY: Final = cdk.Duration.minutes(15)
OVERDUE_MINUTES: Final = 60
"""A spectrum that has been due for four sweeps has been passed over by them."""

_GET: Final = ("dynamodb:GetItem",)
_RECORD: Final = ("dynamodb:PutItem", "dynamodb:UpdateItem")
"""Actions of every task: to write its attempt and complete it."""
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
        self._layers = [layers.core, layers.dependencies]
        self.tasks: dict[str, PythonFunction] = {}
        self._build_tasks(deployment, layers.science, quarantined)
        acquire = self._workflow("acquire_and_validate_spectra")
        due = self._workflow(
            "acquire_due_spectra",
            starts={acquire.name: acquire},
            values={"acquire_concurrency": str(deployment.acquire_concurrency)},
        )
        self.workflows = {flow.name: flow for flow in (acquire, due)}
        self.sweep = self._build_sweep(due)

    def _build_tasks(
        self, deployment: Deployment, science: lambda_.ILayerVersion, quarantined: sns.ITopic
    ) -> None:
        self._task("load_spectrum", "Is a spectrum to be acquired now?", actions=(*_GET, "dynamodb:Query"))
        acquire = self._task(
            "acquire_spectrum",
            "Brings the file of a spectrum into the bucket",
            actions=_GET,
            environment={
                "HTTP_ALLOWED_NETWORKS": deployment.allowed_networks,
                "HTTP_CONTACT": deployment.contact,
                # Archives on tape take their time; those on this machine do not.
                "SPECTRA_SILENCE": "5" if deployment.is_local else "60",
            },
            timeout=240,
        )
        self._may(acquire, "s3:PutObject", _RAW)
        self._may(acquire, "s3:GetObject", "raw/donations/*")
        validate = self._task(
            "validate_spectrum",
            "Examines the file of a spectrum",
            actions=(),
            timeout=120,
            # The largest file is held several times over: as bytes, as HDUs, as columns.
            memory_size=2_048,
            more_layers=(science,),
        )
        self._may(validate, "s3:GetObject", _RAW)
        self._may(validate, "s3:PutObject", "derived/spectra/*")
        hold = self._task(
            "hold_spectrum",
            "Sets a spectrum aside for a person",
            actions=(),
            environment={"QUARANTINE_TOPIC_ARN": quarantined.topic_arn},
        )
        hold.allow(["sns:Publish"], quarantined.topic_arn)
        self._may(hold, "s3:GetObject", _RAW)
        self._may(hold, "s3:PutObject", "quarantine/*")
        self._task("record_spectrum", "Records what became of a spectrum", actions=_GET)
        claim = self._task("claim_spectra", "Claims the spectra that are due", actions=(), timeout=120)
        claim.allow(["dynamodb:Query"], self._index)

    def _build_sweep(self, due: Workflow) -> PythonFunction:
        stack = cdk.Stack.of(self)
        sweep = self._function(
            "sweep_spectra",
            "Has the spectra acquired that are due",
            environment={
                "WORKFLOW_ARN_PREFIX": stack.format_arn(
                    service="states",
                    resource="stateMachine",
                    resource_name=f"{stack.stack_name}-",
                    arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
                )
            },
        )
        sweep.allow(["dynamodb:GetItem"], self._data.table.table_arn)
        sweep.allow(["dynamodb:Query"], self._index)
        sweep.allow(["states:StartExecution"], due.machine.state_machine_arn)
        sweep.run_every(SWEEP_EVERY)
        return sweep

    @property
    def _index(self) -> str:
        return f"{self._data.table.table_arn}/index/{STATUS_INDEX}"

    def _task(
        self,
        name: str,
        description: str,
        *,
        actions: Sequence[str],
        environment: Mapping[str, str] | None = None,
        timeout: int = 60,
        memory_size: int = 512,
        more_layers: Sequence[lambda_.ILayerVersion] = (),
    ) -> PythonFunction:
        task = self._function(
            name,
            description,
            environment=environment or {},
            timeout=timeout,
            memory_size=memory_size,
            more_layers=more_layers,
        )
        task.allow([*actions, *_RECORD], self._data.table.table_arn)
        self.tasks[name] = task
        return task

    def _function(
        self,
        name: str,
        description: str,
        *,
        environment: Mapping[str, str],
        timeout: int = 60,
        memory_size: int = 512,
        more_layers: Sequence[lambda_.ILayerVersion] = (),
    ) -> PythonFunction:
        return PythonFunction(
            self,
            pascal(name),
            name=name,
            description=description,
            layers=[*self._layers, *more_layers],
            environment={
                "TABLE_NAME": self._data.table.table_name,
                "BUCKET_NAME": self._data.bucket.bucket_name,
                **environment,
            },
            timeout=cdk.Duration.seconds(timeout),
            memory_size=memory_size,
        )

    def _may(self, task: PythonFunction, action: str, pattern: str) -> None:
        task.allow([action], self._data.bucket.arn_for_objects(pattern))
        accept(
            task.role.node.find_child("DefaultPolicy"),
            "AwsSolutions-IAM5",
            "Each spectrum has a folder of its own, whose name is not known beforehand; the prefix is the "
            "narrowest that holds them all.",
            applies_to=(f"Resource::<DataBucket.Arn>/{pattern}",),
        )

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
        """Add the alarms of this construct."""
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
        return WatchedMetric(
            cloudwatch.Metric(
                namespace="Sourcebook",
                metric_name="SpectraOverdueMinutes",
                dimensions_map={"service": self.sweep.name},
                statistic="Maximum",
                period=SWEEP_EVERY,
            ),
            limit=OVERDUE_MINUTES,
        )
