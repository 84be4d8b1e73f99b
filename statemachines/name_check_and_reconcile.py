"""Compare the names of a nova with those of the authorities."""

from sourcebook.novae.messages import FindNova, NameOutcome, ReconcileNames, ResolveName
from statemachines import states as asl
from statemachines.shared import NOVA_ID, TO_A_REVIEWER, hold_for_review, nova_workflow

_AUTHORITY = asl.members("$states.input", "authority")
_FOUND = f"{asl.RESULT}.identity"

_STEPS: asl.States = {
    "Read the current name": asl.task(FindNova, {"nova_id": NOVA_ID}, comment="The nova must be active."),
    "Ask the authorities": asl.each(
        ["simbad", "sesame"],
        {
            "Ask an authority": asl.task(
                ResolveName,
                {"name": "$states.input.name", **_AUTHORITY, "fresh": True},
                comment="Asks anew, whatever is cached.",
                output="$merge([{'authority': $states.input.authority, 'status': 'OK'}, "
                f"$exists({_FOUND}) ? {{'identity': {_FOUND}}} : {{}}])",
                catches=[
                    asl.caught(
                        "SIMBAD has several objects under the nova's name: a reviewer decides",
                        "Quarantine",
                        output={**_AUTHORITY, "status": "HELD"},
                    ),
                    asl.caught(
                        "The others go on", output={**_AUTHORITY, "status": "$states.errorOutput.Error"}
                    ),
                ],
            ),
            "Answered": asl.note("The answer of one authority."),
        },
        comment="All at once. One that is down does not stop the others.",
        selector={"authority": asl.MAP_ITEM, "name": "$states.input.name"},
        output={"answers": "[$states.result]"},
    ),
    "Did one want a person?": asl.choice(
        "The names stay as they are until the reviewer has decided.",
        asl.when("'HELD' in $states.input.answers.status", then="Hold it for a person"),
    ),
    "Reconcile the names": asl.task(
        ReconcileNames,
        {"nova_id": NOVA_ID, "answers": "[$states.input.answers]"},
        comment="Adds missing names and adopts SIMBAD's primary name; the old one stays. A reviewer decides "
        "on a conflict.",
        catches=[TO_A_REVIEWER],
        ending=asl.succeeded(
            f"{asl.RESULT}.outcome",
            {
                **asl.members(asl.RESULT, "names_added primary_name"),
                "authorities": f"[{asl.RESULT}.authorities]",
            },
            nova_id=NOVA_ID,
        ),
        then=asl.DONE,
    ),
    "Hold it for a person": hold_for_review({"nova_id": NOVA_ID}),
}

WORKFLOW = nova_workflow(
    "name_check_and_reconcile",
    "Compares a nova's names with SIMBAD and Sesame, and adds what is missing.",
    (*NameOutcome, "QUARANTINED"),
    _STEPS,
)
