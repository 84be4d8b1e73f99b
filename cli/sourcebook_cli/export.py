"""`export`: writes whole days of records into the bucket."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sourcebook_cli.output import say
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from sourcebook.exports.period import Period

_DAY = click.DateTime(formats=["%Y-%m-%d"])
_LARGEST = 2_000_000_000


@click.command()
@click.argument("since", type=_DAY)
@click.argument("until", type=_DAY)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Bring the files into this folder too, each as it lies in the bucket.",
)
@click.option("--no-wait", is_flag=True, help="Start it and return.")
@on_aws
def export(since: datetime, until: datetime, folder: Path | None, no_wait: bool, aws: bool) -> None:
    """Write the articles and figures of the days from SINCE to before UNTIL into the bucket.

    A file for each day as Parquet and as NDJSON, and a manifest of them. Doing it again replaces them.
    """
    from sourcebook.exports.period import Period
    from sourcebook_cli.executions import outcome, start

    period = Period.of(since.date().isoformat(), until.date().isoformat())
    stack = Stack.connect(aws=aws)
    given = {"since": period.since.isoformat(), "until": period.until.isoformat()}
    execution = start(stack, "ExportPeriodArn", given)
    if no_wait:
        say(f"Started: {execution}")
        return
    result = outcome(stack, execution, _progress)
    _print(stack, period, result)
    if folder is not None:
        _bring(stack, period, folder)


def _progress(answer: Mapping[str, Any]) -> None:
    if "pieces" in answer:
        say(f"{answer['next']:>5} of {answer['pieces']} pieces, {answer['rows']:>9} records", err=True)


def _print(stack: Stack, period: Period, result: Mapping[str, Any]) -> None:
    from sourcebook.exports.manifest import PREFIX, manifest_key

    bucket = stack.outputs["BucketName"]
    say(f"{result['rows']} records of {period.name.replace('_', ' to before ')}.")
    if result["kept"]:
        say(f"{result['kept']} files were left as they are: articles of their days have expired since.")
    say(f"Manifest: s3://{bucket}/{manifest_key(period)}")
    say(f"Read it:  duckdb -c \"FROM 's3://{bucket}/{PREFIX}parquet/articles/*/*.parquet'\"")


def _bring(stack: Stack, period: Period, folder: Path) -> None:
    from sourcebook.exports.manifest import LARGEST, manifest_key

    manifest = stack.objects.read(manifest_key(period), LARGEST).body
    keys = [manifest_key(period), *(str(file["key"]) for file in json.loads(manifest)["files"])]
    for key in keys:
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stack.objects.read(key, _LARGEST).body)
    say(f"{len(keys)} files are below {folder / 'exports'}.")
