"""Novae: `nova normalize` without a stack; making, finding, listing and showing them with one."""

from __future__ import annotations

import json
import re
import time
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from sourcebook.errors import InvalidInput, Terminal
from sourcebook.novae.names import normalize_name
from sourcebook.schema import UUID
from sourcebook.table.keys import NOVA_NAME_PREFIX
from sourcebook_cli.output import say, say_json, show_table
from sourcebook_cli.stack import Stack, on_aws
from sourcebook_cli.suggestions import unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from sourcebook.table.client import Table

_LOOK_EVERY = 0.3
_REASON = click.option("--reason", required=True, help="Why; kept with the nova.")
_TIMEOUT = click.option("--timeout", default=900, show_default=True, help="Seconds to wait.")
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
    """Print the normalized form of each of NAMES. Needs no stack."""
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
    """Add NAME to the catalogue as a nova, or find the nova of this name."""
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


@nova.command("list")
@click.option("--constellation", help="Its abbreviation, nominative or genitive: Sco, Scorpius, Scorpii.")
@click.option("--year", type=click.IntRange(1, 9999), help="Of the discovery.")
@click.option("--since", metavar="DAY", type=click.DateTime(["%Y-%m-%d"]), help="Discovered on DAY or later.")
@click.option("--prefix", help="What the primary name begins with, in any case.")
@click.option("--spectra/--no-spectra", default=None, help="With a valid spectrum, or without one.")
@click.option("--photometry/--no-photometry", default=None, help="With measurements, or without any.")
@click.option(
    "--status",
    type=click.Choice(("ACTIVE", "MERGED", "DEPRECATED", "ANY"), case_sensitive=False),
    default="ACTIVE",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True)
@on_aws
def list_novae(
    *,
    constellation: str | None,
    year: int | None,
    since: datetime | None,
    prefix: str | None,
    spectra: bool | None,
    photometry: bool | None,
    status: str,
    as_json: bool,
    aws: bool,
) -> None:
    """List the novae of the catalogue by their primary names."""
    from sourcebook.novae.listing import NovaList, Wanted
    from sourcebook.table.pages import all_items

    wanted = Wanted(
        status=None if status.upper() == "ANY" else status.upper(),
        year=year,
        constellation=constellation,
        prefix=prefix,
        since=None if since is None else since.date().isoformat(),
        spectra=spectra,
        photometry=photometry,
    )
    found = NovaList(Stack.connect(aws=aws).table)
    _show_novae(list(all_items(partial(found.page, wanted, limit=100))), as_json=as_json)


@nova.command()
@click.argument("name", required=False)
@click.option("--ra", type=float, help="Right ascension, ICRS, in degrees.")
@click.option("--dec", type=float, help="Declination, ICRS, in degrees.")
@click.option("--radius", type=float, default=10.0, show_default=True, help="Arcseconds around the place.")
@click.option("--json", "as_json", is_flag=True)
@on_aws
def find(
    name: str | None, ra: float | None, dec: float | None, radius: float, *, as_json: bool, aws: bool
) -> None:
    """Find novae by NAME, in any spelling and of any survey, or around a place on the sky."""
    from sourcebook.novae.coordinates import Position
    from sourcebook.novae.read import NovaReader

    if name is not None and ra is None and dec is None:
        found = NovaReader(Stack.connect(aws=aws).table).by_name(name)
    elif name is None and ra is not None and dec is not None:
        found = NovaReader(Stack.connect(aws=aws).table).near(Position(ra, dec), radius / 3600)
    else:
        raise InvalidInput("NAME", name, "either NAME, or --ra and --dec")
    _show_novae(found["items"], as_json=as_json)


def _show_novae(novae: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    if as_json:
        say_json(list(novae))
        return
    columns = ["name", "nova_id", "discovered", "constellation", "ra", "dec", "arcsec", "status"]
    if not any("separation_arcsec" in item for item in novae):
        columns.remove("arcsec")
    if all(item["status"] == "ACTIVE" for item in novae):
        columns.remove("status")
    rows = [
        {
            "name": item["primary_name"],
            "nova_id": item["nova_id"],
            "discovered": item["discovery_date"],
            "constellation": item["constellation"],
            "ra": None if item["ra_deg"] is None else f"{item['ra_deg']:.5f}",
            "dec": None if item["dec_deg"] is None else f"{item['dec_deg']:+.5f}",
            "arcsec": f"{item['separation_arcsec']:.1f}" if "separation_arcsec" in item else None,
            "status": item["status"],
        }
        for item in novae
    ]
    cells = [[row[column] for column in columns] for row in rows]
    show_table(columns, cells, whole=("name", "nova_id", "discovered", "ra", "dec"))
    say(f"{len(novae)} novae" if len(novae) != 1 else "1 nova")


@nova.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True)
@on_aws
def show(name: str, as_json: bool, aws: bool) -> None:
    """Show the nova with NAME, or all candidates if it is ambiguous."""
    from sourcebook.novae.read import NovaReader

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


@nova.command()
@click.argument("name")
@click.option("--role", type=click.Choice(("DISCOVERY", "SPECTRA_SOURCE", "PHOTOMETRY_SOURCE", "OTHER")))
@click.option("--json", "as_json", is_flag=True)
@on_aws
def references(name: str, role: str | None, *, as_json: bool, aws: bool) -> None:
    """List the publications about NAME (a name or an id), newest first."""
    from sourcebook.novae.read import NovaReader
    from sourcebook.novae.reference_read import ReferenceReader
    from sourcebook.table.pages import all_items

    table = Stack.connect(aws=aws).table
    nova_id = own_id(table, name)
    nova_id = NovaReader(table).leads_to(nova_id) or nova_id
    found = list(all_items(partial(ReferenceReader(table).page, nova_id, role=role, limit=100)))
    if as_json:
        say_json(found)
        return
    rows = [
        [
            one["bibcode"] or one["reference_id"],
            one["role"],
            one["published_at"],
            "; ".join(one["authors"][:3]) + (" and others" if (one["author_count"] or 0) > 3 else ""),
            one["title"],
        ]
        for one in found
    ]
    show_table(["bibcode", "role", "published", "authors", "title"], rows, whole=("bibcode", "published"))


@nova.command()
@click.argument("name")
@click.argument("into")
@_REASON
@_TIMEOUT
@click.option("--json", "as_json", is_flag=True)
@on_aws
def merge(name: str, into: str, *, reason: str, timeout: int, as_json: bool, aws: bool) -> None:
    """Merge the nova NAME, with all its items, into the nova INTO. `nova split` undoes it.

    Both are names or ids. Asked again, it goes on with a merge that was cut short.
    """
    _curate("MERGE", name, reason, timeout, into=into, as_json=as_json, aws=aws)


@nova.command()
@click.argument("name")
@_REASON
@_TIMEOUT
@click.option("--json", "as_json", is_flag=True)
@on_aws
def split(name: str, *, reason: str, timeout: int, as_json: bool, aws: bool) -> None:
    """Split the nova NAME (its id, or a name that only it has) off the one that it was merged into."""
    _curate("SPLIT", name, reason, timeout, as_json=as_json, aws=aws)


@nova.command()
@click.argument("name")
@_REASON
@_TIMEOUT
@click.option("--json", "as_json", is_flag=True)
@on_aws
def deprecate(name: str, *, reason: str, timeout: int, as_json: bool, aws: bool) -> None:
    """Deprecate NAME (a name or an id) as no nova: searches skip it, and its items stay."""
    _curate("DEPRECATE", name, reason, timeout, as_json=as_json, aws=aws)


@nova.command()
@click.argument("name")
@_REASON
@_TIMEOUT
@click.option("--json", "as_json", is_flag=True)
@on_aws
def restore(name: str, *, reason: str, timeout: int, as_json: bool, aws: bool) -> None:
    """Restore a deprecated nova (NAME, or its id)."""
    _curate("RESTORE", name, reason, timeout, as_json=as_json, aws=aws)


def _curate(
    action: str, name: str, reason: str, timeout: int, *, into: str | None = None, as_json: bool, aws: bool
) -> None:
    from sourcebook_cli.runs import find_run, print_run

    stack = Stack.connect(aws=aws)
    payload = {
        "action": action,
        "nova_id": own_id(stack.table, name),
        "reason": reason,
        **({} if into is None else {"into": own_id(stack.table, into)}),
    }
    arn = start(stack, "CurateNovaArn", payload)
    run = find_run(stack, ended(stack, arn, timeout)["job_run_id"])
    if as_json:
        say_json(run)
    else:
        print_run(run)


def own_id(table: Table, name: str) -> str:
    """Return the id of the one nova that has a name itself, merged and deprecated ones too.

    Args:
        table: where the names are.
        name: a name, or the id itself.

    Raises:
        InvalidInput: if it is none's, or several's.
    """
    from boto3.dynamodb.conditions import Key

    from sourcebook.table import keys

    if re.fullmatch(UUID, name):
        return name
    rows = list(table.query_all(Key("PK").eq(keys.nova_names(normalize_name(name)))))
    novae = [item for row in rows if (item := table.get(keys.nova(row["nova_id"]))) is not None]
    if len(novae) > 1:
        # Of a name that came by a merge the one that it came from says more.
        novae = [item for item in novae if item["primary_name_normalized"] == normalize_name(name)] or novae
    if len(novae) != 1:
        known = ", ".join(f"{item['primary_name']} ({item['nova_id']})" for item in novae) or "none is known"
        raise InvalidInput("NAME", name, f"the name or id of one nova; {known}")
    return str(novae[0]["nova_id"])


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
