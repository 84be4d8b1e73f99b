"""Watching sources being fetched, stored and analyzed, as a person sees it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as TextTable

from sourcebook.errors import Terminal
from sourcebook.sources.model import Source
from sourcebook_cli.stack import Counts, Stack, count

_LOOK_EVERY = 0.7


class NotFinished(Terminal):
    """The sources were not fetched and analyzed in time."""


@dataclass(frozen=True, slots=True)
class Watched:
    """Sources being watched, with the number of fetches that each had before."""

    fetches_before: Mapping[str, int]


def watch(stack: Stack, watched: Watched, console: Console, timeout: float) -> Counts:
    """Show progress until every source was fetched once more and no article waits for analysis.

    Raises:
        NotFinished: if that takes longer than `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    registry = stack.registry
    with Progress(
        TextColumn("{task.description:<18}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    ) as progress:
        fetching = progress.add_task("sources fetched", total=len(watched.fetches_before))
        analyzing = progress.add_task("articles analyzed", total=None)
        while True:
            sources = registry.get_many(watched.fetches_before)
            fetched = sum(s.fetch_count > watched.fetches_before[s.source_id] for s in sources.values())
            counts = count(stack.table, sources.values(), fetched)
            progress.update(fetching, completed=fetched)
            progress.update(analyzing, completed=counts.analyzed, total=counts.articles or None)
            if fetched == counts.sources and counts.pending == 0:
                break
            if time.monotonic() > deadline:
                raise NotFinished(_what_is_missing(counts, timeout))
            time.sleep(_LOOK_EVERY)
    _show_failures(list(sources.values()), console)
    return counts


def _what_is_missing(counts: Counts, timeout: float) -> str:
    return (
        f"after {timeout:.0f} s, {counts.fetched} of {counts.sources} sources were fetched and "
        f"{counts.pending} articles still wait for analysis. The stack goes on working: look with "
        "`sourcebook status`, or read the file named under `log` in .sourcebook/local.json"
    )


def _show_failures(sources: list[Source], console: Console) -> None:
    failing = [source for source in sources if source.consecutive_errors or not source.enabled]
    if not failing:
        return
    table = TextTable(
        "source", "cause", "reason", title=f"{len(failing)} sources failed", title_justify="left"
    )
    for source in failing:
        table.add_row(source.source_id, source.last_cause, (source.last_error or "")[:100])
    console.print(table)
