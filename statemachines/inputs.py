"""Fields that the inputs of several workflows have, and steps that several workflows take."""

from dataclasses import replace

from sourcebook.api.forms import UUID, Form, TextField, TextList
from sourcebook.novae.messages import HoldForReview
from statemachines import states as asl
from statemachines.declaration import Lock, Workflow

NOVA = TextField(
    name="nova_id",
    description="The nova.",
    longest=36,
    pattern=UUID,
    expected="the id of a nova, a UUID in lower case; GET /novae?name= finds it",
)
EXAMPLE = {"nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6"}
CASE = replace(
    NOVA,
    name="quarantine_id",
    description="The cleared case, when this is a retry that a reviewer has approved.",
    expected="the id of a quarantined case, a UUID in lower case",
    required=False,
)
_WHICH = "Only these sources; without it, all that the workflow is for."
_SOURCE_IDS = TextList(name="source_ids", description=_WHICH, most=1_000, required=False)
OF_SOURCES = Form((_SOURCE_IDS,), example={"source_ids": ["harbor-ledger"]})

NOVA_ID = f"{asl.GIVEN}.nova_id"
FOR_A_PERSON = asl.caught(
    "Only a reviewer can decide; the task's attempt says why", "Quarantine", then="Hold it for a person"
)


def of_a_nova(name: str, comment: str, outcomes: tuple[str, ...], steps: asl.States) -> Workflow:
    """Return a workflow that takes the id of a nova, and runs once at a time for one nova."""
    return Workflow(
        name=name,
        comment=comment,
        input=Form((NOVA,), example=EXAMPLE),
        subject="$states.input.nova_id",
        lock=Lock("$states.input.nova_id"),
        outcomes=outcomes,
        steps=steps,
    )


def those_sources(otherwise: str) -> str:
    """Return the expression of the sources that the input names, as what a run is about."""
    named = "$states.input.source_ids"
    return f"$exists({named}) ? $substring($join({named}, ', '), 0, 200) : '{otherwise}'"


def hold_for_a_person(retry_input: asl.Json) -> asl.Fields:
    """Return the step that opens a case; `retry_input` starts the workflow again when a retry is approved."""
    return asl.task(
        HoldForReview,
        {"retry_input": retry_input},
        comment="Opens a case with the facts for the reviewer, and sends a notice.",
        ending=asl.succeeded("QUARANTINED", asl.members(asl.ANSWER, "quarantine_id reason_code")),
        then=asl.DONE,
    )
