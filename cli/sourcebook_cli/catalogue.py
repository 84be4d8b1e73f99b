"""The catalogue as a whole: `catalogue release` writes a dated set of files that a paper can cite."""

from __future__ import annotations

import re
from pathlib import Path

import click

from sourcebook.errors import InvalidInput
from sourcebook_cli.output import say, say_json
from sourcebook_cli.stack import Stack, on_aws


@click.group()
def catalogue() -> None:
    """The catalogue of novae as a whole."""


@catalogue.command()
@click.option("--name", default="", help="What it is called; the day in UTC without this.")
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder that gets the files too.",
)
@click.option("--json", "as_json", is_flag=True)
@on_aws
def release(*, name: str, folder: Path | None, as_json: bool, aws: bool) -> None:
    """Write all novae, spectra, measurements and publications to the bucket, below releases/.

    VOTable, ECSV and Parquet of each table, BibTeX of the publications, a README with counts, and SHA256SUMS.
    A release is never changed.
    """
    from sourcebook.bucket.objects import Objects
    from sourcebook.releases.release import Releaser
    from sourcebook.table.client import aws_config

    if name and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}", name, re.ASCII):
        raise InvalidInput("--name", name, "letters, digits, dots and dashes, at most 60")
    stack = Stack.connect(aws=aws)
    objects = Objects(stack.session.client("s3", config=aws_config()), stack.outputs["BucketName"])
    made = Releaser(stack.table, objects).release(name)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for file, body in made.files.items():
            (folder / file).write_bytes(body)
    if as_json:
        sizes = {file: len(body) for file, body in made.files.items()}
        say_json({"name": made.name, "prefix": made.prefix, "counts": made.counts, "files": sizes})
        return
    counts = ", ".join(f"{count} {table}" for table, count in made.counts.items())
    say(f"release {made.name}: {counts}")
    say(f"s3 {stack.outputs['BucketName']}/{made.prefix}: {len(made.files)} files")
