"""A person's decision on a nova: it is another one, it is not after all, or it is none."""

from typing import Annotated

from pydantic import ConfigDict, Field

from sourcebook.curation.messages import Action, CurateNova, CurationOutcome
from sourcebook.inputs import NovaId, text, word_of
from statemachines import states as asl
from statemachines.declaration import Lock, Workflow
from statemachines.shared import EXAMPLE, NOVA_ID, NovaInput

_STEPS: asl.States = {
    "Do what was decided": asl.task(
        CurateNova,
        {
            **asl.members(asl.EXECUTION_INPUT, "nova_id action reason"),
            **asl.optional_members(asl.EXECUTION_INPUT, "into decided_by"),
        },
        comment="Piece by piece, each of which may be done again: a try that was cut short goes on with the "
        "next one.",
        seconds=850,
        ending=asl.succeeded(
            f"{asl.RESULT}.outcome",
            {**asl.members(asl.RESULT, "moved"), **asl.optional_members(asl.RESULT, "merged_into")},
            nova_id=NOVA_ID,
        ),
        then=asl.DONE,
    ),
}


class CurationInput(NovaInput):
    """What a person has decided on a nova."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **EXAMPLE,
                    "action": "MERGE",
                    "into": "0d9f1a77-6c0e-5b0c-9a55-7a1f3c3f8f10",
                    "reason": "The same star, by its spectrum.",
                }
            ]
        }
    )

    action: Annotated[str, word_of(tuple(Action))] = Field(
        description="`MERGE` moves all that belongs to the nova to the nova `into`; `SPLIT` takes it "
        "back; `DEPRECATE` says that it is no nova, `RESTORE` that it is one after all."
    )
    into: NovaId | None = Field(None, description="With `MERGE`: the nova that it turned out to be.")
    reason: Annotated[str, text(1_000)] = Field(description="Why; kept with the nova.")
    decided_by: Annotated[str, text(100)] | None = Field(None, description="How you call yourself.")


WORKFLOW = Workflow(
    name="curate_nova",
    comment="Merges a nova into another, splits it off again, deprecates it or restores it.",
    input=CurationInput,
    subject="$states.input.action & ' ' & $states.input.nova_id",
    lock=Lock("$states.input.nova_id"),
    outcomes=tuple(CurationOutcome),
    steps=_STEPS,
)
