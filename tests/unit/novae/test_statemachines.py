"""What a state of the catalogue's workflows reads, a state before it has produced."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from sourcebook.messages import TaskRequest, field_names
from tests.definitions import NAMES, states_of, texts, workflow

WORKFLOWS = (
    "initialize_nova",
    "ingest_new_nova",
    "refresh_references",
    "name_check_and_reconcile",
    "discover_spectra_products",
    "ingest_photometry",
    "curate_nova",
)

for name in NAMES:
    workflow(name)
ASKED = {asked.function: asked for asked in TaskRequest.__subclasses__()}
RETURNS = {
    function: {name for answer in asked.results for name in field_names(answer)}
    for function, asked in ASKED.items()
}
"""Members that each task may answer with."""


def read(value: Any, root: str) -> set[str]:
    return {
        name for text in texts(value) for name in re.findall(rf"\$states\.{re.escape(root)}\.(\w+)", text)
    }


def own(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state without its inner states, which read what the map gives them."""
    return {key: value for key, value in state.items() if key != "ItemProcessor"}


def function_of(state: dict[str, Any]) -> str | None:
    found = re.fullmatch(r"\$\{(\w+)_arn\}", str(state.get("Arguments", {}).get("FunctionName", "")))
    return found[1] if found else None


def produced(state: dict[str, Any], given: set[str]) -> set[str]:
    """Return the members of a state's output, given those of its input."""
    output = state.get("Output", "{% $states.input %}")
    if isinstance(output, dict):
        return set(output)
    if output == "{% $states.input %}":
        return given
    if output == "{% $states.result.Payload %}":
        return RETURNS[str(function_of(state))]
    # An object that is put together: its members are spelled out.
    return set(re.findall(r"'(\w+)':", output)) | ({"identity"} & set(re.findall(r"\w+", output)))


def following(state: dict[str, Any]) -> Iterator[str]:
    yield from (state[key] for key in ("Next", "Default") if key in state)
    yield from (choice["Next"] for choice in state.get("Choices", ()))


def flow(states: dict[str, dict[str, Any]], start: str, given: set[str]) -> dict[str, set[str]]:
    """Return what may be in the input of each state that is reached without a failure."""
    inputs: dict[str, set[str]] = {}
    waiting = [(start, given)]
    while waiting:
        name, members = waiting.pop()
        if name in inputs and members <= inputs[name]:
            continue
        inputs[name] = inputs.get(name, set()) | members
        waiting += [(after, produced(states[name], inputs[name])) for after in following(states[name])]
    return inputs


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_a_state_reads_what_the_state_before_it_has_produced(workflow: str) -> None:
    states = states_of(workflow)
    accepted = {"candidate_name", "nova_id", "quarantine_id", "correlation_id", "Comment", "name", "s3_key"}
    accepted |= {"action", "into", "reason", "decided_by"}
    inputs = flow(states, "Check the input", accepted)
    for name, members in inputs.items():
        assert read(own(states[name]), "input") <= members, name


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_the_states_of_a_map_read_what_it_gives_them(workflow: str) -> None:
    for name, state in states_of(workflow).items():
        if state["Type"] != "Map":
            continue
        given = set(state.get("ItemSelector", {})) or set(state["Items"][0])
        processor = state["ItemProcessor"]
        for inner, members in flow(processor["States"], processor["StartAt"], given).items():
            assert read(processor["States"][inner], "input") <= members, (name, inner)


@pytest.mark.parametrize("workflow_name", NAMES)
def test_a_task_reads_only_what_its_function_answers(workflow_name: str) -> None:
    for name, state in states_of(workflow_name).items():
        inner = state.get("ItemProcessor", {}).get("States", {})
        for task_name, task in {name: own(state), **inner}.items():
            function = function_of(task)
            if function is not None:
                assert read(task, "result.Payload") <= RETURNS[function], task_name
    mapped = states_of("refresh_references")["Store the references"]
    assert read(own(mapped), "result") <= RETURNS["store_references"]
