"""Workflows as drawings in Mermaid, and the page of documentation with all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import fill
from typing import Final, cast

import statemachines
from sourcebook.inputs import without_null
from statemachines import states as asl
from statemachines.declaration import Workflow

_SHAPES: Final = {"Choice": ("{", "}"), "Succeed": ("([", "])"), "Fail": ("([", "])"), "Pass": ("[/", "/]")}
_END: Final = "The run ends"
_LONGEST: Final = 70

_HEAD: Final = """\
# The workflows

<!-- Made by `make docs`, from the declarations in statemachines/. -->

Each is a STANDARD state machine, declared by one module of `statemachines/`. Start one from the console, with
`POST /workflows/{name}/executions`, or with the command that is for it. What a run leaves is in
[runs.md](runs.md). `sourcebook workflows show NAME` prints the definition, with `--mermaid` its drawing, with
`--schema` what it takes.

Round boxes are ends, slanted ones only say something, rhombs are choices. A dashed arrow is an error that
leads elsewhere. An error that no arrow names fails the run.

## What all of them have

These states stand around the steps of each; one that may run twice at once has no lock.
"""


def drawing(workflow: Workflow, *, steps: bool = False) -> str:
    """Return the drawing of all states, or only of the workflow's own steps."""
    states = asl.linked(workflow.steps, _END) if steps else workflow.states()
    return "\n".join(["flowchart TD", *_drawn(states, "")])


def page() -> str:
    """Return the page of documentation on all workflows."""
    own = asl.note("What the workflow is for.")
    model = statemachines.workflow("ingest_new_nova")
    common = Workflow(
        name="any",
        comment="",
        input=model.input,
        subject="",
        outcomes=(),
        steps={"The workflow's own steps": own},
        lock=model.lock,
    )
    parts = [_HEAD, _mermaid(drawing(common))]
    for name in statemachines.names():
        parts += _section(statemachines.workflow(name))
    return "\n".join(parts)


def _section(workflow: Workflow) -> Iterator[str]:
    yield f"## {workflow.name}\n"
    yield f"{_filled(workflow.comment)}\n"
    fields = workflow.input.json_schema()["properties"]
    if fields:
        yield "| field | | what it is |"
        yield "|---|---|---|"
        for name, field in fields.items():
            description = str(without_null(field)["description"]).replace("|", r"\|")
            needed = "needed" if name in workflow.input.needed() else ""
            yield f"| `{name}` | {needed} | {description} |"
        yield ""
    outcomes = ", ".join(f"`{outcome}`" for outcome in workflow.outcomes)
    lock = f"{workflow.lock.comment} " if workflow.lock else "Two of them may run at once. "
    yield _filled(f"{lock}It may take {_spoken(workflow.limit)}. Outcomes: {outcomes}.")
    yield f"\n    {workflow.example()}\n"
    yield _mermaid(drawing(workflow, steps=True))


def _filled(text: str) -> str:
    return fill(text, 118, break_long_words=False, break_on_hyphens=False)


def _spoken(seconds: int) -> str:
    return f"{seconds // 3600} hours" if seconds >= 7200 else f"{seconds // 60} minutes"


def _mermaid(text: str) -> str:
    return f"```mermaid\n{text}\n```\n"


def _drawn(states: asl.States, within: str) -> Iterator[str]:
    ids = {name: f"{within}s{number}" for number, name in enumerate(states)}
    for name, state in states.items():
        left, right = _SHAPES.get(str(state["Type"]), ("[", "]"))
        yield f'    {ids[name]}{left}"{name}"{right}'
        if state["Type"] == "Map":
            inside = cast("Mapping[str, asl.States]", state["ItemProcessor"])["States"]
            yield f'    subgraph {ids[name]}each["{name}: each"]'
            yield from _drawn(inside, ids[name])
            yield "    end"
            yield f"    {ids[name]} --- {ids[name]}each"
        for arrow, target in _ways(state):
            end = f'{within}z(["{target}"])'
            yield f"    {ids[name]} {arrow} {ids.get(target, end)}"


def _ways(state: asl.Fields) -> Iterator[tuple[str, str]]:
    rules = cast("list[Mapping[str, str]]", state.get("Choices", ()))
    for target in dict.fromkeys(rule["Next"] for rule in rules):
        same = [rule for rule in rules if rule["Next"] == target]
        label = " or ".join(rule.get("Comment") or _condition(rule) for rule in same)
        yield f'-- "{_quoted(label)}" -->', target
    for catch in cast("list[Mapping[str, list[str]]]", state.get("Catch", ())):
        target = str(catch["Next"])
        if target != asl.FAILURE:
            name = catch["ErrorEquals"][0]
            yield f'-. "{"any error" if name == "States.ALL" else name}" .->', target
    for name in ("Next", "Default"):
        if name in state:
            yield "-->", str(state[name])


def _condition(rule: Mapping[str, str]) -> str:
    return rule["Condition"][3:-3].replace("$states.input.", "")


def _quoted(text: str) -> str:
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return short.replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
