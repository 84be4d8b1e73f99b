"""Every bench in turn, and one table of what they have found.

    .venv/bin/python -m bench.run [--corpus DIR] [--reader PYTHON] [--only NAME …] [--write]

Each runs in a process of its own, its output in a file of the folder that is named at the end. The table says
of each figure what it is compared with and whether its goal is met; a goal that is missed is shown as missed.
With `--write` the same table goes into docs/performance.md, what was measured for one into docs/cost.md and
bench/service_times.json, and what follows at scale into docs/scale.md, so that all say what this run found.

`reader` is the feed reader that ours is compared with. It gets a virtual environment of its own beside the
embedded cloud's; if that cannot be made, and no interpreter is named that has it, it is left out and said so.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from bench import figures, scale
from bench.capacity import WORKLOADS
from bench.figures import Figure
from sourcebook_local.project import HOME, ROOT

DOCUMENT: Final = ROOT / "docs" / "performance.md"
COSTS: Final = ROOT / "docs" / "cost.md"
SCALE: Final = ROOT / "docs" / "scale.md"
SERVICE_TIMES: Final = scale.SERVICE_TIMES
POLLED: Final = (10_000, 10_000 * 96)
"""Feeds, and their polls in a day, one every 15 minutes."""
END = "<!-- end of what make bench has found -->"
READER: Final = ROOT / "requirements" / "bench.txt"
SAMPLES: Final = ROOT / "local" / "sourcebook_local" / "samples" / "feeds"


@dataclass(frozen=True, slots=True)
class Bench:
    """One of the scripts beside this one.

    Attributes:
        name: of its module.
        options: that it is run with here.
        title: what it measures, for the table.
    """

    name: str
    title: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What a bench has found.

    Attributes:
        failure: the end of its output if it failed.
        seconds: that it took.
    """

    bench: Bench
    figures: Sequence[Figure]
    measured: Mapping[str, object]
    seconds: float
    failure: str = ""


def benches(corpus: Path, reader: Path | None, service_times: Path) -> list[Bench]:
    """Return them in the order in which they run: those first whose service times others reckon with."""
    beside = ("--reader", str(reader)) if reader else ()
    # As many feeds as fit the time. docs/performance.md has the figures of 10,000.
    feeds = ("--feeds", "200", "--days", "7", "--processes", "2")
    return [
        Bench("parse_feeds", "Parsing", (str(corpus),)),
        Bench("ingest_feeds", "Ingest", (str(corpus), *beside)),
        Bench("capacity", "Units"),
        Bench("simulate_polling", "Polling", feeds),
        Bench("scale", "Money", ("--measured", str(service_times))),
        Bench("cold_starts", "Cold starts", ("--only", "dispatch_sources", "api", "fetch_sources")),
        Bench("label_headlines", "Sentiment"),
        Bench("match_subjects", "Subjects"),
        Bench("refresh_cache", "Cache"),
        Bench("search", "Search"),
    ]


def run(bench: Bench, folder: Path) -> Result:
    """Run one, its output in `folder`."""
    found, log = folder / f"{bench.name}.json", folder / f"{bench.name}.log"
    command = [sys.executable, "-m", f"bench.{bench.name}", *bench.options, "--json", str(found)]
    begun = time.monotonic()
    with log.open("wb") as output:
        # Some end with 1 when a goal is missed, which the table says; without figures one has failed.
        subprocess.run(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False)
    seconds = time.monotonic() - begun
    if not found.exists():
        lines = log.read_text("utf-8", "replace").splitlines()
        return Result(bench, (), {}, seconds, "\n".join(lines[-15:]) or "no output")
    return Result(bench, *figures.load(found), seconds)


def merged_times(results: Sequence[Result]) -> dict[str, object]:
    """Return the service times on record, with those instead that these benches have measured."""
    times: dict[str, object] = json.loads(SERVICE_TIMES.read_text("utf-8"))
    for result in results:
        times |= result.measured
    return times


def write_times(path: Path, times: Mapping[str, object]) -> None:
    """Write service times, one workload a line."""
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in times.items())
    path.write_text(f"{{\n{lines}\n}}\n", "utf-8")


def reader_interpreter() -> Path | None:
    """Return an interpreter that has `reader`, made if need be; None if that is not possible."""
    home = HOME / "bench-venv"
    python, stamp = home / "bin" / "python", home / "complete"
    wanted = hashlib.sha256(READER.read_bytes() + sys.version.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    install = "-m pip install --quiet --disable-pip-version-check --no-input --require-hashes -r"
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True, capture_output=True)
        subprocess.run(
            [str(python), *install.split(), str(READER)], check=True, timeout=120, capture_output=True
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    stamp.write_text(wanted)
    return python


def machine() -> str:
    """Describe this machine in a few words."""
    names = [line.partition(": ")[2] for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    model = " ".join(dict.fromkeys(names)) or platform.processor() or platform.machine()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores of {model}, {platform.system()}, Python {platform.python_version()}"


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8").splitlines()
    except OSError:
        return []


def rows(results: Sequence[Result]) -> Iterator[tuple[str, ...]]:
    """Yield the table's rows: what, ours, baseline, ratio or units, goal, met or missed."""
    for result in results:
        if result.failure:
            yield f"{result.bench.title}: {result.bench.name} failed", "", "", "", "", "failed"
        for figure in result.figures:
            what = f"{result.bench.title}: {figure.what}"
            yield what, figure.ours, figure.baseline, figure.result, figure.goal, figure.verdict


HEADINGS: Final = ("what", "ours", "baseline", "result", "goal", "")


def markdown(results: Sequence[Result], about: str) -> str:
    """Return the table as it stands in the documentation."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    for row in rows(results):
        shown = [*row[:-1], f"**{row[-1]}**" if row[-1] in {"missed", "failed"} else row[-1]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in shown) + " |")
    return "\n".join([about, "", *lines])


def table_of_costs(times: Mapping[str, object]) -> str:
    """Return what the workloads of bench/capacity.py take, as it stands in docs/cost.md."""
    lines = [
        "| for one | write units | read units | requests | $ per million | CPU ms |",
        "|---|---|---|---|---|---|",
    ]
    for name, workload in WORKLOADS.items():
        measured = times[name]
        assert isinstance(measured, dict)
        lines.append(f"| {workload} | " + " | ".join(f"{value:.2f}" for value in measured.values()) + " |")
    return "\n".join(lines)


def table_of_money(parts: Mapping[str, float], together: str = "together") -> str:
    """Return what something costs by what is paid for, as it stands in docs/cost.md."""
    lines = [f"| {what} | ${dollars:,.2f} |" for what, dollars in parts.items()]
    return "\n".join(["| | |", "|---|---|", *lines, f"| **{together}** | **${sum(parts.values()):,.2f}** |"])


def replaced(document: str, name: str, table: str) -> str:
    """Return a document with this table between its two marks.

    Raises:
        ValueError: if the marks are not there.
    """
    mark = f"<!-- make bench: {name} -->"
    before, found, rest = document.partition(mark)
    old, ended, after = rest.partition(END)
    if not found or not ended or "<!--" in old:
        raise ValueError(f"a document should have the line {mark!r}, and after it {END!r}")
    return f"{before}{mark}\n{table}\n{END}{after}"


def write(results: Sequence[Result], about: str) -> list[Path]:
    """Put what was found into the documentation; return what was written."""
    times = merged_times(results)
    write_times(SERVICE_TIMES, times)
    scale.reckon_with(SERVICE_TIMES)
    DOCUMENT.write_text(replaced(DOCUMENT.read_text("utf-8"), "all", markdown(results, about)), "utf-8")
    costs = COSTS.read_text("utf-8")
    for name, table in (
        ("for one", table_of_costs(times)),
        ("articles", table_of_money(scale.article_parts(1e6))),
        ("polls", table_of_money(scale.polling_parts(*POLLED))),
    ):
        costs = replaced(costs, name, table)
    COSTS.write_text(costs, "utf-8")
    SCALE.write_text(replaced(SCALE.read_text("utf-8"), "scale", f"\n{scale.report()}\n"), "utf-8")
    return [SERVICE_TIMES, DOCUMENT, COSTS, SCALE]


def show(results: Sequence[Result], about: str, console: Console) -> None:
    """Print the table."""
    table = Table(*HEADINGS)
    for row in rows(results):
        style = "red" if row[-1] in {"missed", "failed"} else None
        table.add_row(*row, style=style)
    console.print(table)
    console.print(about, highlight=False)


def main() -> int:
    """Run them, print the table, and return 1 when one of them failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, default=SAMPLES, help="a folder of feed files")
    parser.add_argument("--reader", type=Path, metavar="PYTHON", help="an interpreter that has `reader`")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write needs all of them: leave --only out")
    console = Console(width=max(150, Console().width))
    begun, load_before = time.monotonic(), os.getloadavg()[0]
    folder = Path(tempfile.mkdtemp(prefix="sourcebook-bench-"))
    times = folder / "service_times.json"
    reader = options.reader or reader_interpreter()
    if reader is None:
        console.print("reader cannot be installed: it is left out; --reader names an interpreter that has it")
    wanted = benches(options.corpus, reader, times)
    if unknown := {*options.only} - {bench.name for bench in wanted}:
        parser.error(
            f"{', '.join(sorted(unknown))}: expected names of {', '.join(bench.name for bench in wanted)}"
        )
    results: list[Result] = []
    for bench in [bench for bench in wanted if not options.only or bench.name in options.only]:
        write_times(times, merged_times(results))
        console.print(f"[dim]{time.monotonic() - begun:5.0f}s[/]  {bench.name} …")
        results.append(run(bench, folder))
        if failure := results[-1].failure:
            console.print(f"{bench.name} failed:\n{failure}", style="red", markup=False)
    about = (
        f"Measured on {datetime.now(UTC):%Y-%m-%d} on {machine()}; load {load_before:.1f} at the start and "
        f"{os.getloadavg()[0]:.1f} at the end; {(time.monotonic() - begun) / 60:.1f} minutes in all."
    )
    show(results, about, console)
    if options.write and not any(result.failure for result in results):
        written = write(results, about)
        console.print(f"Written: {', '.join(str(path.relative_to(ROOT)) for path in written)}")
    console.print(f"What each has printed is in {folder}")
    return int(any(result.failure for result in results))


if __name__ == "__main__":
    raise SystemExit(main())
