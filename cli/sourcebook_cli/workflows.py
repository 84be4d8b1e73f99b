"""Definitions of workflows: `workflows list` and `workflows show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sourcebook.errors import InvalidInput
from sourcebook_cli.output import say, say_json, say_text

if TYPE_CHECKING:
    from statemachines.declaration import Workflow


@click.group()
def workflows() -> None:
    """Workflows: their inputs, outcomes and definitions."""


@workflows.command("list")
def list_() -> None:
    """List the workflows."""
    import statemachines

    for name in statemachines.names():
        say(f"{name:<30} {_declared(name).comment.partition('. ')[0].rstrip('.')}.")


@workflows.command()
@click.argument("name")
@click.option("--definition", "form", flag_value="definition", help="In Amazon States Language.")
@click.option("--mermaid", "form", flag_value="mermaid", help="As a drawing in Mermaid.")
@click.option("--schema", "form", flag_value="schema", help="The JSON Schema of its input.")
def show(name: str, form: str | None) -> None:
    """Show the definition of a workflow as in the console, or its drawing, or its input."""
    from sourcebook_cli.drawings import drawing

    workflow = _declared(name)
    match form:
        case "mermaid":
            say_text(drawing(workflow))
        case "schema":
            say_json(workflow.input.json_schema(), indent=2)
        case _:
            say_text(workflow.text())


@workflows.command(hidden=True)
def page() -> None:
    """Print the page of documentation on all workflows."""
    from sourcebook_cli.drawings import page

    say_text(page().removesuffix("\n"))


def _declared(name: str) -> Workflow:
    import statemachines

    try:
        return statemachines.workflow(name)
    except KeyError:
        known = ", ".join(statemachines.names())
        raise InvalidInput("name", name, f"the name of a workflow: {known}") from None
