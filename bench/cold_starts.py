"""What each function costs before its first event, and with it: CPU, and the size of its package.

    .venv/bin/python bench/cold_starts.py [--rounds 3] [--only api fetch_sources] [--why api]

Each handler is imported in a fresh interpreter with the environment that it has in the template and with only
its code and layers before the runtime's boto3, in turn with the baseline: ``import boto3`` and one client of
DynamoDB. Figures are the best of the rounds, in CPU seconds without those of the interpreter itself. They are
taken twice: with bytecode for everything, as on the embedded cloud, and with bytecode for the runtime alone,
as on Lambda, where layers come without and cannot keep it. The budgets are for the former.

What is put off at the start may be owed with the first event. So the functions with a budget also get the
event that they most often get (tests/first_events.py), against one request of the baseline's client.

Sizes are of the assembly for Lambda, unzipped, of which Lambda takes 250 MB.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.figures import Figure, save
from infra.deployment import DeploymentTarget
from sourcebook_local.project import HOME
from tests.first_events import FIRST_EVENT, FirstEvent, first_events
from tests.infra.conftest import synthesize
from tests.starts import Start, starts

BUDGETS: Final = {"dispatch_sources": 1.3, "api": 1.3, "fetch_sources": 1.8}
"""Most CPU of a start, as a multiple of the baseline's."""
BASELINE: Final = "boto3 and one client"
_UNZIPPED_LIMIT = 250e6

_CLIENT = "import boto3; boto3.client('dynamodb')"
_TIMED = """
import time
begun = time.process_time()
{work}
print("CPU", time.process_time() - begun)
"""
_ONE_REQUEST = f"{_CLIENT}.get_item(TableName='sourcebook', Key={{'PK': {{'S': 'a'}}, 'SK': {{'S': 'b'}}}})"
_FIRST_EVENT = f"""
import time
begun = time.process_time()
import handler
{FIRST_EVENT}
answer = handler.handler(json.loads(os.environ["EVENT"]), Context())
print("CPU", time.process_time() - begun)
print("ANSWER", json.dumps(answer))
"""
_IMPORT_TIME = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|( +)(\S+)")


@dataclass(frozen=True)
class Runtime:
    """An interpreter that has boto3 and nothing of ours, and what it keeps bytecode in.

    Attributes:
        kept: bytecode of everything.
        bare: bytecode of the runtime alone.
    """

    interpreter: Path
    kept: Path
    bare: Path

    def cpu(self, start: Start, work: str, *, bytecode: bool) -> float:
        """Return the CPU seconds of some work in a fresh interpreter."""
        environment = {"PYTHONPYCACHEPREFIX": str(self.kept if bytecode else self.bare)}
        if not bytecode:
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        finished = start.run(_TIMED.format(work=work), interpreter=self.interpreter, environment=environment)
        return float(finished.stdout.rsplit("CPU", 1)[1])

    def cpu_with(self, start: Start, event: FirstEvent | None, environment: Mapping[str, str]) -> float:
        """Return the CPU seconds of a start and its first event; without one, of one request to the table."""
        given = {"PYTHONPYCACHEPREFIX": str(self.kept), **environment}
        if event is None:
            program = _TIMED.format(work=_ONE_REQUEST)
        else:
            program = _FIRST_EVENT
            given |= {**event.environment, "EVENT": json.dumps(event.event)}
            event.prepare()
        written = start.run(program, interpreter=self.interpreter, environment=given).stdout
        if event is not None and not event.holds(json.loads(written.rsplit("ANSWER", 1)[1])):
            raise RuntimeError(f"{start.name} did not answer as it should:\n{written}")
        return float(written.rsplit("CPU", 1)[1].split()[0])

    def imports(self, start: Start) -> Iterator[tuple[int, float, str]]:
        """Yield depth, own milliseconds and name of each module that a start loads beyond the baseline's."""
        finished = start.run(
            f"{_CLIENT}; import sys; print('FROM HERE', file=sys.stderr); import handler",
            *("-X", "importtime"),
            interpreter=self.interpreter,
            environment={"PYTHONPYCACHEPREFIX": str(self.kept)},
        )
        for line in finished.stderr.partition("FROM HERE")[2].splitlines():
            if match := _IMPORT_TIME.match(line):
                yield len(match[2]) // 2, int(match[1]) / 1000, match[3]


def measure(
    runtime: Runtime, wanted: Sequence[Start], rounds: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the best CPU seconds of each start and of the baseline, with bytecode and without."""
    nothing = Start(BASELINE, wanted[0].code.parent, (), {})
    work = [(nothing, _CLIENT), *((start, "import handler") for start in wanted)]
    with_bytecode: dict[str, float] = {}
    without: dict[str, float] = {}
    for start, what in work:  # the first time writes the bytecode
        runtime.cpu(start, what, bytecode=True)
    _keep_the_runtimes(runtime, wanted)
    for round_ in range(rounds):
        for start, what in work:
            seconds = runtime.cpu(start, what, bytecode=True)
            with_bytecode[start.name] = min(seconds, with_bytecode.get(start.name, seconds))
            if round_ == 0 or start.name in (BASELINE, *BUDGETS):
                seconds = runtime.cpu(start, what, bytecode=False)
                without[start.name] = min(seconds, without.get(start.name, seconds))
    return with_bytecode, without


def measure_first_events(runtime: Runtime, wanted: Sequence[Start], rounds: int) -> dict[str, float]:
    """Return the best CPU seconds of starts with their first events, and of the baseline with one request."""
    nothing = Start(BASELINE, wanted[0].code.parent, (), {})
    best: dict[str, float] = {}
    with first_events() as events:
        environment = next(iter(events.values())).environment
        work = [(nothing, None), *((start, events[start.name]) for start in wanted if start.name in events)]
        for round_ in range(rounds + 1):
            for start, event in work:
                seconds = runtime.cpu_with(start, event, environment if event is None else {})
                if round_:  # the first time writes the bytecode
                    best[start.name] = min(seconds, best.get(start.name, seconds))
    return best


def _keep_the_runtimes(runtime: Runtime, wanted: Sequence[Start]) -> None:
    """Fill `bare` with the bytecode of `kept` that is neither of a function nor of a layer."""
    assembly = wanted[0].code.parent
    ours = runtime.kept / assembly.relative_to(assembly.anchor)
    shutil.copytree(
        runtime.kept,
        runtime.bare,
        ignore=lambda folder, names: names if Path(folder) == ours else (),
    )


def explain(runtime: Runtime, start: Start, rounds: int) -> None:
    """Print what a start loads beyond the baseline, by package, and the modules that take the most."""
    best: dict[str, float] = {}
    asked_by: dict[str, str] = {}
    for _ in range(rounds):
        listed = list(runtime.imports(start))
        for _, own, name in listed:
            best[name] = min(own, best.get(name, own))
        asked_by |= _asked_by([(depth, name) for depth, _, name in listed])
    packages: defaultdict[str, list[str]] = defaultdict(list)
    for name in best:
        packages[name.partition(".")[0]].append(name)
    print(f"\n{start.name}: {sum(best.values()):.0f} ms of imports beyond the baseline's, best of {rounds}")
    print(f"{'package':<28} {'modules':>8} {'ms':>7}  first asked for by")
    for package, names in sorted(packages.items(), key=lambda one: -sum(best[name] for name in one[1])):
        own = sum(best[name] for name in names)
        if own >= 0.5:
            print(f"{package:<28} {len(names):>8} {own:>7.1f}  {asked_by.get(package, '')}")
    print(f"\n{'module':<50} {'ms':>7}")
    for name, own in sorted(best.items(), key=lambda one: -one[1])[:25]:
        print(f"{name:<50} {own:>7.1f}")


def _asked_by(listed: Sequence[tuple[int, str]]) -> dict[str, str]:
    """Return by package which module of another package imported it first.

    The interpreter lists a module after those that it imports, so the list is read from its end.
    """
    found: dict[str, str] = {}
    above: dict[int, str] = {}
    for depth, name in reversed(listed):
        above[depth] = name
        package = name.partition(".")[0]
        parent = above.get(depth - 1, "")
        if parent and parent.partition(".")[0] != package:
            found[package] = parent
    return found


def size(folder: Path) -> int:
    """Return the bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def report(
    with_bytecode: Mapping[str, float],
    without: Mapping[str, float],
    first: Mapping[str, float],
    packages: Mapping[str, Start],
) -> bool:
    """Print the table; say whether every budget is kept."""
    base, bare = with_bytecode[BASELINE], without[BASELINE]
    print(f"{BASELINE}: {1000 * base:.0f} ms of CPU, with one request {1000 * first[BASELINE]:.0f}")
    print(
        f"{'function':<22} {'CPU ms':>7} {'ratio':>6} {'budget':>7} {'no bytecode':>12} {'ratio':>6}"
        f" {'first event':>12} {'ratio':>6} {'code kB':>8} {'all MB':>7}"
    )
    kept = True
    for name in sorted(with_bytecode.keys() - {BASELINE}, key=lambda name: -with_bytecode[name]):
        ratio = with_bytecode[name] / base
        budget = BUDGETS.get(name)
        kept &= budget is None or ratio <= budget
        with_first = ""
        if name in first:
            with_first = f"{1000 * first[name]:>12.0f} {first[name] / first[BASELINE]:>6.2f}"
        package = packages[name]
        code = size(package.code)
        whole = code + sum(size(layer) for layer in package.layers)
        assert whole < _UNZIPPED_LIMIT, f"{name}: {whole / 1e6:.0f} MB are more than Lambda takes"
        print(
            f"{name:<22} {1000 * with_bytecode[name]:>7.0f} {ratio:>6.2f} {budget or '':>7}"
            f" {1000 * without[name]:>12.0f} {without[name] / bare:>6.2f}"
            f" {with_first:>19} {code / 1e3:>8.1f} {whole / 1e6:>7.1f}"
        )
    return kept


def figures_of(with_bytecode: Mapping[str, float], first: Mapping[str, float]) -> list[Figure]:
    """Return how the functions with a budget stand to it, and what their first event adds."""
    base, request = with_bytecode[BASELINE], first[BASELINE]
    starting = [
        Figure(
            f"start of {name}, CPU of imports",
            with_bytecode[name] / base,
            "times",
            f"{1000 * with_bytecode[name]:.0f} ms",
            f"{BASELINE}: {1000 * base:.0f} ms",
            at_most=budget,
        )
        for name, budget in BUDGETS.items()
        if name in with_bytecode
    ]
    return starting + [
        Figure(
            f"start of {name} with its first event, CPU",
            first[name] / request,
            "times",
            f"{1000 * first[name]:.0f} ms",
            f"{BASELINE}, with one request: {1000 * request:.0f} ms",
        )
        for name in BUDGETS
        if name in first
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], metavar="FUNCTION")
    parser.add_argument("--why", metavar="FUNCTION", help="print what this function's imports cost instead")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--strict", action="store_true", help="fail when a budget is not kept")
    options = parser.parse_args()
    interpreter = HOME / "cloud-venv" / "bin" / "python"
    if not interpreter.exists():
        sys.exit(
            "the embedded cloud's interpreter is not there yet: run bench/capacity.py or `make up` first"
        )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        runtime = Runtime(interpreter, folder / "kept", folder / "bare")
        known = starts(synthesize(folder / "local", DeploymentTarget.LOCAL))
        if unknown := {*options.only, *filter(None, [options.why])} - known.keys():
            sys.exit(
                f"{', '.join(sorted(unknown))}: expected folders of lambdas/: {', '.join(sorted(known))}"
            )
        if options.why:
            explain(runtime, known[options.why], max(2, options.rounds))
            return
        wanted = [start for name, start in known.items() if not options.only or name in options.only]
        figures = measure(runtime, wanted, options.rounds)
        first = measure_first_events(runtime, wanted, rounds=options.rounds)
        save(options.json, figures_of(figures[0], first))
        kept = report(*figures, first, starts(synthesize(folder / "lambda", DeploymentTarget.LAMBDA)))
    if not kept:
        print("not every budget is kept: --why FUNCTION says what is imported")
        sys.exit(1 if options.strict else 0)


if __name__ == "__main__":
    main()
