"""Speed of our feed parsing beside feedparser's in one interleaved run, and agreement with it per entry.

    python -m bench.parse_feeds CORPUS [--rounds N] [--json FILE]

CORPUS is a folder of feed files. In every round feedparser with its default options, then `parse_feed`
(reference, then fast) parse all files, so that a slow moment of the machine hits all. CPU seconds are of
this process; the best of the rounds counts for each file and parser. Two values of a field agree
when they are equal without markup, character references and white space (links and ids: with markup).
"""

from __future__ import annotations

import argparse
import calendar
import gc
import html
import io
import re
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import feedparser

from bench.figures import Figure, save
from sourcebook.feeds.model import NotAFeed, ParsedFeed
from sourcebook.feeds.parse import parse_feed

if TYPE_CHECKING:
    from collections.abc import Callable

Row = tuple[str | None, str | None, int | None, str | None, str | None]
FIELDS = ("link", "title", "time", "id", "summary")
NOT_FEEDS = frozenset(("index.json", "README.md"))
TARGETS = {"link": 99.5, "title": 99.0, "time": 99.5, "id": 99.5, "summary": 96.0}
"""Least agreement by field, in per cent of feedparser's entries."""

_TAG = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)


def rows_of_feedparser(parsed: Any) -> list[Row]:  # noqa: ANN401 - feedparser has no types
    """Return the compared fields of feedparser's entries."""
    rows: list[Row] = []
    for entry in parsed.entries:
        moment = entry.get("published_parsed") or dict.get(entry, "updated_parsed")
        seconds = calendar.timegm(moment) if moment else None
        rows.append((entry.get("link"), entry.get("title"), seconds, entry.get("id"), entry.get("summary")))
    return rows


def rows_of_ours(parsed: ParsedFeed) -> list[Row]:
    """Return the compared fields of our entries: the source's own words."""
    rows: list[Row] = []
    for entry in parsed.entries:
        moment = entry.published or entry.updated
        title = "" if entry.title_derived else entry.title
        rows.append((entry.link, title, int(moment.timestamp()) if moment else None, entry.id, entry.summary))
    return rows


def _plain(value: object, *, markup: bool) -> object:
    if value is None or value == "":
        return ""
    if isinstance(value, int):
        return value
    text = html.unescape(str(value))
    if markup:
        return " ".join(text.split())
    return re.sub(r"[\s\u00a0]+", "", html.unescape(_TAG.sub(" ", text)))


def _key(row: Row) -> str:
    return str(_plain(row[3], markup=True) or _plain(row[0], markup=True) or _plain(row[1], markup=True))


def agreement(reference: dict[str, list[Row]], ours: dict[str, list[Row]]) -> tuple[Counter[str], list[str]]:
    """Count agreeing entries by field ("entries": all of the reference's); name files whose counts differ."""
    counts: Counter[str] = Counter()
    differing = []
    for name, expected in reference.items():
        rows = ours.get(name, [])
        found: list[Row | None]
        if len(rows) == len(expected):
            found = list(rows)
        else:
            differing.append(f"{name}: feedparser {len(expected)}, ours {len(rows)}")
            by_key: dict[str, Row] = {}
            for row in rows:
                by_key.setdefault(_key(row), row)
            found = [by_key.get(_key(row)) for row in expected]
        for wanted, given in zip(expected, found, strict=True):
            counts["entries"] += 1
            if given is None:
                continue
            agrees = [
                _plain(wanted[at], markup=field in ("link", "id"))
                == _plain(given[at], markup=field in ("link", "id"))
                for at, field in enumerate(FIELDS)
            ]
            counts.update(field for field, agreed in zip(FIELDS, agrees, strict=True) if agreed)
            counts["all"] += all(agrees)
    return counts, differing


def main() -> int:
    """Run, print both tables, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    files = {
        path.name: path.read_bytes()
        for path in sorted(arguments.corpus.iterdir())
        if path.is_file() and path.name not in NOT_FEEDS
    }
    parsers: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], list[Row]]]] = {
        "feedparser, default": (lambda body: feedparser.parse(io.BytesIO(body)), rows_of_feedparser),
        "parse_feed, reference": (lambda body: parse_feed(body, url="", mode="reference"), rows_of_ours),
        "parse_feed, fast": (lambda body: parse_feed(body, url=""), rows_of_ours),
    }
    best: dict[str, dict[str, float]] = {name: defaultdict(lambda: float("inf")) for name in parsers}
    results: dict[str, dict[str, list[Row]]] = {name: {} for name in parsers}
    for _ in range(arguments.rounds):
        for name, (parse, rows) in parsers.items():
            gc.collect()
            for file, body in files.items():
                started = time.process_time()
                try:
                    parsed = parse(body)
                except NotAFeed as refusal:
                    print(f"{file}: {refusal.cause}: {refusal}", file=sys.stderr)
                    results[name][file] = []
                    continue
                best[name][file] = min(best[name][file], time.process_time() - started)
                if file not in results[name]:
                    results[name][file] = rows(parsed)
    size = sum(map(len, files.values()))
    base = sum(best["feedparser, default"].values())
    print(
        f"{len(files)} files, {size / 1e6:.1f} MB; CPU seconds, best of {arguments.rounds} rounds in turn\n"
    )
    print(f"{'parser':<24}{'CPU s':>8}{'files/s':>10}{'MB/s':>8}{'ratio':>8}{'worst ms':>10}")
    for name, times in best.items():
        total = sum(times.values())
        print(
            f"{name:<24}{total:>8.3f}{len(files) / total:>10.0f}{size / 1e6 / total:>8.1f}"
            f"{base / total:>7.1f}x{max(times.values()) * 1e3:>10.1f}"
        )
    print("\nagreement with feedparser's defaults, % of its entries\n")
    print(f"{'parser':<24}{'entries':>8}" + "".join(f"{field:>9}" for field in (*FIELDS, "all")))
    figures: list[Figure] = []
    for name in list(parsers)[1:]:
        counts, differing = agreement(results["feedparser, default"], results[name])
        shares = {field: 100 * counts[field] / counts["entries"] for field in (*FIELDS, "all")}
        print(f"{name:<24}{counts['entries']:>8}" + "".join(f"{share:>9.2f}" for share in shares.values()))
        if name.endswith("fast"):
            seconds = sum(best[name].values())
            figures.append(
                Figure(
                    f"{len(files)} feeds, fast mode, CPU",
                    base / seconds,
                    "times",
                    f"{seconds:.3f} s",
                    f"feedparser: {base:.2f} s",
                    at_least=30,
                )
            )
            print("\nfiles with another number of entries:", *differing, sep="\n  ")
        figures += [
            Figure(
                f"{name.partition(', ')[2]} mode, entries with the {field} that feedparser finds",
                shares[field],
                "%",
                at_least=target,
            )
            for field, target in TARGETS.items()
        ]
    save(arguments.json, figures)
    reached = all(figure.met for figure in figures)
    print("\nAll targets are reached." if reached else "\nA target is missed.")
    return 0 if reached else 1


if __name__ == "__main__":
    raise SystemExit(main())
