"""The catalogue of novae: workflows, tasks, and the topic of quarantine notices."""

from __future__ import annotations

from typing import Final, Unpack

import aws_cdk as cdk
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.curation import Curation
from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import PythonFunction, TableFunction, TaskFunction, TaskOptions, pascal
from infra.layers import Layers
from infra.photometry import UPLOADS, Photometry
from infra.spectra import DONATIONS, Spectra
from infra.workflows import Workflow

TNS_SECRET: Final = "sourcebook/tns"  # noqa: S105 - its name
"""Name of the secret with the key of TNS, which the operator creates."""
_REFERENCES: Final = "raw/references/*"


class Catalog(Construct):
    """initialize_nova → ingest_new_nova → refresh_references and discover_spectra_products; the names' check.

    Each task has a function of its own, so that none may do more than its own work. The state machines
    themselves write job runs and locks, and start the next workflow.

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
        self._layers = layers
        self.quarantined = sns.Topic(
            self, "Quarantined", enforce_ssl=True, display_name="Sourcebook quarantine"
        )
        self.tasks: dict[str, PythonFunction] = {}
        self._build_identity_tasks(deployment)
        self._build_reference_tasks(deployment)
        self._build_discovery_tasks(deployment)
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

    def _build_identity_tasks(self, deployment: Deployment) -> None:
        find = self._task("find_nova", "Which nova does a name mean?")
        find.allow_items("GetItem", "Query")
        asks_tns = {"TNS_BOT": deployment.tns_bot, "TNS_SECRET": TNS_SECRET} if deployment.tns_bot else {}
        resolve = self._task(
            "resolve_name",
            "What do the archives know under a name?",
            environment={**deployment.http_environment(), **asks_tns},
            # Every archive and mirror may take its 30 seconds before the next is asked.
            seconds=120,
        )
        resolve.allow_items("GetItem")
        if asks_tns:
            # Made by the operator who has a key; Secrets Manager adds six characters to a secret's name.
            secret = cdk.Stack.of(self).format_arn(
                service="secretsmanager",
                resource="secret",
                resource_name=f"{TNS_SECRET}-??????",
                arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            )
            resolve.allow(["secretsmanager:GetSecretValue"], secret)
        establish = self._task("establish_nova", "Makes what the archives know a nova, or one that is known")
        establish.allow_items("GetItem", "Query")
        prepare = self._task("prepare_nova", "What a nova needs before anything is ingested")
        prepare.allow_items("GetItem")
        reconcile = self._task("reconcile_names", "Brings a nova's names to what the authorities say")
        reconcile.allow_items("GetItem", "Query")

    def _build_reference_tasks(self, deployment: Deployment) -> None:
        api_keys = self._data.api_keys
        fetch = self._task(
            "fetch_references",
            "Fetches what ADS has on a nova",
            environment={**deployment.http_environment(), "ADS_SECRET": api_keys.name(api_keys.ADS)},
            seconds=300,
        )
        fetch.allow_items("GetItem", "Query")
        fetch.allow_objects(_REFERENCES, "PutObject")
        api_keys.grant_read(fetch, api_keys.ADS)
        store = self._task("store_references", "Stores the publications of one chunk")
        store.allow_objects(_REFERENCES, "GetObject")
        self._grant_open_case(store)
        date = self._task("date_discovery", "What publications say of the day of a nova's discovery")
        date.allow_items("GetItem", "Query")

    def _build_discovery_tasks(self, deployment: Deployment) -> None:
        plan = self._task("plan_discovery", "Which providers are asked for the spectra of a nova?")
        plan.allow_items("GetItem")
        discover = self._task(
            "discover_spectra",
            "Asks one provider for the spectra of a nova, and makes products of them",
            environment=deployment.http_environment(),
            # MAST is asked several times, and a mirror after each address that does not answer.
            seconds=300,
        )
        discover.allow_items("GetItem", "Query")
        discover.allow_objects(DONATIONS, "GetObject", listing=True)

    def _build_hold(self) -> None:
        hold = self._task("hold_for_review", "Sets aside what only a person can decide")
        hold.allow_items("Query")
        self._grant_open_case(hold)

    def _task(self, name: str, description: str, **options: Unpack[TaskOptions]) -> TaskFunction:
        task = TaskFunction(self, name, description, data=self._data, layers=self._layers, **options)
        self.tasks[name] = task
        return task

    def _grant_open_case(self, task: TaskFunction) -> None:
        """Allow a task to keep the facts of a quarantine case and to publish a notice of it."""
        task.function.add_environment("QUARANTINE_TOPIC_ARN", self.quarantined.topic_arn)
        task.allow(["sns:Publish"], self.quarantined.topic_arn)
        task.allow_objects("quarantine/*", "PutObject")

    def grant_files(self, function: TableFunction) -> None:
        """Allow a function to read light curves, spectra and held files, and to sign links for uploads."""
        for pattern in (
            "derived/photometry/*/points.json.gz",
            "derived/spectra/*",
            "raw/spectra/*",
            "quarantine/spectra/*",
        ):
            function.allow_objects(pattern, "GetObject")
        # A signed link acts by the permissions of the function that has signed it.
        for pattern in ("raw/uploads/*", UPLOADS, DONATIONS):
            function.allow_objects(pattern, "GetObject", "PutObject")

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        machines = {
            f"{pascal(name)}Arn": workflow.machine.state_machine_arn
            for name, workflow in self.workflows.items()
        }
        return {**machines, "QuarantineTopicArn": self.quarantined.topic_arn}
