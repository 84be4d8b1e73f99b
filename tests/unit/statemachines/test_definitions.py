"""What every workflow keeps to, however it is declared."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Literal, get_origin, get_type_hints

import pytest

import statemachines
from sourcebook.api.workflows import INPUTS
from sourcebook.fits.model import SpectrumOutcome
from sourcebook.messages import TaskRequest, TaskResult, tag_of
from sourcebook.novae.messages import CandidateOutcome, FindNova, OneNova, PrepareNova, Resolved
from sourcebook.runs.read import LONG_RUNS, LONGEST_RUN
from sourcebook.spectra.messages import LoadDecision, RunOutcome
from sourcebook.table import keys
from statemachines import states as asl
from statemachines.bookkeeping import CHECK, REPORT
from tests.definitions import LOCKED, NAMES, definition, every_state, following, states_of, texts

FOLDER = Path(statemachines.__file__).parent
LAMBDAS = FOLDER.parent / "lambdas"


def test_a_workflow_is_named_as_its_module_and_takes_what_the_api_takes() -> None:
    assert len(NAMES) >= 11
    for name in NAMES:
        assert statemachines.workflow(name).name == name
        assert INPUTS[name] is statemachines.workflow(name).input
    with pytest.raises(KeyError):
        statemachines.workflow("bookkeeping")
    assert "no_such_workflow" not in INPUTS


def test_the_declarations_are_short_and_nothing_is_said_twice() -> None:
    lines = [
        (path.name, [line.strip() for line in path.read_text("utf-8").splitlines()])
        for path in sorted(FOLDER.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert {name.rpartition(".")[2] for name, _ in lines} == {"py"}
    assert sum(len(content) for _, content in lines) < 2_000
    windows = Counter(
        tuple(content[start : start + 12]) for _, content in lines for start in range(len(content) - 11)
    )
    assert [window for window, times in windows.items() if times > 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_path_leads_to_an_end_and_every_state_is_on_one(name: str) -> None:
    whole = definition(name)
    maps = [state["ItemProcessor"] for _, state in every_state(whole["States"]) if "ItemProcessor" in state]
    for machine in (whole, *maps):
        states = machine["States"]
        reached, waiting = set(), [machine["StartAt"]]
        while waiting:
            current = waiting.pop()
            assert current in states
            if current in reached:
                continue
            reached.add(current)
            ways = list(following(states[current]))
            ends = states[current].get("End") is True or states[current]["Type"] in {"Fail", "Succeed"}
            assert ends or ways, f"{current} leads nowhere"
            waiting += ways
        assert reached == set(states)


@pytest.mark.parametrize("name", NAMES)
def test_no_way_leads_to_the_end_without_saying_how_it_ended(name: str) -> None:
    states = states_of(name)
    waiting, seen = [(CHECK, False)], set()
    while waiting:
        current, said = waiting.pop()
        if (current, said) in seen:
            continue
        seen.add((current, said))
        state = states[current]
        assert said or current not in {"Finalize the job run", "Record the refusal", REPORT}
        here = said or "ending" in state.get("Assign", {})
        waiting += [(state[key], here) for key in ("Next", "Default") if key in state]
        for branch in (*state.get("Choices", ()), *state.get("Catch", ())):
            waiting.append((branch["Next"], said or "ending" in branch.get("Assign", {})))
    assert ("Finalize the job run", True) in seen
    assert ("Record the refusal", True) in seen


@pytest.mark.parametrize("name", NAMES)
def test_every_state_says_what_it_is_for(name: str) -> None:
    assert definition(name)["Comment"]
    for state_name, state in every_state(states_of(name)):
        assert state.get("Comment"), state_name
        if state["Type"] == "Task":
            assert state["Retry"], state_name
        if state["Type"] == "Fail":
            assert state["Error"], state_name
            assert state["Cause"], state_name
    for state in states_of(name).values():
        if state["Type"] in {"Task", "Map"}:
            assert state["Catch"][-1]["ErrorEquals"] == ["States.ALL"]


@pytest.mark.parametrize("name", NAMES)
def test_the_partition_is_the_stacks_and_integrations_are_the_optimized_ones(name: str) -> None:
    assert "arn:aws" not in statemachines.workflow(name).text()
    for _, state in every_state(states_of(name)):
        if state["Type"] == "Task":
            assert state["Resource"].removeprefix("arn:${partition}:states:::") in {
                "lambda:invoke",
                # Its own records and the next workflow: no function between.
                "dynamodb:putItem",
                "dynamodb:updateItem",
                "dynamodb:deleteItem",
                "states:startExecution",
                "states:startExecution.sync:2",
            }


@pytest.mark.parametrize("name", NAMES)
def test_a_task_is_recorded_repeated_by_one_word_and_gets_its_run(name: str) -> None:
    # TaskRecorder raises each child of Retryable as Retryable, so that no list of classes can be out of date.
    for function in statemachines.workflow(name).functions():
        assert (LAMBDAS / function / "handler.py").is_file()
    for _, state in every_state(states_of(name)):
        if not state.get("Resource", "").endswith("lambda:invoke"):
            continue
        retry, of_a_start = state["Retry"]
        assert {"MissingSetting", "Runtime.ImportModuleError"} <= set(of_a_start["ErrorEquals"])
        assert "Retryable" in retry["ErrorEquals"]
        assert (retry["IntervalSeconds"], retry["BackoffRate"], retry["MaxAttempts"]) == (2, 5, 3)
        assert (retry["MaxDelaySeconds"], retry["JitterStrategy"]) == (30, "FULL")
        payload = " ".join(texts(state["Arguments"]["Payload"]))
        assert "'task_name': $states.context.State.Name" in payload
        assert "'attempt_no': $states.context.State.RetryCount + 1" in payload


def test_records_and_locks_have_the_keys_of_the_table() -> None:
    states = states_of("initialize_nova")
    item = states["Begin the job run"]["Arguments"]["Item"]
    values = {"$run.record": "P", "$run.started_at": "T", "$run.job_run_id": "R", "$lock": "x"}

    def value(attribute: dict[str, str]) -> str:
        text = attribute["S"]
        if not text.startswith("{% "):
            return text
        parts = text[3:-3].split(" & ")
        return "".join(part[1:-1] if part.startswith("'") else values[part] for part in parts)

    assert {name: value(item[name]) for name in ("PK", "SK")} == keys.job_run(
        "P", "initialize_nova", "T", "R"
    )
    assert value(item["GSI1PK"]) == keys.job_run_by_id("R")
    assert item["status"]["S"] == "RUNNING"
    lock = states["Acquire the lock"]["Arguments"]["Item"]
    assert {name: value(lock[name]) for name in ("PK", "SK")} == keys.lock("x")
    written = [
        path for path in FOLDER.glob("*.py") if re.search(r"(JOBRUN|LOCK|WORKFLOW)#", path.read_text())
    ]
    assert written == [], "a key is spelled by sourcebook.table.keys alone"


@pytest.mark.parametrize("name", LOCKED)
def test_an_expired_lock_counts_as_absent_in_the_condition_itself(name: str) -> None:
    states = states_of(name)
    condition = states["Acquire the lock"]["Arguments"]["ConditionExpression"]
    assert condition.startswith("attribute_not_exists(PK) OR ttl_timestamp < :now")
    assert f"'{name}:'" in states["Name the run"]["Assign"]["lock"]
    # Whatever happens after it was taken leads over its release.
    own = dict(states)
    for before in ("Check the input", "Name the run", "Begin the job run", "Acquire the lock"):
        del own[before]
    waiting, seen = [states["Acquire the lock"]["Next"]], set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        assert current not in {"Finalize the job run", REPORT}, "past the lock's release"
        waiting += [way for way in following(states[current]) if current != "Release the lock"]
    assert "Release the lock" in seen


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_called_lost_only_when_its_workflow_would_have_ended_it(name: str) -> None:
    longest = LONG_RUNS.get(name, LONGEST_RUN).total_seconds()
    assert 60 < definition(name)["TimeoutSeconds"] < longest


@pytest.mark.parametrize("name", NAMES)
def test_no_catch_parses_a_cause_that_may_be_cut_off(name: str) -> None:
    for text in texts(definition(name)):
        assert "$parse($c" not in text
        assert "$eval" not in text
        if "$parse(" in text:
            assert "$parse('\"' & $m[0].groups[0] & '\"')" in text


@pytest.mark.parametrize("name", NAMES)
def test_a_run_comes_to_what_its_workflow_declares(name: str) -> None:
    declared = {*statemachines.workflow(name).outcomes, "FAILED", "REFUSED"}
    assert len(declared) == len(statemachines.workflow(name).outcomes) + 2
    for state in states_of(name).values():
        for holder in (state, *state.get("Choices", ()), *state.get("Catch", ())):
            ending = holder.get("Assign", {}).get("ending")
            if isinstance(ending, dict) and not ending["outcome"].startswith("{%"):
                assert ending["outcome"] in declared


@pytest.mark.parametrize("name", NAMES)
def test_a_task_is_asked_by_a_declared_message_and_every_word_that_is_compared_is_declared(name: str) -> None:
    asked = {one.function for one in TaskRequest.__subclasses__()}
    assert statemachines.workflow(name).functions() <= asked
    words = {str(tag_of(one)[1]) for one in TaskResult.__subclasses__() if _has_word(one)}
    enums = {
        str(word) for kind in (LoadDecision, RunOutcome, SpectrumOutcome, CandidateOutcome) for word in kind
    }
    for _, state in every_state(states_of(name)):
        for choice in state.get("Choices", ()):
            # `HELD` is a word of the definition itself, as its own books are.
            compared = set(re.findall(r"(?:outcome|decision|result|match) = '(\w+)'", choice["Condition"]))
            assert compared <= words | enums


def _has_word(kind: type[TaskResult]) -> bool:
    return any(get_origin(of) is Literal for of in get_type_hints(kind).values())


def test_what_a_task_is_asked_is_checked_when_the_workflow_is_declared() -> None:
    with pytest.raises(ValueError, match="FindNova: nova is missing, or is none of its fields"):
        asl.task(FindNova, {"nova": "$states.input.nova_id"}, comment="A misspelt field.")
    with pytest.raises(ValueError, match="PrepareNova: nova_id is missing"):
        asl.task(PrepareNova, {}, comment="Nothing.")
    assert asl.equals(OneNova) == "$states.input.match = 'ONE'"
    assert asl.equals(Resolved, "$x") == "$x.found = true"
    assert asl.equals(LoadDecision.ACQUIRE, "$x") == "$x = 'ACQUIRE'"
