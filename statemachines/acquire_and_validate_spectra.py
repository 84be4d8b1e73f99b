"""One spectrum, from its provider into the catalogue."""

from dataclasses import replace

from sourcebook.api.forms import Form, TextField
from sourcebook.catalog import spectrum_messages as spectra
from sourcebook.messages import parts_of
from sourcebook.spectra.model import SpectrumOutcome
from statemachines import states as asl
from statemachines.declaration import Lock, Workflow
from statemachines.inputs import CASE, EXAMPLE, NOVA

_IDS = asl.members(asl.GIVEN, "nova_id data_product_id")
_PRODUCT = asl.members("$product", "nova_id data_product_id provider")
_ID = "{'data_product_id': $product.data_product_id}"
_OUTCOME = f"{asl.ANSWER}.outcome"
_AGAIN = asl.is_(spectra.RunOutcome.FAILED_RETRYABLE, _OUTCOME)
_SAID = f"{asl.ANSWER}.message"
_CAME, _VERDICT = "$states.input.acquisition", "$states.input.examination.verdict.outcome"
_RECORD, _HOLD = "Record the outcome", "Hold for a person"


def _given_up(comment: str, reason: str, **more: asl.Json) -> asl.Fields:
    """Return the catch of what retries did not mend and of killed functions; our mistakes fail the run."""
    failure: asl.Fields = {
        "kind": spectra.FailureKind.RETRYABLE,
        "reason": reason,
        "error_type": "$states.errorOutput.Error",
        "message": asl.caught_message(),
        **more,
    }
    answer: asl.Fields = {"result": "FAILED", "failure": parts_of(spectra.Failure, failure)}
    return asl.caught(
        comment,
        *("Retryable", "States.Timeout", "Sandbox.Timedout", "Lambda.Unknown"),
        *("Runtime.ExitError", "Runtime.OutOfMemory"),
        output={"acquisition": parts_of(spectra.NotAcquired, answer)},
        then=_RECORD,
    )


_STEPS: asl.States = {
    "Load the spectrum": asl.task(
        spectra.LoadSpectrum,
        {**_IDS, **asl.perhaps(asl.GIVEN, "provider quarantine_id")},
        comment="Valid already, resting, waiting for a person, or to be acquired? An approved new try leaves "
        "quarantine here.",
        seconds=70,
        assign={"product": {**_IDS, **asl.members(asl.ANSWER, "provider")}},
    ),
    "Is it to be acquired?": asl.choice(
        "Whether it may be tried is decided by the spectrum's own item, never by who asks.",
        asl.when(asl.is_(spectra.LoadDecision.ACQUIRE, "$states.input.decision"), then="Acquire the file"),
    ),
    "Leave it as it is": asl.note(
        "SKIPPED_DUPLICATE, SKIPPED_BACKOFF or NOT_ELIGIBLE: there was nothing to do.",
        ending=asl.succeeded(
            "$states.input.decision", f"$merge([{_ID}, $states.input])", nova_id="$product.nova_id"
        ),
        then=asl.DONE,
    ),
    "Acquire the file": asl.task(
        spectra.AcquireSpectrum,
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
        asl.when(asl.is_(spectra.Acquired, _CAME), then="Examine the file"),
        asl.when(asl.is_(spectra.Unsure, _CAME), then=_HOLD),
        otherwise=_RECORD,
    ),
    "Examine the file": asl.task(
        spectra.ExamineSpectrum,
        {**_PRODUCT, "acquisition": _CAME},
        comment="By profile; of a valid one the normalized spectrum, its metadata and a plot are kept in the "
        "bucket.",
        catches=[
            _given_up(
                "The same, with the bytes it was about: when they have come three times, there is nothing "
                "better to come",
                "examination_failed",
                sha256=f"{_CAME}.sha256",
            )
        ],
        output=f"$merge([$states.input, {{'examination': {asl.ANSWER}}}])",
    ),
    "Must a person look?": asl.choice(
        "What the file does not say is not guessed.",
        asl.when(asl.is_(SpectrumOutcome.QUARANTINED, _VERDICT), then=_HOLD),
        otherwise=_RECORD,
    ),
    _HOLD: asl.task(
        spectra.HoldSpectrum,
        {**_PRODUCT, "found": "$states.input"},
        comment="A case with the file and its context in the bucket, and a notice, which may fail.",
        seconds=70,
        output=f"$merge([$states.input, {{'hold': {asl.ANSWER}}}])",
    ),
    _RECORD: asl.task(
        spectra.RecordSpectrum,
        {**_PRODUCT, "found": "$states.input"},
        comment="On the spectrum's item, in one step: valid, held, terminal, duplicate, or when it may be "
        "tried again. It leaves the indexes unless it may.",
        seconds=70,
        assign={
            "ending": f"$merge([{{'status': {_AGAIN} ? 'FAILED' : 'SUCCEEDED', "
            f"'outcome': {_OUTCOME}, 'nova_id': $product.nova_id, 'result': $merge([{_ID}, {asl.ANSWER}])}}, "
            f"{_AGAIN} ? {{'error_type': 'AcquisitionFailed', 'error_message': "
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
    outcomes=(*spectra.RunOutcome, spectra.LoadDecision.SKIPPED_BACKOFF, spectra.LoadDecision.NOT_ELIGIBLE),
    steps=_STEPS,
)
