"""Make a nova out of a name, or find the one it is."""

from pydantic import ConfigDict

from sourcebook.api.workflows import CandidateName
from sourcebook.inputs import Input
from sourcebook.novae import messages as novae
from sourcebook.novae.messages import CandidateOutcome
from statemachines import states as asl
from statemachines.declaration import Lock, Workflow
from statemachines.shared import TO_A_REVIEWER, CaseId, hold_for_review

_NAME = f"{asl.EXECUTION_INPUT}.candidate_name"
_CASE = asl.optional_members(asl.EXECUTION_INPUT, "quarantine_id")
_FOUND = "$states.input.nova_id"
_OUTCOME = "$states.input.outcome"
_APART = "$states.input.separation_arcsec"
_LAUNCH = "Launch ingest_new_nova"

_STEPS: asl.States = {
    "Find the nova by its name": asl.task(
        novae.FindNova,
        {"name": _NAME, **_CASE},
        comment="Normalizes the name and looks it up. A reviewer decides on a name of several novae.",
        catches=[TO_A_REVIEWER],
    ),
    "Is it known by this name?": asl.choice(
        "ONE: it is. MERGE: a reviewer has decided whose name it is. NONE: the archives are asked.",
        asl.when(
            asl.equals(novae.OneNova),
            ending=asl.succeeded("EXISTS_AND_LAUNCHED", nova_id=_FOUND),
            then=_LAUNCH,
        ),
        asl.when(asl.equals(novae.MergeInto), then="Establish the nova"),
    ),
    "Resolve the name": asl.task(
        novae.ResolveName,
        {"name": _NAME},
        comment="Asks SIMBAD, its mirrors, and Sesame.",
        catches=[TO_A_REVIEWER],
    ),
    "Is it known to the archives?": asl.choice(
        "Unknown only if every archive answers so.",
        asl.when(asl.equals(novae.Resolved), then="Establish the nova"),
    ),
    "Not found": asl.note(
        "No archive knows the name, which is a success.",
        ending=asl.succeeded("NOT_FOUND"),
        then=asl.DONE,
    ),
    "Establish the nova": asl.task(
        novae.EstablishNova,
        {"name": _NAME, **_CASE, **asl.optional_members("$states.input", "identity")},
        comment="A nova that is known by another name or position (below 2″ the same, to 10″ a reviewer "
        "decides), a new nova, or no nova.",
        catches=[TO_A_REVIEWER],
    ),
    "Is it a classical nova?": asl.choice(
        "If it is something else, the run has succeeded too.",
        asl.when(
            asl.equals(CandidateOutcome.NOT_A_CLASSICAL_NOVA, _OUTCOME),
            ending=asl.succeeded("NOT_A_CLASSICAL_NOVA"),
            then=asl.DONE,
        ),
        asl.when(
            asl.equals(CandidateOutcome.CREATED, _OUTCOME),
            ending=asl.succeeded("CREATED_AND_LAUNCHED", nova_id=_FOUND),
            then=_LAUNCH,
        ),
        asl.when(
            asl.equals(CandidateOutcome.EXISTS, _OUTCOME),
            ending=asl.succeeded(
                "EXISTS_AND_LAUNCHED",
                f"$exists({_APART}) ? {{'separation_arcsec': {_APART}}} : {{}}",
                nova_id=_FOUND,
            ),
            then=_LAUNCH,
        ),
    ),
    "Not understood": asl.note(
        "An unknown answer: function and state machine are of different versions.",
        ending=asl.failed(
            "UnknownOutcome", "'establish_nova answered ' & $string($states.input) & ': deploy again'"
        ),
        then=asl.DONE,
    ),
    _LAUNCH: asl.start(
        "ingest_new_nova",
        {"nova_id": _FOUND},
        comment="Passes on the id alone. The execution is named after this job run, so it is started once.",
        then=asl.DONE,
    ),
    "Hold it for a person": hold_for_review({"candidate_name": _NAME}),
}


class CandidateInput(Input):
    """The name to make a nova of."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"candidate_name": "V1324 Sco"}]})

    candidate_name: CandidateName
    quarantine_id: CaseId | None = None


WORKFLOW = Workflow(
    name="initialize_nova",
    comment="Makes a nova out of a name, or finds the one it is. Running it again for a name changes nothing "
    "that is right.",
    input=CandidateInput,
    subject="$trim($states.input.candidate_name)",
    lock=Lock("$lowercase($trim($states.input.candidate_name))"),
    outcomes=tuple(
        "CREATED_AND_LAUNCHED EXISTS_AND_LAUNCHED NOT_FOUND NOT_A_CLASSICAL_NOVA QUARANTINED".split()
    ),
    steps=_STEPS,
)
