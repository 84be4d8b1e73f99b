"""The words that the workflows of spectra decide by are those that their functions say."""

from __future__ import annotations

import json
import re
from typing import Any

from sourcebook.fits.model import QuarantineCode, SpectrumOutcome
from sourcebook.records.quarantine import QuarantineReason
from sourcebook.runs.read import LONGEST_RUN
from sourcebook.spectra.load import LEASE
from sourcebook.spectra.messages import LoadDecision, RunOutcome
from tests.definitions import states_of

ONE, DUE = "acquire_and_validate_spectra", "acquire_due_spectra"


def conditions(state: dict[str, Any]) -> dict[str, str]:
    """Return where each word that a choice compares with leads to."""
    found = {}
    for choice in state["Choices"]:
        (word,) = re.findall(r"= '(\w+)'", choice["Condition"])
        found[word] = choice["Next"]
    return found


def test_what_is_loaded_decides_whether_anything_is_done() -> None:
    states = states_of(ONE)
    choice = states["Is it to be acquired?"]
    assert conditions(choice) == {"ACQUIRE": "Acquire the file"}
    assert set(conditions(choice)) < set(LoadDecision)
    assert choice["Default"] == "Leave it as it is"
    assert states["Leave it as it is"]["Assign"]["ending"]["outcome"] == "{% $states.input.decision %}"


def test_what_has_come_is_examined_held_or_recorded() -> None:
    states = states_of(ONE)
    assert conditions(states["What has come?"]) == {
        "ACQUIRED": "Examine the file",
        "UNSURE": "Hold for a person",
    }
    verdicts = conditions(states["Must a person look?"])
    assert verdicts == {"QUARANTINED": "Hold for a person"}
    assert set(verdicts) < set(SpectrumOutcome)
    for name in ("What has come?", "Must a person look?"):
        assert states[name]["Default"] == "Record the outcome"


def test_only_a_failure_that_is_tried_again_fails_the_run() -> None:
    ending = states_of(ONE)["Record the outcome"]["Assign"]["ending"]
    assert set(re.findall(r"outcome = '(\w+)'", ending)) == {RunOutcome.FAILED_RETRYABLE}


def test_what_kills_a_task_is_recorded_on_the_spectrum_and_a_mistake_of_ours_is_not() -> None:
    states = states_of(ONE)
    for name in ("Acquire the file", "Examine the file"):
        given_up, everything = states[name]["Catch"]
        assert {"Retryable", "Sandbox.Timedout", "States.Timeout"} <= set(given_up["ErrorEquals"])
        assert given_up["Next"] == "Record the outcome"
        assert given_up["Output"]["acquisition"]["result"] == "FAILED"
        assert {"kind", "reason", "error_type", "message"} <= set(
            given_up["Output"]["acquisition"]["failure"]
        )
        assert (everything["ErrorEquals"], everything["Next"]) == (["States.ALL"], "Note the failure")


def test_a_claim_outlasts_the_longest_run() -> None:
    assert LEASE >= 2 * LONGEST_RUN


def test_a_sweep_goes_round_until_nothing_is_due_or_its_time_is_up() -> None:
    states = states_of(DUE)
    assert states["Is there anything to do?"]["Choices"][0]["Next"] == "Acquire what is due"
    (more,) = states["Is there time for more?"]["Choices"]
    assert (more["Next"], states["Is there time for more?"]["Default"]) == (
        "Claim what is due",
        "Say what was done",
    )
    assert states["Acquire the lock"]["Catch"][0]["Assign"]["ending"]["outcome"] == "ALREADY_RUNNING"
    one = states["Acquire what is due"]["ItemProcessor"]["States"]["Acquire one"]
    assert set(one["Arguments"]["Input"]) == {
        "nova_id",
        "data_product_id",
        "provider",
        "correlation_id",
        "AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID",
    }
    assert one["Catch"][-1]["ErrorEquals"] == ["States.ALL"], "one that fails stops no other"
    assert json.dumps(states["Say what was done"]["Assign"]).count("counts") == 1


def test_every_reason_of_the_examination_is_one_of_quarantine() -> None:
    assert set(QuarantineCode) <= set(QuarantineReason)
