"""Sources: `sources add`, `sources list`, `sources fetch`, and `status`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sourcebook.articles.adapters.options import check_options
from sourcebook.http.guard import check_address
from sourcebook.observations.registry import ObservationSources
from sourcebook_cli.canonical import run_rebuild
from sourcebook_cli.declarations import read_sources
from sourcebook_cli.output import say, say_error, say_json, show_table
from sourcebook_cli.stack import Stack, count, on_aws
from sourcebook_cli.suggestions import unknown


@click.group()
def sources() -> None:
    """Sources of articles and observations: add, list, fetch now."""


@sources.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@on_aws
def add(file: Path, aws: bool) -> None:
    """Register the sources of an OPML or YAML file, or bring known ones up to date."""
    stack = Stack.connect(aws=aws)
    specs = [check_options(spec) for spec in read_sources(file)]
    for spec in specs:
        check_address(spec.url, stack.http_policy)
    registry = ObservationSources(stack.registry)
    declared = {spec.source_id: registry.declare(spec) for spec in specs}
    new = sum(one.new for one in declared.values())
    say(f"{new} sources added, {len(specs) - new} known. They are fetched within a minute.")
    if moved := [source_id for source_id, one in declared.items() if one.rebuild]:
        counts = run_rebuild(stack, moved)
        say(f"Priorities changed: {counts['changed']} of {counts['examined']} newest figures rebuilt.")


@sources.command("list")
@on_aws
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_sources(aws: bool, as_json: bool) -> None:
    """List every source with its health and its next fetch."""
    registry = Stack.connect(aws=aws).registry
    found = registry.get_many(registry.list_ids())
    shown = sorted(found.values(), key=lambda source: source.source_id)
    if as_json:
        for source in shown:
            say_json(source.shown_in_short())
        return
    show_table(
        ("source", "kind", "health", "next fetch", "entries", "cause"),
        [
            (
                source.source_id,
                source.kind,
                source.health.value,
                f"{source.next_fetch_time:%Y-%m-%d %H:%M:%S}",
                str(source.last_entries),
                source.last_cause,
            )
            for source in shown
        ],
        whole=("source", "kind", "health", "next fetch", "entries"),
    )


@sources.command()
@click.argument("source_ids", nargs=-1, required=True)
@on_aws
def fetch(source_ids: tuple[str, ...], aws: bool) -> None:
    """Fetch sources now."""
    stack = Stack.connect(aws=aws)
    known = stack.registry.get_many(source_ids)
    wanted = [source_id for source_id, source in known.items() if source.enabled]
    counts = stack.dispatch(wanted) if wanted else {"due": 0}
    say(f"{counts['due']} sources sent.")
    for source_id in dict.fromkeys(source_ids):
        if source_id not in known:
            ids = stack.registry.list_ids()
            say_error(
                unknown("SOURCE_ID", source_id, ids, "the id of a source; `sourcebook sources list` has them")
            )
        elif source_id not in wanted:
            say_error(f"{source_id} is disabled: `sourcebook sources list` says why it is not fetched")
    if counts["due"] < len(set(source_ids)):
        sys.exit(1)


@click.command()
@on_aws
def status(aws: bool) -> None:
    """Print the number of sources and articles by their status."""
    stack = Stack.connect(aws=aws)
    registry = stack.registry
    found = registry.get_many(registry.list_ids())
    counts = count(stack.table, found.values(), sum(s.last_success_at is not None for s in found.values()))
    say(f"{counts.sources} sources ({counts.fetched} fetched at least once, {counts.failing} failing)")
    say(
        f"{counts.articles} articles ({counts.analyzed} analyzed, {counts.pending} pending, "
        f"{counts.errors} in error), "
        f"{counts.merged} merges across sources"
    )
