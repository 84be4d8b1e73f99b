"""Acquire one spectrum from its provider, and validate it."""

from typing import Annotated

from pydantic import ConfigDict, Field

from sourcebook.fits.model import SpectrumOutcome
from sourcebook.inputs import expected, matching
from sourcebook.messages import checked_parts
from sourcebook.schema import UUID
from sourcebook.spectra import messages as spectra
from statemachines import states as asl
from statemachines.declaration import Lock, Workflow
from statemachines.shared import EXAMPLE, CaseId, NovaInput

_IDS = asl.members(asl.EXECUTION_INPUT, "nova_id data_product_id")
_PRODUCT = asl.members("$product", "nova_id data_product_id provider")
_ID = "{'data_product_id': $product.data_product_id}"
_OUTCOME = f"{asl.RESULT}.outcome"
_AGAIN = asl.equals(spectra.RunOutcome.FAILED_RETRYABLE, _OUTCOME)
_MESSAGE = f"{asl.RESULT}.message"
_CAME, _VERDICT = "$states.input.acquisition", "$states.input.examination.verdict.outcome"
_RECORD, _HOLD = "Record the outcome", "Hold for a person"


def _given_up(comment: str, reason: str, **more: asl.Json) -> asl.Fields:
    """Return the catch of failed retries and killed functions, after which the spectrum is tried again."""
    failure: asl.Fields = {
        "kind": spectra.FailureKind.RETRYABLE,
        "reason": reason,
        "error_type": "$states.errorOutput.Error",
        "message": asl.caught_message(),
        **more,
    }
    answer: asl.Fields = {"result": "FAILED", "failure": checked_parts(spectra.Failure, failure)}
    return asl.caught(
        comment,
        *("Retryable", "States.Timeout", "Sandbox.Timedout", "Lambda.Unknown"),
        *("Runtime.ExitError", "Runtime.OutOfMemory"),
        output={"acquisition": checked_parts(spectra.NotAcquired, answer)},
        then=_RECORD,
    )


_STEPS: asl.States = {
    "Load the spectrum": asl.task(
        spectra.LoadSpectrum,
        {**_IDS, **asl.optional_members(asl.EXECUTION_INPUT, "provider quarantine_id")},
        comment="Reads the spectrum's item. An approved retry leaves quarantine here.",
        seconds=70,
        assign={"product": {**_IDS, **asl.members(asl.RESULT, "provider")}},
    ),
    "Is it to be acquired?": asl.choice(
        "The spectrum's item decides, whoever has started the run.",
        asl.when(asl.equals(spectra.LoadDecision.ACQUIRE, "$states.input.decision"), then="Acquire the file"),
    ),
    "Leave it as it is": asl.note(
        "SKIPPED_DUPLICATE, SKIPPED_BACKOFF or NOT_ELIGIBLE.",
        ending=asl.succeeded(
            "$states.input.decision", f"$merge([{_ID}, $states.input])", nova_id="$product.nova_id"
        ),
        then=asl.DONE,
    ),
    "Acquire the file": asl.task(
        spectra.AcquireSpectrum,
        _PRODUCT,
        comment="Downloads the file into the bucket, unpacks it, and checks length and digest. A refusal is "
        "an answer; what may pass within seconds is tried again.",
        seconds=250,
        catches=[_given_up("The spectrum rests before it is tried again", "task_failed")],
        output={"acquisition": asl.RESULT},
    ),
    "What has come?": asl.choice(
        "A file to examine, a case for a reviewer, or an outcome: a failure, or a duplicate.",
        asl.when(asl.equals(spectra.Acquired, _CAME), then="Examine the file"),
        asl.when(asl.equals(spectra.Unsure, _CAME), then=_HOLD),
        otherwise=_RECORD,
    ),
    "Examine the file": asl.task(
        spectra.ExamineSpectrum,
        {**_PRODUCT, "acquisition": _CAME},
        comment="By profile. For a valid one, writes the normalized spectrum, its metadata and a plot.",
        catches=[
            _given_up(
                "The same, with the digest of the file: after three times the spectrum is given up",
                "examination_failed",
                sha256=f"{_CAME}.sha256",
            )
        ],
        output=f"$merge([$states.input, {{'examination': {asl.RESULT}}}])",
    ),
    "Must a person look?": asl.choice(
        "If the file leaves something open that must not be guessed.",
        asl.when(asl.equals(SpectrumOutcome.QUARANTINED, _VERDICT), then=_HOLD),
        otherwise=_RECORD,
    ),
    _HOLD: asl.task(
        spectra.HoldSpectrum,
        {**_PRODUCT, "found": "$states.input"},
        comment="Opens a case, with the file and its context in the bucket, and sends a notice.",
        seconds=70,
        output=f"$merge([$states.input, {{'hold': {asl.RESULT}}}])",
    ),
    _RECORD: asl.task(
        spectra.RecordSpectrum,
        {**_PRODUCT, "found": "$states.input"},
        comment="Updates the spectrum's item: valid, quarantined, invalid, duplicate, or the time of the "
        "next try. Unless there is one, the spectrum leaves the indexes.",
        seconds=70,
        assign={
            "ending": f"$merge([{{'status': {_AGAIN} ? 'FAILED' : 'SUCCEEDED', "
            f"'outcome': {_OUTCOME}, 'nova_id': $product.nova_id, 'result': $merge([{_ID}, {asl.RESULT}])}}, "
            f"{_AGAIN} ? {{'error_type': 'AcquisitionFailed', 'error_message': "
            f"$exists({_MESSAGE}) ? {_MESSAGE} : 'the provider did not send the file'}} : {{}}])"
        },
    ),
}


class SpectrumInput(NovaInput):
    """The spectrum to acquire."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{**EXAMPLE, "data_product_id": "2c7d1f4d-5b7a-4a4d-9f31-8d3b4fd0d4d9"}]
        }
    )

    data_product_id: Annotated[
        str,
        matching(UUID, 36),
        expected("the id of a spectrum, a UUID in lower case; GET /novae/{nova_id}/products"),
    ] = Field(description="The spectrum.")
    provider: (
        Annotated[
            str,
            matching(r"[A-Z][A-Z0-9_-]{1,29}", 30),
            expected("the name of a provider such as ESO"),
        ]
        | None
    ) = Field(None, description="Where it is from, which makes finding it cheaper.")
    quarantine_id: CaseId | None = None


WORKFLOW = Workflow(
    name="acquire_and_validate_spectra",
    comment="Acquires one spectrum from its provider and validates it. If the provider does not send the "
    "file, the run fails, and the spectrum is tried again later.",
    input=SpectrumInput,
    subject="$states.input.data_product_id",
    lock=Lock("$states.input.data_product_id"),
    outcomes=(*spectra.RunOutcome, spectra.LoadDecision.SKIPPED_BACKOFF, spectra.LoadDecision.NOT_ELIGIBLE),
    steps=_STEPS,
)
