"""Sources of figures: `observations parse` shows what a saved page yields, `observations remove` ends one."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sourcebook.clock import utc_now
from sourcebook.errors import InvalidInput, shorten
from sourcebook_cli.declarations import read_sources
from sourcebook_cli.output import say, say_error, say_json, show_table
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from sourcebook.observations.model import ParsedDocument
    from sourcebook.sources.model import SourceSpec


@click.group()
def observations() -> None:
    """Dated figures such as interest rates: try a declaration on a saved page, remove a source."""


@observations.command()
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("page", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--source-id", help="Which source of SOURCE, if it declares several.")
@click.option("--charset", help="What the server says of the encoding, if it says something.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with rows and dropped.")
def parse(source: Path, page: Path, source_id: str | None, charset: str | None, as_json: bool) -> None:
    """Show what the saved page PAGE yields with the declaration in SOURCE (YAML). Needs no stack."""
    from sourcebook.observations.adapters import parse_document
    from sourcebook.observations.adapters.document import BadDocument

    spec = _chosen(source, source_id, page)
    try:
        parsed = parse_document(spec, page.read_bytes(), charset=charset, now=utc_now())
    except BadDocument as error:
        if as_json:
            _print(spec, {"rows": [], "dropped": [], "cause": error.cause.value, "message": str(error)})
        else:
            say_error(f"{page.name}: {error}")
        sys.exit(1)
    if as_json:
        _print(
            spec,
            {
                "rows": [row.shown() for row in parsed.rows],
                "dropped": [asdict(dropped) for dropped in parsed.dropped],
                "headings_not_taken": [asdict(heading) for heading in parsed.headings_not_taken],
                "notes": parsed.notes,
            },
        )
    else:
        _show(parsed)


@observations.command()
@click.argument("source_id")
@on_aws
def remove(source_id: str, aws: bool) -> None:
    """Remove a source of figures. What it brought stays in the raw layer and counts no more."""
    from sourcebook.observations.registry import ObservationSources
    from sourcebook_cli.canonical import run_rebuild

    stack = Stack.connect(aws=aws)
    if not ObservationSources(stack.registry).remove(source_id):
        raise InvalidInput(
            "source_id", source_id, "a registered source of figures; `sourcebook sources list` has them"
        )
    counts = run_rebuild(stack, [source_id])
    say(f"{source_id} removed; {counts['changed']} of {counts['examined']} newest figures changed.")


def _chosen(file: Path, source_id: str | None, page: Path) -> SourceSpec:
    """Return the source that is meant: the one named, the only one, or the one whose URL ends as the page."""
    specs = read_sources(file)
    if source_id is not None:
        chosen = [spec for spec in specs if spec.source_id == source_id]
    elif len(specs) == 1:
        chosen = specs
    else:
        chosen = [spec for spec in specs if spec.url.rsplit("/", 1)[-1] == page.name]
    if len(chosen) != 1:
        known = ", ".join(spec.source_id for spec in specs)
        raise InvalidInput("--source-id", source_id, f"one of {known}")
    return chosen[0]


def _print(spec: SourceSpec, content: dict[str, Any]) -> None:
    about = {"source_id": spec.source_id, "kind": spec.kind}
    say_json(about | content, indent=2)


def _show(parsed: ParsedDocument) -> None:
    numbers = ("term_months", "rate_min_pct", "rate_max_pct", "rate_pct")
    show_table(
        ("bank", "series", "months", "min %", "max %", "%", "raw value", "warnings"),
        [
            (
                row["bank"],
                row["series"],
                *("" if row[name] is None else str(row[name]) for name in numbers),
                row["raw_value"],
                ", ".join(row["parse_warnings"]),
            )
            for row in (row.shown() for row in parsed.rows)
        ],
        whole=("series", "months", "min %", "max %", "%"),
    )
    for note in parsed.notes:
        say(f"Note: {note}")
    counts = (f"{len(parsed.rows)} rows", f"{len(parsed.dropped)} dropped")
    say(", ".join((*counts, f"{len(parsed.headings_not_taken)} headings not taken")))
    for dropped in parsed.dropped:
        where = f"row {dropped.row}" if dropped.row else "heading"
        say(f"  {where}: {dropped.reason}: {dropped.detail}")
    for heading in parsed.headings_not_taken:
        if not heading.reason:
            say(f"  heading of column {heading.column}, {shorten(heading.heading)}: {heading.detail}")
