"""Starting workflows, and what each of them wants to know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Final

from pydantic import Field, StringConstraints

import statemachines
from sourcebook.api.operations import Body, Operation
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.resources import WORKFLOW
from sourcebook.api.responses import Response, unpaged
from sourcebook.inputs import Input, checked
from sourcebook.novae.names import normalize_name
from sourcebook.records.nova import NAME_LIMIT
from sourcebook.runs.started import StartedRuns

CandidateName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=NAME_LIMIT),
    checked(normalize_name),
    Field(description="Any name of the nova, in any spelling.", json_schema_extra={"format": "star-name"}),
]
"""A name that a nova may have."""


class _Inputs(Mapping[str, type[Input]]):
    """What each workflow takes, as statemachines/ declares it; a declaration is loaded when it is needed."""

    def __getitem__(self, name: str) -> type[Input]:
        return statemachines.workflow(name).input

    def __iter__(self) -> Iterator[str]:
        return iter(statemachines.names())

    def __len__(self) -> int:
        return len(statemachines.names())


INPUTS: Final[Mapping[str, type[Input]]] = _Inputs()


def started(services: Services, workflow: str, payload: Mapping[str, object], request: Request) -> Response:
    """Start a workflow and answer with the run to watch.

    Raises:
        NotStarted: if Step Functions is not able to now.
    """
    job_run_id = request.id
    arn = StartedRuns(services.table).start(
        services.start, workflow, payload, job_run_id, correlation_id=request.correlation_id
    )
    body = {
        "job_run_id": job_run_id,
        "workflow_name": workflow,
        "status": "RUNNING",
        "execution_arn": arn,
        "watch": f"/job-runs/{job_run_id}",
    }
    return Response(body, 202, headers={"location": f"/job-runs/{job_run_id}"})


def _list_workflows(services: Services, request: Request) -> Response:  # noqa: ARG001 - as every operation
    return unpaged(
        [
            {
                "workflow_name": name,
                "input": INPUTS[name].json_schema(),
                "start": f"/workflows/{name}/executions",
            }
            for name in services.workflows
            if name in INPUTS
        ]
    )


def _start_workflow(services: Services, request: Request) -> Response:
    name = WORKFLOW.name(request)
    if name not in services.workflows or name not in INPUTS:
        raise WORKFLOW.missing(name)
    return started(services, name, INPUTS[name].read(request.json()).given(), request)


OPERATIONS: Final = (
    Operation(
        route="GET /workflows",
        topic="Workflows and their runs",
        summary="The workflows that can be started",
        description="Each with the input that it takes, as a JSON Schema.",
        handle=_list_workflows,
        answers={200: "Workflows"},
    ),
    Operation(
        route="POST /workflows/{name}/executions",
        topic="Workflows and their runs",
        summary="Start a workflow",
        description="Answers with the job run to watch: `GET /job-runs/{job_run_id}` knows it at once. With "
        "an `Idempotency-Key`, sending the same again starts nothing more.",
        handle=_start_workflow,
        body=Body(forms=INPUTS),
        answers={202: "StartedRun"},
    ),
)
