"""`scrape`: fetches the pages of figures now, and exports the observations."""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sourcebook.errors import InvalidInput, Terminal
from sourcebook_cli.output import say, show_table
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourcebook.records.source import Source

_LOOK_EVERY = 0.5


@click.command()
@click.option("--all", "every", is_flag=True, help="Every enabled source of figures.")
@click.option("--source", "source_ids", multiple=True, help="Only this source; may be repeated.")
@click.option(
    "--export",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the figures to this .json, .csv or .parquet file.",
)
@click.option(
    "--raw-all-sources",
    is_flag=True,
    help="Export every source's observations of every day, instead of the one that counts.",
)
@click.option("--timeout", default=120, show_default=True, help="Seconds to wait until all were read.")
@on_aws
def scrape(
    *,
    every: bool,
    source_ids: tuple[str, ...],
    file: Path | None,
    raw_all_sources: bool,
    timeout: int,
    aws: bool,
) -> None:
    """Fetch the pages of figures now; with --export, write the observations into a file."""
    from sourcebook.observations.export import writer_for
    from sourcebook.observations.raw_read import RawReader
    from sourcebook.table.pages import all_items

    if every == bool(source_ids):
        raise InvalidInput("--all", every, "either --all or one or more --source ID")
    write = writer_for(file) if file is not None else None
    stack = Stack.connect(aws=aws)
    before = _wanted(stack, source_ids)
    stack.dispatch(before)
    after = _wait(stack, before, timeout)
    failed = _show(after)
    if write is not None and file is not None:
        reader = RawReader(stack.table)
        rows = all_items(partial(reader.figures, limit=1_000) if raw_all_sources else reader.latest)
        say(f"{write(file, rows)} rows written to {file}")
    if failed:
        sys.exit(1)


def _wanted(stack: Stack, source_ids: tuple[str, ...]) -> dict[str, Source]:
    from sourcebook.observations.kinds import KINDS

    registry = stack.registry
    known = registry.get_many(source_ids or registry.list_ids())
    found = {id_: s for id_, s in known.items() if s.kind in KINDS and s.enabled}
    if missing := sorted(set(source_ids) - set(found)):
        raise InvalidInput(
            "--source", missing[0], "an enabled source of figures; `sourcebook sources list` has them"
        )
    if not found:
        raise Terminal(
            "no source of figures is registered: declare one (docs/observations.md) and run "
            "`sourcebook sources add FILE`"
        )
    return found


def _wait(stack: Stack, before: Mapping[str, Source], timeout: int) -> dict[str, Source]:
    """Return the sources as they are when each was fetched once more.

    Raises:
        Terminal: if that takes longer than `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    while True:
        now = stack.registry.get_many(before)
        waiting = [
            id_ for id_, source in before.items() if id_ in now and now[id_].fetch_count <= source.fetch_count
        ]
        if not waiting:
            return now
        if time.monotonic() > deadline:
            raise Terminal(
                f"after {timeout} s {', '.join(sorted(waiting))} were not read yet; they still will be: "
                "look with `sourcebook sources list`"
            )
        time.sleep(_LOOK_EVERY)


def _show(sources: Mapping[str, Source]) -> bool:
    """Show how each source is; return whether one has failed."""
    show_table(
        ("source", "kind", "rows", "cause", "what is the matter"),
        [
            (source_id, source.kind, str(source.last_entries), source.last_cause, source.last_error)
            for source_id, source in sorted(sources.items())
        ],
        whole=("source", "kind", "rows"),
    )
    return any(source.consecutive_errors for source in sources.values())
