"""Feeds without a stack: `feeds parse` shows what a feed file holds."""

from __future__ import annotations

import json
from pathlib import Path

import click

from sourcebook.feeds.model import NotAFeed
from sourcebook.feeds.parse import describe, parse_feed


@click.group()
def feeds() -> None:
    """What feeds hold."""


@feeds.command()
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--json", "as_json", is_flag=True, help="Everything, as a JSON list.")
def parse(files: tuple[Path, ...], as_json: bool) -> None:
    """Parse feed FILES and print what they hold."""
    found = []
    for file in files:
        try:
            found.append(describe(parse_feed(file.read_bytes(), url=""), file))
        except NotAFeed as error:
            found.append(describe(error, file))
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    for described in found:
        outcome = described["cause"] or f"{len(described['entries'])} entries"
        click.echo(f"{described['file']}: {outcome} ({described['parser'] or described['warnings'][0]})")
        for entry in described["entries"]:
            click.echo(f"  {entry['title']}  {entry['link']}")
