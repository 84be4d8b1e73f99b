"""Start everything that collects data on a nova."""

from sourcebook.novae.messages import PrepareNova
from statemachines import states as asl
from statemachines.shared import NOVA_ID, nova_workflow

_LAUNCHES = ("refresh_references", "discover_spectra_products")
_NOT_LAUNCHED = "$filter($states.input.launches, function($one) { $not($one.launched) })"
_WHICH = asl.members("$states.input", "workflow")

_STEPS: asl.States = {
    "Prepare the nova": asl.task(
        PrepareNova,
        {"nova_id": NOVA_ID},
        comment="It must be active; its photometry table is made if missing.",
    ),
    "Launch what ingests it": asl.each(
        [{"workflow": name, "arn": f"${{{name}_arn}}"} for name in _LAUNCHES],
        {
            "Launch": asl.start(
                "$states.input.arn",
                {"nova_id": NOVA_ID},
                comment="Passes on the id alone.",
                output={**_WHICH, "launched": True},
                catches=[
                    asl.caught(
                        "The others go on",
                        output={**_WHICH, "launched": False, "error": "$states.errorOutput.Error"},
                    )
                ],
            ),
            "Launched": asl.note("Whether it was launched."),
        },
        comment="One line for each workflow to start. One that cannot be started does not stop the others.",
        output={"launches": "[$states.result]"},
    ),
    "Were they launched?": asl.choice(
        "If one was not, the run has failed.",
        asl.when(
            f"$count({_NOT_LAUNCHED}) = 0",
            ending=asl.succeeded(
                "LAUNCHED", {"launched": "[$states.input.launches.workflow]"}, nova_id=NOVA_ID
            ),
            then=asl.DONE,
        ),
    ),
    "Not launched": asl.note(
        "The error names which and why.",
        ending=asl.failed(
            "LaunchFailed",
            f"'Not launched: ' & $string({_NOT_LAUNCHED}) & '. Start this workflow again.'",
            nova_id=NOVA_ID,
        ),
    ),
}

WORKFLOW = nova_workflow(
    "ingest_new_nova", "Starts everything that collects data on a nova.", ("LAUNCHED",), _STEPS
)
