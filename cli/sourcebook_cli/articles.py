"""Articles without a stack: `articles key` tells why two headlines do, or do not, become one article."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import click

from sourcebook.articles.normalize import identify


@click.group()
def articles() -> None:
    """What decides which articles are one."""


@articles.command()
@click.argument("headline")
@click.option("--date", required=True, type=click.DateTime(["%Y-%m-%d"]), help="Publication date in UTC.")
@click.option("--publisher", multiple=True, help="Name under which the publisher stands in its headlines.")
@click.option("--json", "as_json", is_flag=True)
def key(headline: str, date: datetime, publisher: tuple[str, ...], as_json: bool) -> None:
    """Print the normalized form of a HEADLINE, its dedup key and its signature."""
    identity = identify(headline, date.replace(hour=12, tzinfo=UTC), publisher)
    found = {
        "normalized_headline": identity.normalized,
        "dedup_key": identity.dedup_key,
        "signature": identity.signature,
    }
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
    else:
        for name, value in found.items():
            click.echo(f"{name:<20} {value}")
