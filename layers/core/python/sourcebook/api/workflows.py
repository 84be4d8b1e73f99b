"""Starting workflows, and what each of them wants to know."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sourcebook.api.forms import UUID, ChoiceField, Form, TextField, TextList
from sourcebook.api.operations import Access, Body, Operation
from sourcebook.api.parts import Means
from sourcebook.api.requests import Request
from sourcebook.api.responses import NotFound, Response
from sourcebook.catalog.names import NAME_LIMIT, normalize_name
from sourcebook.catalog.review import Starter
from sourcebook.errors import shorten
from sourcebook.runs.started import StartedRuns, execution_name
from sourcebook.sentiment.subjects import TOOL_ID

CANDIDATE: Final = TextField(
    name="candidate_name",
    description="Any name of the nova, in any spelling.",
    longest=NAME_LIMIT,
    check=normalize_name,
    kind="star-name",
)
_NOVA: Final = Form(
    (
        TextField(
            name="nova_id",
            description="The nova.",
            longest=36,
            pattern=UUID,
            expected="the id of a nova, a UUID in lower case; GET /novae?name= finds it",
        ),
    ),
    example={"nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6"},
)
_SOURCES: Final = Form(
    (
        TextList(
            name="source_ids",
            description="Only these sources; without it, all that the workflow is for.",
            most=1_000,
            required=False,
        ),
    ),
    example={"source_ids": ["harbor-ledger"]},
)

INPUTS: Final[Mapping[str, Form]] = {
    "refresh_sources": _SOURCES,
    "rebuild_canonical": _SOURCES,
    "reanalyze_subject": Form(
        (
            TextField(
                name="tool_id",
                description="The subject, as GET /api/v1/tools has it.",
                longest=80,
                pattern=TOOL_ID.pattern,
                expected="the id of a subject such as AAPL; GET /api/v1/tools lists them",
            ),
            ChoiceField(
                name="scope",
                description="`all` looks through every article, as a new name asks for; otherwise only "
                "those that mention the subject already.",
                values=("mentions", "all"),
                required=False,
            ),
        ),
        example={"tool_id": "AAPL", "scope": "mentions"},
    ),
    "initialize_nova": Form(
        (
            CANDIDATE,
            TextField(
                name="quarantine_id",
                description="The case that a person has cleared, when a name is tried again after that.",
                longest=36,
                pattern=UUID,
                expected="the id of a quarantined case, a UUID in lower case",
                required=False,
            ),
        ),
        example={"candidate_name": "V1324 Sco"},
    ),
    "acquire_and_validate_spectra": Form(
        (
            *_NOVA.fields,
            TextField(
                name="data_product_id",
                description="The spectrum.",
                longest=36,
                pattern=UUID,
                expected="the id of a spectrum, a UUID in lower case; GET /novae/{nova_id}/products",
            ),
            TextField(
                name="provider",
                description="Where it is from, which makes finding it cheaper.",
                longest=30,
                pattern=r"[A-Z][A-Z0-9_-]{1,29}",
                expected="the name of a provider such as ESO",
                required=False,
            ),
            TextField(
                name="quarantine_id",
                description="The case whose new try a person has approved.",
                longest=36,
                pattern=UUID,
                expected="the id of a quarantined case, a UUID in lower case",
                required=False,
            ),
        ),
        example={
            "nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6",
            "data_product_id": "2c7d1f4d-5b7a-4a4d-9f31-8d3b4fd0d4d9",
        },
    ),
    "acquire_due_spectra": Form((), example={}),
    "ingest_photometry": Form(
        (
            TextField(
                name="nova_id",
                description="The nova; or else `name`.",
                longest=36,
                pattern=UUID,
                expected="the id of a nova, a UUID in lower case; GET /novae?name= finds it",
                required=False,
            ),
            TextField(
                name="name",
                description="Any name of the nova that no other has; or else `nova_id`.",
                longest=NAME_LIMIT,
                check=normalize_name,
                kind="star-name",
                required=False,
            ),
            TextField(
                name="s3_key",
                description="The upload in the bucket; `sourcebook photometry ingest` puts it there.",
                longest=900,
                pattern=r"raw/photometry/[^\s].{0,880}",
                expected="the key of an upload, below raw/photometry/",
            ),
        ),
        example={
            "nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6",
            "s3_key": "raw/photometry/2f91aa1c/night.csv",
        },
        either=("nova_id", "name"),
    ),
    "ingest_new_nova": _NOVA,
    "discover_spectra_products": _NOVA,
    "refresh_references": _NOVA,
    "name_check_and_reconcile": _NOVA,
}
"""What each state machine in statemachines/ takes; tests hold these against the definitions."""


@dataclass(frozen=True, slots=True)
class WorkflowsApi:
    """What these operations act by.

    Attributes:
        start: starts an execution.
        started: remembers it until it has a record of its own.
        names: the workflows that this stack has.
    """

    start: Starter
    started: StartedRuns
    names: tuple[str, ...]

    def run(self, workflow: str, payload: Mapping[str, Any], request: Request) -> Response:
        """Start a workflow and answer with the run to watch.

        Raises:
            NotStarted: if Step Functions is not able to now.
        """
        job_run_id = request.id
        # State machines take fewer characters than the gateway writes.
        correlation_id = re.sub(r"[^A-Za-z0-9._:-]", "-", request.correlation_id)[:128] or job_run_id
        self.started.remember(job_run_id, workflow, correlation_id=correlation_id)
        try:
            arn = self.start(
                workflow, {**payload, "correlation_id": correlation_id}, execution_name(job_run_id)
            )
        except BaseException:
            self.started.forget(job_run_id)
            raise
        body = {
            "job_run_id": job_run_id,
            "workflow_name": workflow,
            "status": "RUNNING",
            "execution_arn": arn,
            "watch": f"/job-runs/{job_run_id}",
        }
        return Response(body, 202, headers={"location": f"/job-runs/{job_run_id}"})


def make(means: Means) -> WorkflowsApi:
    """Make it."""
    return WorkflowsApi(means.start, StartedRuns(means.table), means.workflows)


def list_workflows(workflows: WorkflowsApi, request: Request) -> Response:  # noqa: ARG001 - as every operation
    """GET /workflows."""
    return Response(
        {
            "items": [
                {
                    "workflow_name": name,
                    "input": INPUTS[name].schema(),
                    "start": f"/workflows/{name}/executions",
                }
                for name in workflows.names
                if name in INPUTS
            ]
        }
    )


def start_workflow(workflows: WorkflowsApi, request: Request) -> Response:
    """POST /workflows/{name}/executions."""
    name = request.path.get("name", "")
    if name not in workflows.names or name not in INPUTS:
        raise NotFound(f"There is no workflow {shorten(name)}. GET /workflows lists them.")
    return workflows.run(name, INPUTS[name].read(request.json()), request)


OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/workflows",
        name="listWorkflows",
        topic="Workflows and their runs",
        summary="The workflows that can be started",
        description="Each with the input that it takes, as a JSON Schema.",
        act=list_workflows,
        answers={200: "Workflows"},
    ),
    Operation(
        method="POST",
        path="/workflows/{name}/executions",
        name="startWorkflow",
        topic="Workflows and their runs",
        summary="Start a workflow",
        description="Answers with the job run to watch: `GET /job-runs/{job_run_id}` knows it at once. With "
        "an `Idempotency-Key`, sending the same again starts nothing more.",
        act=start_workflow,
        access=Access.WRITE,
        body=Body(forms=INPUTS),
        answers={202: "StartedRun"},
        problems=(404,),
    ),
)
