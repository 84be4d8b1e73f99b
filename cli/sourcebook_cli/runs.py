"""Job runs: `runs list` and `runs show`."""

from __future__ import annotations

import json
from typing import Any, Final

import click

from sourcebook.errors import InvalidInput
from sourcebook_cli.output import Style, Styled, say, say_json
from sourcebook_cli.stack import Stack, on_aws

_STYLES: Final[dict[str, Style]] = {
    "SUCCEEDED": "green",
    "FAILED": "red",
    "RUNNING": "yellow",
    "STARTED": "yellow",
}


@click.group()
def runs() -> None:
    """The runs of workflows."""


@runs.command("list")
@click.option("--status", type=click.Choice(["RUNNING", "SUCCEEDED", "FAILED"]))
@click.option("--workflow", help="Name of a workflow such as initialize_nova.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 100))
@click.option("--json", "as_json", is_flag=True)
@on_aws
def list_(status: str | None, workflow: str | None, limit: int, as_json: bool, aws: bool) -> None:
    """List job runs, the newest first."""
    from sourcebook.runs.read import RunReader

    reader = RunReader(Stack.connect(aws=aws).table)
    page = reader.page(status=status, workflow=workflow, limit=limit)
    found = list(page.items)
    while len(found) < limit and page.next_cursor is not None:  # a page may be short, for a rare workflow
        page = reader.page(
            status=status, workflow=workflow, limit=limit - len(found), cursor=page.next_cursor
        )
        found += page.items
    if as_json:
        say_json(found)
        return
    for run in found:
        say(
            f"{run['started_at'][:19]}Z  ",
            _status(run["status"]),
            f"  {run['workflow_name']:<24} {run['outcome'] or '':<20} {run['job_run_id']}  ",
            Styled(str(run["subject"]), "dim"),
        )
    if not found:
        say("No job runs. Start one: sourcebook nova initialize NAME")


@runs.command()
@click.argument("job_run_id")
@click.option("--json", "as_json", is_flag=True)
@on_aws
def show(job_run_id: str, as_json: bool, aws: bool) -> None:
    """Show a job run with its attempts, in order."""
    found = find_run(Stack.connect(aws=aws), job_run_id)
    if as_json:
        say_json(found)
    else:
        print_run(found)


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


def print_run(run: dict[str, Any]) -> None:
    """Print a job run and its attempts for a person."""
    say(
        Styled(run["workflow_name"], "bold"),
        f" {run['subject']}  ",
        _status(run["status"]),
        " ",
        Styled(run["outcome"] or "", "bold"),
        "  (lost: it never ended)" if run["lost"] else "",
    )
    say(f"  job run   {run['job_run_id']}   {run['started_at']} to {run['ended_at'] or '…'}")
    if run["nova_id"]:
        say(f"  nova      {run['nova_id']}")
    if run["result"]:
        say(f"  result    {json.dumps(run['result'], ensure_ascii=False)}")
    if run["error_type"]:
        say(f"  error     {run['error_type']}: {run['error_message']}")
    for attempt in run["attempts"]:
        duration = "" if attempt["duration_ms"] is None else f"{attempt['duration_ms']} ms"
        say(
            f"  {attempt['created_at'][11:23]}  ",
            _status(attempt["status"]),
            f"  {attempt['task_name']} #{attempt['attempt_no']}  ",
            Styled(duration, "dim"),
        )
        if attempt["error_type"]:
            say(f"      {attempt['error_type']}: {attempt['error_message']}")


def _status(status: str) -> Styled:
    return Styled(f"{status:<9}", _STYLES.get(status, "plain"))
