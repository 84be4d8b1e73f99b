"""The rendered definitions of the workflows, for every test that reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import statemachines
from sourcebook.runs.read import LONG_RUNS

workflow = statemachines.workflow
NAMES = statemachines.names()
LOCKED = tuple(name for name in NAMES if statemachines.workflow(name).lock)
LONG = tuple(LONG_RUNS)

State = dict[str, Any]


def definition(name: str) -> dict[str, Any]:
    """Return a definition as Step Functions gets it, before CloudFormation has put anything in."""
    found: dict[str, Any] = json.loads(statemachines.workflow(name).text())
    return found


def states_of(name: str) -> dict[str, State]:
    """Return the states of a definition by name."""
    found: dict[str, State] = definition(name)["States"]
    return found


def every_state(states: dict[str, State]) -> Iterator[tuple[str, State]]:
    """Yield all states, those within maps too."""
    for name, state in states.items():
        yield name, state
        if "ItemProcessor" in state:
            yield from every_state(state["ItemProcessor"]["States"])


def texts(value: Any) -> Iterator[str]:
    """Yield every text in a value."""
    match value:
        case str():
            yield value
        case dict():
            for part in value.values():
                yield from texts(part)
        case list():
            for part in value:
                yield from texts(part)


def following(state: State) -> Iterator[str]:
    """Yield the states that may come next, those that an error leads to among them."""
    for holder in (state, *state.get("Choices", ()), *state.get("Catch", ())):
        yield from (holder[key] for key in ("Next", "Default") if key in holder)
