"""One spectrum, from its provider into the catalogue."""

from dataclasses import replace

from sourcebook.api.forms import Form, TextField
from statemachines import states as asl
from statemachines.declaration import Lock, Workflow
from statemachines.inputs import CASE, EXAMPLE, NOVA

_IDS = asl.members(asl.GIVEN, "nova_id data_product_id")
_PRODUCT = asl.members("$product", "nova_id data_product_id provider")
_ID = "{'data_product_id': $product.data_product_id}"
_OUTCOME = f"{asl.ANSWER}.outcome"
_SAID = f"{asl.ANSWER}.message"
_RECORD, _HOLD = "Record the outcome", "Hold for a person"


def _given_up(comment: str, reason: str, **more: asl.Json) -> asl.Fields:
    """Return the catch of what retries did not mend and of killed functions; our mistakes fail the run."""
    failure = {
        "kind": "RETRYABLE",
        "reason": reason,
        "error_type": "$states.errorOutput.Error",
        "message": asl.caught_message(),
        **more,
    }
    return asl.caught(
        comment,
        *("Retryable", "States.Timeout", "Sandbox.Timedout", "Lambda.Unknown"),
        *("Runtime.ExitError", "Runtime.OutOfMemory"),
        output={"acquisition": {"result": "FAILED", "failure": failure}},
        then=_RECORD,
    )


_STEPS: asl.States = {
    "Load the spectrum": asl.task(
        "load_spectrum",
        {
            **_IDS,
            "provider": asl.perhaps(f"{asl.GIVEN}.provider"),
            "quarantine_id": asl.perhaps(f"{asl.GIVEN}.quarantine_id"),
        },
        comment="Valid already, resting, waiting for a person, or to be acquired? An approved new try leaves "
        "quarantine here.",
        seconds=70,
        assign={"product": {**_IDS, **asl.members(asl.ANSWER, "provider")}},
    ),
    "Is it to be acquired?": asl.choice(
        "Whether it may be tried is decided by the spectrum's own item, never by who asks.",
        asl.when("$states.input.decision = 'ACQUIRE'", then="Acquire the file"),
    ),
    "Leave it as it is": asl.note(
        "SKIPPED_DUPLICATE, SKIPPED_BACKOFF or NOT_ELIGIBLE: there was nothing to do.",
        ending=asl.succeeded(
            "$states.input.decision", f"$merge([{_ID}, $states.input])", nova_id="$product.nova_id"
        ),
        then=asl.DONE,
    ),
    "Acquire the file": asl.task(
        "acquire_spectrum",
        _PRODUCT,
        comment="Streamed into the bucket, within bounds, out of its gzip or ZIP, length and digest checked. "
        "What a provider says for good is a result; what may pass in seconds is tried again.",
        seconds=250,
        catches=[_given_up("The spectrum rests before it is tried again", "task_failed")],
        output={"acquisition": asl.ANSWER},
    ),
    "What has come?": asl.choice(
        "A file to examine, something for a person, or an outcome already: a failure, or bytes that another "
        "spectrum is valid with.",
        asl.when("$states.input.acquisition.result = 'ACQUIRED'", then="Examine the file"),
        asl.when("$states.input.acquisition.result = 'UNSURE'", then=_HOLD),
        otherwise=_RECORD,
    ),
    "Examine the file": asl.task(
        "validate_spectrum",
        {**_PRODUCT, "acquisition": "$states.input.acquisition"},
        comment="By profile; of a valid one the normalized spectrum, its metadata and a plot are kept in the "
        "bucket.",
        catches=[
            _given_up(
                "The same, with the bytes it was about: when they have come three times, there is nothing "
                "better to come",
                "examination_failed",
                sha256="$states.input.acquisition.sha256",
            )
        ],
        output=f"$merge([$states.input, {{'examination': {asl.ANSWER}}}])",
    ),
    "Must a person look?": asl.choice(
        "What the file does not say is not guessed.",
        asl.when("$states.input.examination.verdict.outcome = 'QUARANTINED'", then=_HOLD),
        otherwise=_RECORD,
    ),
    _HOLD: asl.task(
        "hold_spectrum",
        {**_PRODUCT, "found": "$states.input"},
        comment="A case with the file and its context in the bucket, and a notice, which may fail.",
        seconds=70,
        output=f"$merge([$states.input, {{'hold': {asl.ANSWER}}}])",
    ),
    _RECORD: asl.task(
        "record_spectrum",
        {**_PRODUCT, "found": "$states.input"},
        comment="On the spectrum's item, in one step: valid, held, terminal, duplicate, or when it may be "
        "tried again. It leaves the indexes unless it may.",
        seconds=70,
        assign={
            "ending": f"$merge([{{'status': {_OUTCOME} = 'FAILED_RETRYABLE' ? 'FAILED' : 'SUCCEEDED', "
            f"'outcome': {_OUTCOME}, 'nova_id': $product.nova_id, 'result': $merge([{_ID}, {asl.ANSWER}])}}, "
            f"{_OUTCOME} = 'FAILED_RETRYABLE' ? {{'error_type': 'AcquisitionFailed', 'error_message': "
            f"$exists({_SAID}) ? {_SAID} : 'the provider did not send the file'}} : {{}}])"
        },
    ),
}

WORKFLOW = Workflow(
    name="acquire_and_validate_spectra",
    comment="Brings one spectrum from its provider into the catalogue, or finds out why not. A provider that "
    "does not send the file fails the run, and the spectrum is tried again later.",
    input=Form(
        (
            NOVA,
            replace(
                NOVA,
                name="data_product_id",
                description="The spectrum.",
                expected="the id of a spectrum, a UUID in lower case; GET /novae/{nova_id}/products",
            ),
            TextField(
                name="provider",
                description="Where it is from, which makes finding it cheaper.",
                longest=30,
                pattern=r"[A-Z][A-Z0-9_-]{1,29}",
                expected="the name of a provider such as ESO",
                required=False,
            ),
            CASE,
        ),
        example={**EXAMPLE, "data_product_id": "2c7d1f4d-5b7a-4a4d-9f31-8d3b4fd0d4d9"},
    ),
    subject="$states.input.data_product_id",
    lock=Lock("$states.input.data_product_id"),
    outcomes=tuple(
        "VALIDATED QUARANTINED TERMINAL_INVALID DUPLICATE_OF_EXISTING SKIPPED_DUPLICATE SKIPPED_BACKOFF "
        "NOT_ELIGIBLE FAILED_RETRYABLE".split()
    ),
    steps=_STEPS,
)
