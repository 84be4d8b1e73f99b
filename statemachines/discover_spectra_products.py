"""Find the spectra that the providers have of a nova."""

from sourcebook.spectra.messages import DiscoverSpectra, PlanDiscovery
from statemachines import states as asl
from statemachines.shared import NOVA_ID, nova_workflow

_ANSWERS = "$states.input.answers"
_DID_ANSWER = "Did any provider answer?"
_ERROR = "$states.errorOutput.Error"
_STATUS = (
    f"($cause := {asl.caught_message()}; {_ERROR} = 'ArchiveRejected' ? 'REJECTED' : {_ERROR} != 'Retryable' "
    "? 'FAILED' : $contains($cause, 'RATE_LIMITED') ? 'RATE_LIMITED' : 'DOWN')"
)
_COUNTS = ("found", "created", "updated", "released", "known", "claimed", "left_out")
_OF_EACH = (
    f"[$map({_ANSWERS}, function($a) {{ $merge([{{'provider': $a.provider, 'status': $a.status}}, "
    "$exists($a.reason) ? {'reason': $a.reason} : {"
    + ", ".join(f"'{name}': $a.{name}" for name in _COUNTS)
    + "}]) })]"
)
_ASKED = asl.members("$states.input", "nova_id provider")

_STEPS: asl.States = {
    "Plan the discovery": asl.task(
        PlanDiscovery,
        {"nova_id": NOVA_ID},
        comment="The nova must be active and have a position; the providers come from the table, or are the "
        "built-in ones.",
    ),
    "Ask the providers": asl.each(
        "$states.input.providers",
        {
            "Ask a provider": asl.task(
                DiscoverSpectra,
                _ASKED,
                comment="Queries it, registers new products, and counts those that may be acquired now. What "
                "it returned before it failed is kept.",
                seconds=310,
                catches=[
                    asl.caught(
                        "The other providers go on; the result names this one",
                        output={
                            **asl.members("$states.input", "provider"),
                            "status": _STATUS,
                            "reason": asl.caught_message(),
                            "eligible": 0,
                        },
                    )
                ],
            ),
            "Answered": asl.note("Its counts, or its error."),
        },
        comment="All at once, each by the same task. A new provider is an entry in the table.",
        selector={"provider": f"{asl.MAP_ITEM}.provider", "nova_id": "$states.input.nova_id"},
        at_once=5,
        output={"answers": "[$states.result]", "started": False},
    ),
    "Is there anything to acquire?": asl.choice(
        "New products that may be acquired now.",
        asl.when(f"$sum([{_ANSWERS}.eligible]) > 0", then="Start the acquisition"),
        otherwise=_DID_ANSWER,
    ),
    "Start the acquisition": asl.start(
        "acquire_due_spectra",
        {},
        comment="One execution acquires whatever is due. It ends at once if another is running, which then "
        "acquires the new ones.",
        output={"answers": _ANSWERS, "started": True},
        catches=[
            asl.caught(
                "What is new stays eligible, and the next sweep starts it",
                output={"answers": _ANSWERS, "started": False},
            )
        ],
    ),
    _DID_ANSWER: asl.choice(
        "One is enough; the next run asks the others again.",
        asl.when(
            f"$count($filter({_ANSWERS}, function($a) {{ $not($exists($a.reason)) }})) > 0 or "
            f"$count({_ANSWERS}) = 0",
            ending=asl.succeeded(
                "DISCOVERED",
                {
                    "providers": _OF_EACH,
                    "created": f"$sum([{_ANSWERS}.created])",
                    "eligible": f"$sum([{_ANSWERS}.eligible])",
                    "acquisition_started": "$states.input.started",
                },
                nova_id=NOVA_ID,
            ),
            then=asl.DONE,
        ),
    ),
    "None answered": asl.note(
        "The error names each and its reason.",
        ending=asl.failed(
            "NoProviderAnswered",
            f"$substring('No provider answered: ' & $join([{_ANSWERS}.(provider & ' ' & status & ' (' & "
            "reason & ')')], '; ') & '. Start this workflow again later.', 0, 500)",
            {"providers": _OF_EACH},
            nova_id=NOVA_ID,
        ),
    ),
}

WORKFLOW = nova_workflow(
    "discover_spectra_products",
    "Finds the spectra that the providers have of a nova, and counts them by provider.",
    ("DISCOVERED",),
    _STEPS,
)
