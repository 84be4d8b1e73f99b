"""Acquire the spectra that are due, so many at once."""

from pydantic import ConfigDict

from sourcebook.inputs import Input
from sourcebook.spectra.messages import ClaimSpectra
from statemachines import states as asl
from statemachines.declaration import Lock, Workflow

_AT_ONCE = "${acquire_concurrency}"
_PRODUCT = "$states.input.product"
_SAY = "Say what was done"
_MORE = (
    "$merge([$counts, {'started': $counts.started + $count($states.result), 'ended': $counts.ended + "
    "$count($states.result[ended = true]), 'failed': $counts.failed + "
    "$count($states.result[ended = false])}])"
)

_STEPS: asl.States = {
    "Claim what is due": asl.task(
        ClaimSpectra,
        {"most": asl.jsonata(f"{_AT_ONCE} * 8")},
        comment="The longest due first, enough for a few rounds. No other run may claim them for an hour.",
    ),
    "Is there anything to do?": asl.choice(
        "Ends when nothing is due.",
        asl.when("$count($states.input.claimed) > 0", then="Acquire what is due"),
        otherwise=_SAY,
    ),
    "Acquire what is due": asl.each(
        "$states.input.claimed",
        {
            "Acquire one": asl.start(
                "acquire_and_validate_spectra",
                {
                    **asl.members(_PRODUCT, "nova_id data_product_id provider"),
                    "AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID": "$states.context.Execution.Id",
                },
                comment="An execution of its own, named after the spectrum and the time it was due.",
                name=f"{_PRODUCT}.name",
                wait_seconds=1500,
                output={"ended": True},
                catches=[asl.caught("Its own job run says why", output={"ended": False})],
            ),
            "It has ended": asl.note(
                "If it has failed, the spectrum rests, or is due again within the hour."
            ),
        },
        comment="So many at once, waiting for each. One that fails does not stop the others.",
        selector={"product": asl.MAP_ITEM},
        at_once=asl.jsonata(_AT_ONCE),
        assign={"counts": _MORE},
    ),
    "Is there time for more?": asl.choice(
        "Up to ten minutes and a thousand spectra, as an execution's limits ask; the next sweep goes on.",
        asl.when(
            "$millis() - $toMillis($run.started_at) < 600000 and $counts.started < 1000",
            then="Claim what is due",
        ),
    ),
    _SAY: asl.note("How many were started, and how each ended.", ending=asl.succeeded("SWEPT", "$counts")),
}


class SweepInput(Input):
    """The sweep is of all spectra that are due."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})


WORKFLOW = Workflow(
    name="acquire_due_spectra",
    comment="Acquires the spectra that are due, so many at once, and counts them.",
    input=SweepInput,
    subject=asl.jsonata("'all'"),
    lock=Lock(
        "'all'",
        comment="One sweep at a time, which bounds what runs at once. The lock has no day, since a sweep may "
        "run past midnight.",
        bucket="'always'",
        # It takes what is due as it goes on.
        held=asl.succeeded("ALREADY_RUNNING"),
    ),
    variables={"counts": {"started": 0, "ended": 0, "failed": 0}},
    outcomes=("SWEPT", "ALREADY_RUNNING"),
    steps=_STEPS,
)
