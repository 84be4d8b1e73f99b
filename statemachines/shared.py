"""Fields that the inputs of several workflows have, and steps that several workflows take."""

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from sourcebook.inputs import Input, NovaId, expected, matching
from sourcebook.novae.messages import HoldForReview
from sourcebook.schema import UUID
from statemachines import states as asl
from statemachines.declaration import Lock, Workflow

EXAMPLE: JsonDict = {"nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6"}
CaseId = Annotated[
    str,
    matching(UUID, 36),
    expected("the id of a quarantined case, a UUID in lower case"),
    Field(description="The cleared case, when this is a retry that a reviewer has approved."),
]


class NovaInput(Input):
    """The nova that a workflow is about."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    nova_id: NovaId = Field(description="The nova.")


class SourcesInput(Input):
    """The sources that a workflow is about."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"source_ids": ["harbor-ledger"]}]})

    source_ids: (
        Annotated[
            list[Annotated[str, Field(min_length=1, max_length=200)]], Field(min_length=1, max_length=1_000)
        ]
        | None
    ) = Field(None, description="Only these sources; without it, all that the workflow is for.")


NOVA_ID = f"{asl.EXECUTION_INPUT}.nova_id"
TO_A_REVIEWER = asl.caught(
    "Only a reviewer can decide; the task's attempt says why", "Quarantine", then="Hold it for a person"
)


def nova_workflow(name: str, comment: str, outcomes: tuple[str, ...], steps: asl.States) -> Workflow:
    """Return a workflow that takes the id of a nova, and runs once at a time for one nova."""
    return Workflow(
        name=name,
        comment=comment,
        input=NovaInput,
        subject="$states.input.nova_id",
        lock=Lock("$states.input.nova_id"),
        outcomes=outcomes,
        steps=steps,
    )


def sources_subject(otherwise: str) -> str:
    """Return the expression of the sources that the input names, as what a run is about."""
    named = "$states.input.source_ids"
    return f"$exists({named}) ? $substring($join({named}, ', '), 0, 200) : '{otherwise}'"


def hold_for_review(retry_input: asl.Json) -> asl.Fields:
    """Return the step that opens a case; `retry_input` starts the workflow again when a retry is approved."""
    return asl.task(
        HoldForReview,
        {"retry_input": retry_input},
        comment="Opens a case with the facts for the reviewer, and sends a notice.",
        ending=asl.succeeded("QUARANTINED", asl.members(asl.RESULT, "quarantine_id reason_code")),
        then=asl.DONE,
    )
