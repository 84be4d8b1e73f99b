"""`sourcebook workflows`, and the page of documentation that it makes."""

from __future__ import annotations

import json
import re
from pathlib import Path

from click.testing import CliRunner

from sourcebook_cli.drawings import drawing, page
from sourcebook_cli.main import main
from tests.definitions import NAMES, definition, workflow

PAGE = Path(__file__).parents[3] / "docs" / "workflows.md"


def run(*arguments: str) -> str:
    finished = CliRunner().invoke(main, ["workflows", *arguments], catch_exceptions=False)
    assert finished.exit_code == 0, finished.output
    return finished.output


def test_the_page_is_what_the_declarations_say() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `make docs`"
    for name in NAMES:
        assert f"\n## {name}\n" in page()


def test_the_list_has_every_workflow() -> None:
    assert [line.split()[0] for line in run("list").splitlines()] == list(NAMES)


def test_a_workflow_is_shown_as_step_functions_gets_it_as_a_drawing_and_by_its_input() -> None:
    assert json.loads(run("show", "initialize_nova")) == definition("initialize_nova")
    assert run("show", "initialize_nova", "--mermaid") == f"{drawing(workflow('initialize_nova'))}\n"
    assert json.loads(run("show", "initialize_nova", "--schema"))["required"] == ["candidate_name"]


def test_one_that_is_not_there_is_answered_with_those_that_are() -> None:
    finished = CliRunner().invoke(main, ["workflows", "show", "initialise_nova"])
    assert finished.exit_code == 1
    assert (
        "name: 'initialise_nova' is not valid; expected the name of a workflow: acquire_" in finished.output
    )


def test_a_drawing_has_every_state_once_and_its_arrows_begin_and_end_there() -> None:
    for name in NAMES:
        lines = drawing(workflow(name)).splitlines()[1:]
        boxes = re.findall(r'^ +(\w+)[\[{(]+/?"([^"]+)"', "\n".join(lines), flags=re.MULTILINE)
        assert {box for _, box in boxes} >= set(definition(name)["States"])
        ids = [identity for identity, _ in boxes]
        assert len(ids) == len(set(ids))
        for line in lines:
            if "-->" in line or ".->" in line:
                begin, end = re.fullmatch(r" +(\w+) .* (\w+)", line).groups()  # type: ignore[union-attr]
                assert {begin, end} <= set(ids)
