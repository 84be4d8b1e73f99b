"""The catalogue of novae: workflows, tasks, and the topic of quarantine notices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.api import Api
from infra.curation import Curation
from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import PythonFunction
from infra.layers import Layers
from infra.nag import accept
from infra.photometry import Photometry
from infra.spectra import Spectra
from infra.workflows import Workflow, pascal

_GET: Final = ("dynamodb:GetItem",)
_READ: Final = ("dynamodb:GetItem", "dynamodb:Query")
TNS_SECRET: Final = "sourcebook/tns"  # noqa: S105 - its name
"""Name of the secret with the key of TNS, which the operator creates."""
_RECORD: Final = ("dynamodb:PutItem", "dynamodb:UpdateItem")
"""Actions of every task: to write its attempt and complete it."""


class Catalog(Construct):
    """initialize_nova → ingest_new_nova → refresh_references and discover_spectra_products; the names' check.

    One small function for each task, so that each may do no more than its own work; what only keeps books
    (job runs, locks) and what starts the next workflow, the state machines do themselves.

    Attributes:
        quarantined: the topic of new quarantine cases.
        tasks: the functions, by name.
        spectra: the acquisition of spectra, with alarms of its own.
        photometry: the ingestion of photometry, likewise.
        curation: decisions of people on novae.
        workflows: the state machines, by name, those of the spectra too.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, deployment: Deployment, data: DataStack, layers: Layers
    ) -> None:
        super().__init__(scope, construct_id)
        self._data = data
        self._layers = [layers.core, layers.dependencies]
        self._tns_bot = deployment.tns_bot
        self._outgoing = {
            "HTTP_ALLOWED_NETWORKS": deployment.allowed_networks,
            "HTTP_CONTACT": deployment.contact,
        }
        self.quarantined = sns.Topic(
            self, "Quarantined", enforce_ssl=True, display_name="Sourcebook quarantine"
        )
        self.tasks: dict[str, PythonFunction] = {}
        self._build_identity_tasks()
        self._build_reference_tasks()
        self._build_discovery_tasks()
        self._build_hold()
        self.spectra = Spectra(
            self, "Spectra", deployment=deployment, data=data, layers=layers, quarantined=self.quarantined
        )
        self.photometry = Photometry(
            self, "Photometry", data=data, layers=layers, find_nova=self.tasks["find_nova"]
        )
        self.curation = Curation(self, "Curation", data=data, layers=layers)
        self.workflows: dict[str, Workflow] = {
            **self.spectra.workflows,
            "ingest_photometry": self.photometry.workflow,
            "curate_nova": self.curation.workflow,
        }
        # Each after those that it starts.
        for name in (
            "refresh_references",
            "discover_spectra_products",
            "ingest_new_nova",
            "initialize_nova",
            "name_check_and_reconcile",
        ):
            self.workflows[name] = Workflow(
                self,
                pascal(name),
                name=name,
                functions=self.tasks,
                table=data.table,
                starts=self.workflows,
            )

    def _build_identity_tasks(self) -> None:
        self._task("find_nova", "Which nova does a name mean?", actions=_READ)
        asks_tns = {"TNS_BOT": self._tns_bot, "TNS_SECRET": TNS_SECRET} if self._tns_bot else {}
        resolve = self._task(
            "resolve_name",
            "What do the archives know under a name?",
            actions=("dynamodb:GetItem",),
            environment={**self._outgoing, **asks_tns},
            # Every archive and mirror may take its 30 seconds before the next is asked.
            timeout=120,
        )
        if self._tns_bot:
            # Made by the operator who has a key; Secrets Manager adds six characters to a secret's name.
            secret = cdk.Stack.of(self).format_arn(
                service="secretsmanager",
                resource="secret",
                resource_name=f"{TNS_SECRET}-??????",
                arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            )
            resolve.allow(["secretsmanager:GetSecretValue"], secret)
        self._task(
            "establish_nova", "Makes what the archives know a nova, or one that is known", actions=_READ
        )
        self._task("prepare_nova", "What a nova needs before anything is ingested", actions=_GET)
        self._task("reconcile_names", "Brings a nova's names to what the authorities say", actions=_READ)

    def _build_reference_tasks(self) -> None:
        fetch = self._task(
            "fetch_references",
            "Fetches what ADS has on a nova",
            actions=_READ,
            environment={**self._outgoing, "ADS_SECRET": self._data.api_keys.name("ads")},
            timeout=300,
        )
        fetch.allow(["secretsmanager:GetSecretValue"], self._data.api_keys.arn(self._data.api_keys.ads))
        self._may_write(fetch, "raw/references/*")
        store = self._task(
            "store_references",
            "Stores the publications of one chunk",
            actions=(),
            environment={"QUARANTINE_TOPIC_ARN": self.quarantined.topic_arn},
        )
        store.allow(["s3:GetObject"], self._objects("raw/references/*"))
        self._accept_objects(store, "raw/references/*")
        self._may_hold(store)
        self._task("date_discovery", "What publications say of the day of a nova's discovery", actions=_READ)

    def _build_discovery_tasks(self) -> None:
        self._task("plan_discovery", "Which providers are asked for the spectra of a nova?", actions=_GET)
        discover = self._task(
            "discover_spectra",
            "Asks one provider for the spectra of a nova, and makes products of them",
            actions=_READ,
            environment=self._outgoing,
            # MAST is asked several times, and a mirror after each address that does not answer.
            timeout=300,
        )
        discover.allow(["s3:GetObject"], self._objects("raw/donations/*"))
        self._accept_objects(discover, "raw/donations/*")
        discover.role.add_to_principal_policy(
            iam.PolicyStatement(
                actions=["s3:ListBucket"],
                resources=[self._data.bucket.bucket_arn],
                conditions={"StringLike": {"s3:prefix": ["raw/donations/*"]}},
            )
        )

    def _build_hold(self) -> None:
        hold = self._task(
            "hold_for_review",
            "Sets aside what only a person can decide",
            actions=("dynamodb:Query",),
            environment={"QUARANTINE_TOPIC_ARN": self.quarantined.topic_arn},
        )
        self._may_hold(hold)

    def _task(
        self,
        name: str,
        description: str,
        *,
        actions: Sequence[str],
        environment: Mapping[str, str] | None = None,
        timeout: int = 60,
    ) -> PythonFunction:
        task = PythonFunction(
            self,
            "".join(part.capitalize() for part in name.split("_")),
            name=name,
            description=description,
            layers=self._layers,
            environment={
                "TABLE_NAME": self._data.table.table_name,
                "BUCKET_NAME": self._data.bucket.bucket_name,
                **(environment or {}),
            },
            timeout=cdk.Duration.seconds(timeout),
            memory_size=512,
        )
        task.allow([*actions, *_RECORD], self._data.table.table_arn)
        self.tasks[name] = task
        return task

    def _may_hold(self, task: PythonFunction) -> None:
        task.allow(["sns:Publish"], self.quarantined.topic_arn)
        self._may_write(task, "quarantine/*")

    def _may_write(self, task: PythonFunction, pattern: str) -> None:
        task.allow(["s3:PutObject"], self._objects(pattern))
        self._accept_objects(task, pattern)

    def _accept_objects(self, task: PythonFunction, pattern: str) -> None:
        accept(
            task.role.node.find_child("DefaultPolicy"),
            "AwsSolutions-IAM5",
            "Each case or run gets an object of its own, so the objects' names are not known beforehand; the "
            "prefix is the narrowest that holds them all.",
            applies_to=(f"Resource::<DataBucket.Arn>/{pattern}",),
        )

    def _objects(self, pattern: str) -> str:
        return self._data.bucket.arn_for_objects(pattern)

    def add_review(self, api: Api) -> None:
        """Allow the API to read spectra and light curves."""
        self.photometry.add_reading(api)

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        machines = {
            "".join(part.capitalize() for part in name.split("_")) + "Arn": flow.machine.state_machine_arn
            for name, flow in self.workflows.items()
        }
        return {**machines, "QuarantineTopicArn": self.quarantined.topic_arn}
