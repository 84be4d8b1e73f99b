"""Watches a first run: sources are fetched, their articles stored and analyzed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sourcebook.errors import Terminal
from sourcebook.records.source import Source
from sourcebook.sources.read import FeedReader
from sourcebook_cli.output import progress, show_table
from sourcebook_cli.stack import Stack, StackCounts, count

_LOOK_EVERY = 0.7


class NotFinished(Terminal):
    """The sources were not fetched and analyzed in time."""


@dataclass(frozen=True, slots=True)
class WatchedSources:
    """The watched sources, with the number of fetches of each at the beginning."""

    fetches_before: Mapping[str, int]


def watch(stack: Stack, watched: WatchedSources, timeout: float) -> StackCounts:
    """Show progress until every source was fetched once more and no article waits for analysis.

    Raises:
        NotFinished: if that takes longer than `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    registry = stack.registry
    with progress() as shown:
        fetching = shown.add_task("sources fetched", total=len(watched.fetches_before))
        analyzing = shown.add_task("articles analyzed", total=None)
        while True:
            sources = registry.get_many(watched.fetches_before)
            fetched = sum(s.fetch_count > watched.fetches_before[s.source_id] for s in sources.values())
            counts = count(stack.table, sources.values(), fetched, by_scan=True)
            shown.update(fetching, completed=fetched)
            shown.update(analyzing, completed=counts.analyzed, total=counts.articles or None)
            if fetched == counts.sources and counts.pending == 0:
                break
            if time.monotonic() > deadline:
                raise NotFinished(_what_is_missing(counts, timeout))
            time.sleep(_LOOK_EVERY)
    _show_failures(list(sources.values()))
    _show_refused(FeedReader(stack.table), watched.fetches_before)
    return counts


def _what_is_missing(counts: StackCounts, timeout: float) -> str:
    return (
        f"after {timeout:.0f} s, {counts.fetched} of {counts.sources} sources were fetched and "
        f"{counts.pending} articles still wait for analysis. The stack goes on working: look with "
        "`sourcebook status`, or read the file named under `log` in .sourcebook/local.json"
    )


def _show_failures(sources: list[Source]) -> None:
    failing = [source for source in sources if source.consecutive_errors or not source.enabled]
    if not failing:
        return
    show_table(
        ("source", "cause", "reason"),
        [(source.source_id, source.last_cause, source.last_error) for source in failing],
        whole=("source", "cause"),
        title=f"{len(failing)} sources failed",
    )


def _show_refused(reader: FeedReader, source_ids: Iterable[str]) -> None:
    """Show what the newest fetch of each feed has refused, with the reasons that are kept."""
    newest = {source_id: reader.history(source_id, limit=1) for source_id in sorted(source_ids)}
    refused = [
        (source_id, str(fetch["rejected"]), "; ".join(fetch["rejections"]))
        for source_id, page in newest.items()
        for fetch in (page.items if page else ())
        if fetch["rejected"]
    ]
    if refused:
        show_table(
            ("source", "entries", "reasons"),
            refused,
            whole=("source", "entries"),
            title="Entries were refused",
        )
