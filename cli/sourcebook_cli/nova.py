"""Novae: `nova normalize` without a stack, `nova initialize` and `nova show` with one."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING, Any

import click

from sourcebook.catalog.names import normalize_name
from sourcebook.errors import InvalidInput, Terminal
from sourcebook.table.keys import NOVA_NAME_PREFIX
from sourcebook_cli.output import say, say_json
from sourcebook_cli.stack import Stack, on_aws
from sourcebook_cli.suggestions import unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sourcebook.table.client import Table

_LOOK_EVERY = 0.3
_PAGES_FOR_A_HINT = 20


class WorkflowFailed(Terminal):
    """A workflow did not succeed."""


@click.group()
def nova() -> None:
    """Novae: one identity from many names."""


@nova.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="A JSON list of input and normalized.")
def normalize(names: tuple[str, ...], as_json: bool) -> None:
    """Print under what text each of NAMES is looked up. Needs no stack."""
    found = [_normalized(name) for name in names]
    if as_json:
        say_json(found)
        return
    for entry in found:
        say(f"{entry['input']}  →  {entry['normalized'] or entry['error']}")


def _normalized(name: str) -> dict[str, str | None]:
    try:
        return {"input": name, "normalized": normalize_name(name)}
    except InvalidInput as error:
        return {"input": name, "normalized": None, "error": str(error)}


@nova.command()
@click.argument("name")
@click.option("--wait/--no-wait", default=True, help="Wait for the run's end and show it.")
@click.option("--timeout", default=300, show_default=True, help="Seconds to wait.")
@click.option("--json", "as_json", is_flag=True)
@on_aws
def initialize(name: str, wait: bool, timeout: int, as_json: bool, aws: bool) -> None:
    """Make NAME a nova of the catalogue, or find the one that it is."""
    from sourcebook_cli.runs import find_run, print_run

    normalize_name(name)
    stack = Stack.connect(aws=aws)
    arn = start(stack, "InitializeNovaArn", {"candidate_name": name})
    if not wait:
        if as_json:
            say_json({"execution_arn": arn})
        else:
            say(arn)
        return
    run = find_run(stack, ended(stack, arn, timeout)["job_run_id"])
    if as_json:
        say_json(run)
    else:
        print_run(run)


@nova.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True)
@on_aws
def show(name: str, as_json: bool, aws: bool) -> None:
    """Show the nova that NAME means, or all that it may mean."""
    from sourcebook.catalog.read import NovaReader

    reader = NovaReader(Stack.connect(aws=aws).table)
    found = reader.by_name(name)
    novae = [reader.get(item["nova_id"]) or item for item in found["items"]]
    if not novae:
        if as_json:
            say_json({**found, "items": []})
        expected = "a name of a nova of the catalogue, or one for `sourcebook nova initialize`"
        raise unknown("NAME", name, _known_names(reader.table), expected)
    if as_json:
        say_json({**found, "items": novae})
        return
    for item in novae:
        names = ", ".join(entry["name"] for entry in item.get("names", ()))
        say(f"{item['primary_name']}  {item['nova_id']}  discovered {item['discovery_date'] or 'unknown'}")
        say(f"  ra {item['ra_deg']} dec {item['dec_deg']} ({item['coord_frame']})")
        say(f"  {names}")


def _known_names(table: Table) -> Iterator[str]:
    """Yield names of novae, from the first pages of the table: enough for a hint."""
    page = table.scan()
    for _ in range(_PAGES_FOR_A_HINT):
        for item in page.items:
            if item.get("entity_type") == "NameMapping" and item["SK"].startswith(NOVA_NAME_PREFIX):
                yield item["name_raw"]
        if page.next_key is None:
            return
        page = table.scan(start=page.next_key)


def start(stack: Stack, output: str, payload: Mapping[str, Any]) -> str:
    """Start a workflow by the name of its stack output; return the execution's ARN."""
    client = stack.session.client("stepfunctions")
    answer = client.start_execution(
        stateMachineArn=stack.outputs[output], name=f"cli-{uuid.uuid4()}", input=json.dumps(payload)
    )
    return answer["executionArn"]


def ended(stack: Stack, arn: str, timeout: float) -> dict[str, Any]:
    """Wait for the end of an execution and return its output.

    Raises:
        WorkflowFailed: if it fails, or does not end within `timeout` seconds.
    """
    client = stack.session.client("stepfunctions")
    deadline = time.monotonic() + timeout
    while (execution := client.describe_execution(executionArn=arn))["status"] == "RUNNING":
        if time.monotonic() > deadline:
            raise WorkflowFailed(
                f"{arn} still runs after {timeout:g} s: look again with `sourcebook runs list`"
            )
        time.sleep(_LOOK_EVERY)
    if execution["status"] != "SUCCEEDED":
        raise WorkflowFailed(
            f"{execution['status']}: {execution.get('error', '')}: {execution.get('cause', '')} "
            "`sourcebook runs list --status FAILED` has the run with its attempts."
        )
    output: dict[str, Any] = json.loads(execution["output"])
    return output
