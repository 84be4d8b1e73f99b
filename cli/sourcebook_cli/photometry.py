"""Photometry: `photometry check` reads uploads without a stack, `photometry ingest` ingests them."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from sourcebook.errors import InvalidInput, SourcebookError
from sourcebook.schema import UUID
from sourcebook_cli.nova import ended
from sourcebook_cli.output import Styled, say, say_json
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourcebook.lightcurves.model import Measurement
    from sourcebook.novae.store import NovaStore

_UUID: Final = re.compile(UUID)
_FILES: Final = click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
_PROBLEMS_SHOWN: Final = 20


@click.group()
def photometry() -> None:
    """Photometry: uploads of measurements, and the table of a nova."""


@photometry.command()
@_FILES
@click.option("--name", "names", multiple=True, help="A name of the nova; rows of other stars are refused.")
@click.option("--json", "as_json", is_flag=True, help="A list with a report for each file.")
@click.option("--rows", "with_rows", is_flag=True, help="JSON with every row that was read, as rows_read.")
def check(files: tuple[Path, ...], names: tuple[str, ...], *, as_json: bool, with_rows: bool) -> None:
    """Read FILES as the workflow does, and print what is wrong with each row. Needs no stack."""
    from sourcebook.clock import utc_now
    from sourcebook.lightcurves.parse import parse_upload

    is_nova = _recognizer(names)
    reports = []
    for file in files:
        try:
            parsed = parse_upload(file.read_bytes(), is_nova=is_nova, now=utc_now())
        except InvalidInput as error:
            report: dict[str, Any] = {"error": str(error), "accepted": 0, "rejected": 0, "errors": []}
            rows: list[dict[str, Any]] = []
        else:
            report = parsed.report()
            rows = [_row(one) for one in sorted(parsed.measurements, key=lambda one: one.row)]
        reports.append({"file": str(file), **report} | ({"rows_read": rows} if with_rows else {}))
    if as_json or with_rows:
        say_json(reports)
    else:
        for report in reports:
            _print(report, [error["message"] for error in report["errors"]])
    if any("error" in report or report["rejected"] for report in reports):
        raise SystemExit(1)


@photometry.command()
@click.argument("nova")
@_FILES
@click.option("--wait/--no-wait", default=True, help="Wait for the ingestion and show what came of it.")
@click.option("--timeout", default=300, show_default=True, help="Seconds to wait for each file.")
@click.option("--json", "as_json", is_flag=True)
@on_aws
def ingest(nova: str, files: tuple[Path, ...], *, wait: bool, timeout: int, as_json: bool, aws: bool) -> None:
    """Add the measurements in FILES to the table of NOVA (a name or an id).

    CSV, AAVSO's Extended and Visual formats, and VOTables, each recognized by itself. What the table has
    already is not added again.
    """
    results = hand_in(Stack.connect(aws=aws), nova, files, timeout=timeout if wait else None)
    if as_json:
        say_json(results)
    else:
        for result in results:
            _print(result, result.get("problems", []))
    if any("error" in result for result in results):
        raise SystemExit(1)


@photometry.command()
@click.argument("nova")
@click.option("--without", multiple=True, metavar="FILE_ID", help="An upload that should not be there.")
@on_aws
def rebuild(nova: str, *, without: tuple[str, ...], aws: bool) -> None:
    """Rebuild the table of NOVA (a name or an id) from its uploads, or from all but some."""
    from sourcebook.bucket.objects import Objects
    from sourcebook.novae.store import NovaStore
    from sourcebook.photometry.table import TableRebuilder
    from sourcebook.table.client import aws_config

    stack = Stack.connect(aws=aws)
    store = NovaStore(stack.table)
    objects = Objects(stack.session.client("s3", config=aws_config()), stack.outputs["BucketName"])
    remade = TableRebuilder(store, objects).remake(_nova_id(store, nova), without=without)
    say(f"{len(remade.measurements)} measurements of {len(remade.uploads)} uploads")


def hand_in(stack: Stack, nova: str, files: Sequence[Path], *, timeout: float | None) -> list[dict[str, Any]]:
    """Upload files and start their ingestion.

    Args:
        stack: where.
        nova: a name or an id.
        files: the uploads.
        timeout: seconds to wait for each; None to wait for none.

    Returns:
        What became of each file: its ``execution_arn``, and the outcome with its figures or an ``error``.
    """
    from sourcebook.photometry.upload import upload_key

    whose = {"nova_id": nova} if _UUID.fullmatch(nova) else {"name": nova}
    results: list[dict[str, Any]] = []
    for file in files:
        result: dict[str, Any] = {"file": str(file)}
        results.append(result)
        try:
            body = file.read_bytes()
            key = upload_key(file.name, hashlib.sha256(body).hexdigest())
            stack.session.client("s3").put_object(Bucket=stack.outputs["BucketName"], Key=key, Body=body)
        except OSError as error:
            result["error"] = f"{file}: {error.strerror}"
            continue
        started = stack.session.client("stepfunctions").start_execution(
            stateMachineArn=stack.outputs["IngestPhotometryArn"],
            name=f"cli-{uuid.uuid4()}",
            input=json.dumps({**whose, "s3_key": key}),
        )
        result |= {"s3_key": key, "execution_arn": started["executionArn"]}
    for result in results:
        if timeout is not None and "execution_arn" in result:
            try:
                result.update(ended(stack, result["execution_arn"], timeout))
            except SourcebookError as error:
                # One file that cannot be taken does not lose the others.
                result["error"] = str(error)
    return results


def _row(one: Measurement) -> dict[str, Any]:
    """Return a measurement as `check --rows` shows it: with a magnitude, or with a limit."""
    with_flux = one.magnitude is None
    return {
        "row": one.row,
        "mjd": one.mjd,
        "time_system": one.time_system,
        "time_scale": one.time_scale,
        "band": one.band,
        "magnitude": None if one.upper_limit else one.magnitude,
        "limit": (one.flux if with_flux else one.magnitude) if one.upper_limit else None,
        "error": one.flux_error if with_flux else one.magnitude_error,
        "is_upper_limit": one.upper_limit,
        "flux": one.flux,
        "flux_error": one.flux_error,
        "flux_unit": one.flux_unit,
        "observer": one.observer,
    }


def _nova_id(store: NovaStore, name: str) -> str:
    from sourcebook.novae.names import normalize_name

    if _UUID.fullmatch(name):
        return store.active(name).nova_id
    found = store.find(normalize_name(name))
    if len(found) != 1:
        known = ", ".join(f"{nova.primary_name} ({nova.nova_id})" for nova in found) or "none is known"
        raise InvalidInput("NOVA", name, f"the name or id of one nova; {known}")
    return found[0].nova_id


def _recognizer(names: Sequence[str]) -> Callable[[str], bool]:
    from sourcebook.novae.names import normalize_name

    if not names:
        return lambda _name: True
    known = {normalize_name(name) for name in names}

    def is_nova(name: str) -> bool:
        try:
            return normalize_name(name) in known
        except InvalidInput:
            return False

    return is_nova


def _print(report: dict[str, Any], problems: Sequence[str]) -> None:
    if "error" in report:
        say(Styled(f"{report['file']}: {report['error']}", "red"))
        return
    words = [str(report.get("outcome", "")), str(report.get("format", ""))]
    figures = ("accepted", "rejected", "duplicates", "added", "table_rows")
    words += [f"{report[name]} {name.replace('_', ' ')}" for name in figures if name in report]
    if "outcome" not in report and "execution_arn" in report:
        words.append(report["execution_arn"])
    say(f"{report['file']}: {', '.join(word for word in words if word)}")
    for problem in problems[:_PROBLEMS_SHOWN]:
        say(f"  {problem}")
    left_out = report.get("rejected", 0) - min(len(problems), _PROBLEMS_SHOWN)
    if left_out > 0:
        where = f"; all are in s3 {report['report_key']}" if "report_key" in report else "; --json has all"
        say(f"  and {left_out} more{where}")
    for note in report.get("notes", ()):
        say(f"  note: {note}")
