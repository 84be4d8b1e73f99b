"""What workflows did: `runs list` and `runs show`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from sourcebook.errors import InvalidInput
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from rich.console import Console

_COLOURS = {"SUCCEEDED": "green", "FAILED": "red", "RUNNING": "yellow", "STARTED": "yellow"}


@click.group()
def runs() -> None:
    """What workflows did, run by run."""


@runs.command("list")
@click.option("--status", type=click.Choice(["RUNNING", "SUCCEEDED", "FAILED"]))
@click.option("--workflow", help="Name of a workflow such as initialize_nova.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 100))
@click.option("--json", "as_json", is_flag=True)
@on_aws
def list_(status: str | None, workflow: str | None, limit: int, as_json: bool, aws: bool) -> None:
    """List job runs, the newest first."""
    from rich.console import Console

    from sourcebook.runs.read import RunReader

    page = RunReader(Stack.connect(aws=aws).table).page(status=status, workflow=workflow, limit=limit)
    if as_json:
        click.echo(json.dumps(page.items, ensure_ascii=False))
        return
    console = Console(highlight=False)
    for run in page.items:
        console.print(
            f"{run['started_at'][:19]}Z  {_coloured(run['status'])}  {run['workflow_name']:<24} "
            f"{run['outcome'] or '':<20} {run['job_run_id']}  [dim]{run['subject']}[/]"
        )
    if not page.items:
        console.print("No job runs. Start one: sourcebook nova initialize NAME")


@runs.command()
@click.argument("job_run_id")
@click.option("--json", "as_json", is_flag=True)
@on_aws
def show(job_run_id: str, as_json: bool, aws: bool) -> None:
    """Show a job run with its attempts, in order."""
    from rich.console import Console

    found = find_run(Stack.connect(aws=aws), job_run_id)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
    else:
        print_run(found, Console(highlight=False))


def find_run(stack: Stack, job_run_id: str) -> dict[str, Any]:
    """Return a job run with its attempts.

    Raises:
        InvalidInput: if there is none with this id.
    """
    from sourcebook.runs.read import RunReader

    found = RunReader(stack.table).get(job_run_id)
    if found is None:
        raise InvalidInput("job_run_id", job_run_id, "the id of a job run; sourcebook runs list shows them")
    return found


def print_run(run: dict[str, Any], console: Console) -> None:
    """Print a job run and its attempts for a person."""
    console.print(
        f"[bold]{run['workflow_name']}[/] {run['subject']}  {_coloured(run['status'])} "
        f"[bold]{run['outcome'] or ''}[/]{'  (lost: it never ended)' if run['lost'] else ''}"
    )
    console.print(f"  job run   {run['job_run_id']}   {run['started_at']} to {run['ended_at'] or '…'}")
    if run["nova_id"]:
        console.print(f"  nova      {run['nova_id']}")
    if run["result"]:
        console.print(f"  result    {json.dumps(run['result'], ensure_ascii=False)}")
    if run["error_type"]:
        console.print(f"  error     {run['error_type']}: {run['error_message']}", markup=False)
    for attempt in run["attempts"]:
        duration = "" if attempt["duration_ms"] is None else f"{attempt['duration_ms']} ms"
        console.print(
            f"  {attempt['created_at'][11:23]}  {_coloured(attempt['status'])}  "
            f"{attempt['task_name']} #{attempt['attempt_no']}  [dim]{duration}[/]"
        )
        if attempt["error_type"]:
            console.print(f"      {attempt['error_type']}: {attempt['error_message']}", markup=False)


def _coloured(status: str) -> str:
    return f"[{_COLOURS.get(status, 'default')}]{status:<9}[/]"
