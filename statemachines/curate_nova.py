"""A person's decision on a nova: it is another one, it is not after all, or it is none."""

from dataclasses import replace

from sourcebook.api.forms import ChoiceField, Form, TextField
from sourcebook.curation.messages import Action, CurateNova, CurationOutcome
from statemachines import states as asl
from statemachines.declaration import Lock, Workflow
from statemachines.inputs import EXAMPLE, NOVA, NOVA_ID

_STEPS: asl.States = {
    "Do what was decided": asl.task(
        CurateNova,
        {
            **asl.members(asl.GIVEN, "nova_id action reason"),
            **asl.perhaps(asl.GIVEN, "into decided_by"),
        },
        comment="Piece by piece, each of which may be done again: a try that was cut short goes on with the "
        "next one.",
        seconds=850,
        ending=asl.succeeded(
            f"{asl.ANSWER}.outcome",
            {**asl.members(asl.ANSWER, "moved"), **asl.perhaps(asl.ANSWER, "merged_into")},
            nova_id=NOVA_ID,
        ),
        then=asl.DONE,
    ),
}

WORKFLOW = Workflow(
    name="curate_nova",
    comment="Merges a nova into another, splits it off again, deprecates it or restores it.",
    input=Form(
        (
            NOVA,
            ChoiceField(
                name="action",
                description="`MERGE` moves all that belongs to the nova to the nova `into`; `SPLIT` takes it "
                "back; `DEPRECATE` says that it is no nova, `RESTORE` that it is one after all.",
                values=tuple(Action),
            ),
            replace(
                NOVA,
                name="into",
                description="With `MERGE`: the nova that it turned out to be.",
                required=False,
            ),
            TextField(name="reason", description="Why; kept with the nova.", longest=1_000),
            TextField(name="decided_by", description="How you call yourself.", longest=100, required=False),
        ),
        example={
            **EXAMPLE,
            "action": "MERGE",
            "into": "0d9f1a77-6c0e-5b0c-9a55-7a1f3c3f8f10",
            "reason": "The same star, by its spectrum.",
        },
    ),
    subject="$states.input.action & ' ' & $states.input.nova_id",
    lock=Lock("$states.input.nova_id"),
    outcomes=tuple(CurationOutcome),
    steps=_STEPS,
)
